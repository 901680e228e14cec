//! Messages of the program on standard error. Problems of the trace are told as `pj_dump` tells them.

use paje_console::Voice;
use paje_console::voice::RECOVER;

pub(crate) const VOICE: Voice = Voice {
    program: "pj_split",
    on_disorder: "`--sort` splits the trace sorted by time, as `sort -s` would",
    on_long_lines: None,
    on_damage: RECOVER,
};
