//! Messages of the program on standard error.

use std::path::Path;

use paje_console::Voice;
use paje_console::voice::{ALLOW_LONG_LINES, RECOVER};
use paje_parser::error::shown_path;
use paje_sim::TimeScale;

use crate::cli::Cli;
use crate::clock::Losses;
use crate::convert::Format;

pub(crate) const fn voice(cli: &Cli) -> Voice {
    Voice {
        program: "pj_convert",
        on_disorder: cli.reading.accepted.on_disorder(),
        on_long_lines: ALLOW_LONG_LINES,
        on_damage: RECOVER,
    }
}

/// Prints a note on times that are not in seconds.
pub(crate) fn unit(voice: Voice, format: Format, scale: TimeScale) {
    // An archive's clock counts seconds.
    if !matches!(format, Format::Paje | Format::Otf2) && !scale.is_seconds() {
        voice.say(format_args!("note: {scale}"));
    }
}

pub(crate) fn losses(voice: Voice, name: &Path, format: Format, losses: &Losses) {
    let name = shown_path(name);
    let warn = |count: u64, one: &str, many: &str, what: &str| {
        if count > 0 {
            let noun = if count == 1 { one } else { many };
            voice.say(format_args!("{name}: warning: {count} {noun} {what}"));
        }
    };
    let [rounded, shared] = match format {
        Format::Otf2 => ["rounded to a tick", "moved to the time of an earlier event"],
        _ => [
            "rounded to a nanosecond",
            "moved into the nanosecond of an earlier time on the same track",
        ],
    };
    warn(losses.rounded, "time", "times", rounded);
    warn(losses.shared, "time", "times", shared);
    let range = match format {
        Format::Perfetto => "out of the format's range (0 to 146 years), moved to its limit",
        _ => "out of the format's range (146 years), moved to its limit",
    };
    warn(losses.out_of_range, "time", "times", range);
    warn(losses.cut, "state", "states", "cut short by the next one of the same imbrication");
    warn(losses.not_numbers, "value", "values", "omitted: infinite or not a number");
}

/// Prints a note on the parts of a trace that an archive lacks.
pub(crate) fn lacks(voice: Voice, name: &Path, lacks: &[(u64, &str)]) {
    if !lacks.is_empty() {
        let all: Vec<String> =
            lacks.iter().map(|(count, what)| format!("{count} {what}")).collect();
        let (name, all) = (shown_path(name), all.join(", "));
        voice.say(format_args!("{name}: note: not in the archive: {all}"));
    }
}
