//! Messages of the program on standard error beside those of all programs.

use paje_console::Voice;
use paje_console::voice::{ALLOW_LONG_LINES, RECOVER};
use paje_parser::error::shown;
use paje_sim::Trace;
use paje_sim::error::Named;

use crate::cli::Cli;

/// The voice of the program that was called.
pub(crate) const fn voice(cli: &Cli) -> Voice {
    Voice {
        program: cli.program,
        on_disorder: cli.reading.accepted.on_disorder(),
        on_long_lines: ALLOW_LONG_LINES,
        on_damage: RECOVER,
    }
}

/// Tells that of both hierarchies one is printed.
pub(crate) fn passed_over(voice: Voice) {
    voice.say(format_args!(
        "warning: -d prints the hierarchy of types; -c, of containers, is passed over"
    ));
}

/// Tells of what was asked for and cannot be there: no row, no interval shows it.
pub(crate) fn nothing_to_show(voice: Voice, cli: &Cli, trace: &Trace) {
    if let Some(name) = &cli.probabilistic {
        let (name, types) = (name.as_bytes(), trace.types());
        if !types.ids().any(|id| types.name(id).text == name) {
            let called = types.find(name).map(|id| {
                let named =
                    Named::new(types.name(id).text, types.alias(id).map(|alias| alias.text));
                format!(", but {named}: -p takes names")
            });
            let (name, called) = (shown(name), called.unwrap_or_default());
            voice.say(format_args!(
                "warning: -p {name}: the trace has no type of this name{called}"
            ));
        }
    }
    let so = "no rows but those of containers are in it";
    voice.empty_window(cli.which.span.window(), trace, so);
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

/// Hint if files on the command line were meant to be traces of their own.
pub(crate) const SEVERAL_ARE_ONE: &str = "several files are one trace, such as the pieces of one; of several traces, dump each by \
                                          itself: for trace in FILE...; do pj_dump \"$trace\"; done";

/// Hint if one of the files on the command line names the others.
pub(crate) const ROOT_ALONE: &str = "a file that names others is given alone, as the root.trace that pj_split writes; or the pieces \
                                     without it";
