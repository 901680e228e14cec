//! What the program says on standard error beside what all programs say.

use console::Voice;
use console::voice::ALLOW_LONG_LINES;
use paje_parser::error::shown;
use paje_sim::{Glob, Selected};

pub(crate) const VOICE: Voice = Voice {
    program: "pj_dump",
    on_disorder: "`--sort` replays the trace sorted by time, as `sort -s` would",
    on_long_lines: ALLOW_LONG_LINES,
};

/// The patterns that select nothing: they may be misspelt.
pub(crate) fn unmet(selected: &Selected) {
    let say = |option: &str, glob: &Glob, what: &str| {
        let glob = shown(glob.as_str().as_bytes());
        VOICE.say(format_args!("warning: {option} {glob}: the trace has no such {what}"));
    };
    selected.unmet_types().for_each(|glob| say("--of-type", glob, "type"));
    selected.unmet_containers().for_each(|glob| say("--in", glob, "container"));
}

/// Tells of rows that were left out because PajeNG's releases leave them out.
pub(crate) fn dropped(rows: u64) {
    if rows > 0 {
        let (noun, start, are) =
            if rows == 1 { ("row", "starts", "is") } else { ("rows", "start", "are") };
        VOICE.say(format_args!(
            "warning: {rows} {noun} that {start} at the very end of the trace {are} left out, as \
             PajeNG's releases do; --quotes auto prints them"
        ));
    }
}

/// What to do if files on the command line were meant to be traces of their own.
pub(crate) fn several_are_one() {
    VOICE.say(format_args!(
        "hint: several files are one trace, such as the pieces of one; of several traces, dump each by \
         itself: for trace in FILE...; do pj_dump \"$trace\"; done"
    ));
}
