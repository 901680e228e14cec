//! Messages of `pj_dump` alone.

use paje_console::Voice;
use paje_console::voice::{ALLOW_LONG_LINES, RECOVER};
use paje_parser::error::shown;
use paje_sim::Trace;
use paje_sim::error::Named;

use crate::cli::Cli;

pub(crate) const fn voice(cli: &Cli) -> Voice {
    Voice {
        program: cli.program,
        on_disorder: cli.reading.accepted.on_disorder(),
        on_long_lines: ALLOW_LONG_LINES,
        on_damage: RECOVER,
    }
}

pub(crate) fn container_tree_ignored(voice: Voice) {
    voice.say(format_args!("warning: -c is ignored, since -d prints the hierarchy of types"));
}

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
    let so = "it has only rows of containers";
    voice.empty_window(cli.which.span.window(), trace, so);
}

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

/// Hint if files on the command line are probably separate traces.
pub(crate) const SEVERAL_ARE_ONE: &str = "several files are one trace, such as its pieces; dump several traces one by \
                                          one: for trace in FILE...; do pj_dump \"$trace\"; done";

/// Hint if one of the files on the command line names the others.
pub(crate) const ROOT_ALONE: &str = "give a file that names others alone, such as pj_split's root.trace; or give the pieces \
                                     without it";
