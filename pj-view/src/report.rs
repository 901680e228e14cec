//! Prints messages on standard error, in the same form as `pj_dump` does.

use paje_console::Voice;
use paje_console::voice::{ALLOW_LONG_LINES, RECOVER};

pub(crate) const VOICE: Voice = Voice {
    program: "pj_view",
    on_disorder: "`--sort` shows the trace sorted by time",
    on_long_lines: ALLOW_LONG_LINES,
    on_damage: RECOVER,
};
