//! Prints messages on standard error. Problems of a trace have the same form as in `pj_dump`.

use std::time::Instant;

use paje_analysis::kept::Facts;
use paje_console::options::Format;
use paje_console::voice::{ALLOW_LONG_LINES, RECOVER};
use paje_console::{Voice, contents};
use paje_sim::TimeScale;
use paje_workers::Workers;

use crate::cli::Cli;

pub(crate) const VOICE: Voice = Voice {
    program: "pj_profile",
    on_disorder: "`--sort` analyses the trace sorted by time",
    on_long_lines: ALLOW_LONG_LINES,
    on_damage: RECOVER,
};

/// Prints a note on times that are not those of the trace, if the output has no title.
pub(crate) fn converted(cli: &Cli, scale: TimeScale) {
    if cli.formatted.format != Format::Text && !scale.is_seconds() && !cli.talk.warnings.no_warnings
    {
        VOICE.say(format_args!("note: {scale}; the report is in seconds"));
    }
}

/// Prints the statistics, if they are requested. `packed` has the size of a packed trace and the
/// number of bytes read.
pub(crate) fn stats(
    cli: &Cli,
    facts: &Facts,
    packed: Option<(u64, u64)>,
    workers: &Workers,
    began: Instant,
) {
    let Some(format) = cli.talk.stats else { return };
    let counts = [
        ("bytes", facts.bytes),
        ("lines", facts.lines),
        ("events", facts.events),
        ("containers", facts.containers),
        ("types", facts.types),
        ("threads", workers.threads() as u64),
    ];
    VOICE.print(&contents::stats(format, &counts, packed, began));
}
