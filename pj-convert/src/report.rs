//! Messages of the program on standard error.

use std::path::Path;

use paje_console::Voice;
use paje_console::voice::{ALLOW_LONG_LINES, RECOVER};
use paje_parser::error::shown_path;

use crate::cli::Cli;
use crate::clock::Losses;
use crate::convert::Format;

/// Returns the program's messages for these options.
pub(crate) const fn voice(cli: &Cli) -> Voice {
    Voice {
        program: "pj_convert",
        on_disorder: cli.reading.accepted.on_disorder(),
        on_long_lines: ALLOW_LONG_LINES,
        on_damage: RECOVER,
    }
}

/// Warns of losses.
pub(crate) fn losses(voice: Voice, name: &Path, format: Format, losses: &Losses) {
    let name = shown_path(name);
    let say = |count: u64, one: &str, many: &str, what: &str| {
        if count > 0 {
            let noun = if count == 1 { one } else { many };
            voice.say(format_args!("{name}: warning: {count} {noun} {what}"));
        }
    };
    say(losses.rounded, "time", "times", "rounded to a nanosecond");
    say(
        losses.shared,
        "time",
        "times",
        "in the same nanosecond as another one before, on the same track",
    );
    let range = match format {
        Format::Perfetto => "before 0 or more than 146 years later, where the format has no times",
        _ => "more than 146 years from 0, where the format has no times",
    };
    say(losses.out_of_range, "time", "times", range);
    say(
        losses.cut,
        "state",
        "states",
        "cut short where the next one of the same imbrication begins before the end",
    );
    say(losses.not_numbers, "value", "values", "left out: infinite, or no number");
}
