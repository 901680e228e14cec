//! What the program says on standard error beside what all programs say.

use console::Voice;
use console::voice::ALLOW_LONG_LINES;
use paje_parser::error::shown;
use paje_sim::{Glob, Selected};

use crate::cli::Cli;

/// The voice of the program that was called.
pub(crate) const fn voice(cli: &Cli) -> Voice {
    Voice {
        program: cli.program,
        on_disorder: "`--sort` replays the trace sorted by time, as `sort -s` would",
        on_long_lines: ALLOW_LONG_LINES,
    }
}

/// Tells of the patterns that select nothing: they may be misspelt.
pub(crate) fn unmet(voice: Voice, selected: &Selected) {
    let say = |option: &str, glob: &Glob, what: &str| {
        let glob = shown(glob.as_str().as_bytes());
        voice.say(format_args!("warning: {option} {glob}: the trace has no such {what}"));
    };
    selected.unmet_types().for_each(|glob| say("--of-type", glob, "type"));
    selected.unmet_containers().for_each(|glob| say("--in", glob, "container"));
}

/// Tells that of both hierarchies one is printed.
pub(crate) fn passed_over(voice: Voice) {
    voice.say(format_args!(
        "warning: -d prints the hierarchy of types; -c, of containers, is passed over"
    ));
}

/// Tells of rows that were left out because PajeNG's releases leave them out.
pub(crate) fn dropped(voice: Voice, rows: u64) {
    if rows > 0 {
        let (noun, start, are) =
            if rows == 1 { ("row", "starts", "is") } else { ("rows", "start", "are") };
        voice.say(format_args!(
            "warning: {rows} {noun} that {start} at the very end of the trace {are} left out, as \
             PajeNG's releases do; --quotes auto prints them"
        ));
    }
}

/// What to do if files on the command line were meant to be traces of their own.
pub(crate) fn several_are_one(voice: Voice) {
    voice.say(format_args!(
        "hint: several files are one trace, such as the pieces of one; of several traces, dump each by \
         itself: for trace in FILE...; do pj_dump \"$trace\"; done"
    ));
}
