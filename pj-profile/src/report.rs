//! Prints messages on standard error. Problems of a trace are reported in the same way as by
//! `pj_dump`.

use paje_console::Voice;
use paje_console::voice::{ALLOW_LONG_LINES, RECOVER};

pub(crate) const VOICE: Voice = Voice {
    program: "pj_profile",
    on_disorder: "`--sort` analyses the trace sorted by time",
    on_long_lines: ALLOW_LONG_LINES,
    on_damage: RECOVER,
};
