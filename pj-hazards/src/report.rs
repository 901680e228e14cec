//! Messages of the program on standard error. Problems of a trace are told as `pj_dump` tells them.

use paje_console::Voice;
use paje_console::voice::{ALLOW_LONG_LINES, RECOVER};

pub(crate) const VOICE: Voice = Voice {
    program: "pj_hazards",
    on_disorder: "`--sort` looks at the trace sorted by time",
    on_long_lines: ALLOW_LONG_LINES,
    on_damage: RECOVER,
};
