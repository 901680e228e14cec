//! What the program says on standard error. Problems of the trace are told as `pj_dump` tells them.

use console::Voice;
use console::voice::RECOVER;

pub(crate) const VOICE: Voice = Voice {
    program: "pj_split",
    on_disorder: "`--recover` leaves out events that come too late",
    on_long_lines: None,
    on_damage: RECOVER,
};
