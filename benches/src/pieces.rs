//! Costs of cutting a trace into pieces and of their replay, as `--bin pieces` measures and draws them.
//!
//! The same trace, from one file and from the pieces that `pj_split` makes of it:
//!
//! | | beside it |
//! |---|---|
//! | `cp` of the trace, contents copied | what any program must do at least that writes it anew |
//! | `pj_split` into so many pieces | `cp`, and `pj_dump -q` of the single file |
//! | `pj_dump -q` of `root.trace` | `pj_dump -q` of the single file |
//! | `pj_dump` of `root.trace`, rows to `/dev/null` | `pj_dump` of the single file |
//!
//! Times are wall clock of whole processes. What stands beside it always has the same number of
//! threads in the same places. Within a repetition all of them take turns ([`study`]), and ratios are of
//! medians. Beside them is the processor time, of all threads, in the program and in the kernel: on a
//! machine that others use too, it moves less.
//!
//! A trace has no more pieces than containers with events of their own: figures are told by the
//! number that there are.

pub mod plots;
pub mod record;
pub mod study;
pub mod table;
