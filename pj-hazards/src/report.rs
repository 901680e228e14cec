//! Prints messages on standard error. Problems of a trace have the same form as in `pj_dump`.

use paje_console::Voice;
use paje_console::voice::{ALLOW_LONG_LINES, RECOVER};

pub(crate) const VOICE: Voice = Voice {
    program: "pj_hazards",
    on_disorder: "`--sort` analyses the trace sorted by time",
    on_long_lines: ALLOW_LONG_LINES,
    on_damage: RECOVER,
};
