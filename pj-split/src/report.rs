//! Messages on standard error. Problems of the trace have the same form as in `pj_dump`.

use paje_console::Voice;
use paje_console::voice::RECOVER;

pub(crate) const VOICE: Voice = Voice {
    program: "pj_split",
    on_disorder: "`--sort` splits the trace sorted by time, as `sort -s` would",
    on_long_lines: None,
    on_damage: RECOVER,
};
