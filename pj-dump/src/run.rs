//! The program: replays a trace and prints the requested output.

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use paje_console::options::PART;
use paje_console::output::{refuse_inputs, standard_output};
use paje_console::progress::Display;
use paje_console::reading::{self, PackedBytes};
use paje_console::voice::all_met;
use paje_console::{Failure, aside, failure};
use paje_sim::{
    ErrorKind, Options, Portion, Precision, Problem, Progress, Selected, Selection, Trace,
};
use paje_workers::Workers;
use splitter::Limits;

use crate::cli::Cli;
use crate::command_line;
use crate::output::export::{Exported, Written, write_selected};
use crate::output::header::Header;
use crate::output::intervals;
use crate::output::stream::{PORTION, RowStream};
#[cfg(feature = "tables")]
use crate::output::tables;
use crate::output::{Quotes, Style, containers, hierarchy, prefix, types};
use crate::report;
use crate::signals;
use crate::stats::Stats;

/// Runs the program. The exit status is 0, 1 for an invalid trace, or 2 for usage or input/output
/// errors.
#[must_use]
pub fn main(cli: &Cli) -> ExitCode {
    if cli.usage {
        return failure::exit(
            report::voice(cli),
            print_usage(cli).map(|()| true).map_err(Failure::Output),
        );
    }
    // Exceeding the file size limit should be a write error instead of ending the program.
    signals::ignore_large_files();
    let voice = report::voice(cli);
    let outcome = dump(cli);
    let hint = outcome.as_ref().err().and_then(|failure| hint(cli, failure));
    let status = failure::exit(voice, outcome);
    if let Some(hint) = hint {
        voice.say(format_args!("hint: {hint}"));
    }
    status
}

fn hint(cli: &Cli, failure: &Failure) -> Option<&'static str> {
    let Failure::Trace(_, error) = failure else { return None };
    let is_cycle = matches!(error.kind(), ErrorKind::Invalid(Problem::FileCycle { .. }));
    if is_cycle && cli.files.len() > 1 {
        return Some(report::ROOT_ALONE);
    }
    contradict(cli, failure).then_some(report::SEVERAL_ARE_ONE)
}

fn contradict(cli: &Cli, failure: &Failure) -> bool {
    let Failure::Trace(_, error) = failure else { return false };
    let further = cli.files.get(1..).unwrap_or_default();
    let is_later = error.file().is_some_and(|file| further.iter().any(|it| it == file));
    is_later
        && matches!(
            error.kind(),
            ErrorKind::Invalid(
                Problem::TypeExists { .. }
                    | Problem::ContainerExists { .. }
                    | Problem::ValueExists { .. }
                    | Problem::NotTimeOrdered { .. }
                    | Problem::KeyReused { .. }
                    | Problem::KeyRepeated { .. }
            )
        )
}

const NO_TABLES: &str = "this pj_dump was built without tables (-O); releases have them, and so has what \
                         `cargo install --locked --path pj-dump --features tables` builds";

fn dump(cli: &Cli) -> Result<bool, Failure> {
    let began = Instant::now();
    let voice = report::voice(cli);
    if cli.tables.is_some() && !cfg!(feature = "tables") {
        return Err(Failure::Other(NO_TABLES.into()));
    }
    if cli.is_header_alone() && io::stdin().is_terminal() {
        voice.say(format_args!("hint: -h prints header lines first; use -? for help"));
    }
    let outputs = [&cli.type_hierarchy, &cli.entity_hierarchy];
    refuse_inputs(&cli.files, outputs.into_iter().flatten().map(PathBuf::as_path))?;
    if let Some(prefix) = &cli.prefix {
        let outputs: Vec<PathBuf> = prefix::paths(prefix).collect();
        refuse_inputs(&cli.files, outputs.iter().map(PathBuf::as_path))?;
    }
    let mut options = options(cli);
    let mut opened = reading::open(&cli.files, Some(&cli.reading), voice)?;
    if shows_rows_alone(cli) {
        opened = opened.within_window(&options);
    }
    let (name, packed) = (opened.name().to_owned(), PackedBytes::of(&opened.input));
    let text = opened.text_bytes(PART);
    options.memory = cli.memory.limit_for(text);
    let workers = cli.parallel.with_caller(text)?;
    cli.talk.begin(voice, &opened.input, &workers);
    let display = Display::new(!cli.talk.no_progress, began);
    let progress = Arc::new(Progress::default());
    let written = Written::default();
    let out = standard_output().map_err(Failure::Output)?;
    let shown = display.replay(&opened.input, &progress, streams(cli).then_some(&out));
    let selection = cli.which.selection();
    let style = style(cli);
    let mut stream = RowStream::new(style, cli.header, &selection, &workers, out, &written);
    let trace = reading::read(opened, &workers, |source| {
        if streams(cli) {
            let mut show = |portion: &Portion<'_>| match cli.quiet {
                true => ControlFlow::Continue(()),
                false => stream.show(portion),
            };
            Trace::read_in_portions(source, &options, &workers, &progress, PORTION, &mut show)
        } else {
            Trace::read_with(source, &options, &workers, &progress)
        }
    });
    drop(shown);
    let streamed = stream.finish().map_err(Failure::Output)?;
    let trace = trace?;
    all_met(&name, &trace, &selection)?;
    let selected = trace.select(&selection);
    let warns = !cli.talk.warnings.no_warnings;
    if warns {
        voice.warnings(&name, &trace);
        report::nothing_to_show(voice, cli, &trace);
        if cli.dot && cli.container {
            report::container_tree_ignored(voice);
        }
    }
    let seconds = began.elapsed().as_secs_f64();

    if let Some(path) = &cli.type_hierarchy {
        write_file(path, &hierarchy::types(&trace, cli.quotes))?;
    }
    if let Some(path) = &cli.entity_hierarchy {
        write_file(path, &hierarchy::entities(&trace, cli.quotes))?;
    }
    let mut exported = match (&cli.tables, &cli.prefix) {
        #[cfg(feature = "tables")]
        (Some(folder), _) => tables::write(cli, folder, &name, &trace, display, &workers)?,
        (_, Some(prefix)) => prefix::write(prefix, &trace, &selected, style, &workers)?,
        (_, None) => {
            let printed = print(cli, &trace, &selected, seconds, display, &workers);
            printed.map_err(Failure::Output)?
        }
    };
    if warns {
        report::dropped(voice, exported.dropped);
    }
    exported.add(&streamed);
    if let Some(format) = cli.talk.stats {
        Stats::new(&workers, &cli.parallel.pin, &trace, &exported, packed, began.elapsed())
            .say(voice, format);
    }
    voice.recovered(&name, &trace, "dumped", cli.reading.accepted.late_events());
    let is_sound = trace.recovered().problems.is_empty();
    // The process ends now. The system frees its memory faster than dropping each lane would.
    std::mem::forget(trace);
    Ok(is_sound)
}

/// Returns whether objects are dropped while the trace is read. Requested rows are written before.
fn streams(cli: &Cli) -> bool {
    cli.out_of_core && !(cli.dot || cli.container || cli.probabilistic.is_some())
}

/// Returns whether the output depends only on the rows of the window. This does not hold for `-o`,
/// since the order of rows in portions depends on later lines, and for tables, which list values in
/// the order of their first use.
fn shows_rows_alone(cli: &Cli) -> bool {
    let trees = cli.dot || cli.container || cli.type_hierarchy.is_some();
    let more = cli.entity_hierarchy.is_some() || cli.probabilistic.is_some();
    !(trees || more || cli.out_of_core || cli.header || cli.tables.is_some())
}

fn print_usage(cli: &Cli) -> io::Result<()> {
    writeln!(standard_output()?, "{}", command_line::of(cli.program).render_usage())
}

fn options(cli: &Cli) -> Options {
    let mut options = cli.reading.options(Limits::default());
    cli.less.set(&mut options);
    let usual = if cli.tables.is_some() { Precision::Double } else { Precision::Single };
    options.variable_precision = cli.variables.precision(usual);
    options.value_names = cli.quotes.value_names();
    options.user_defined = cli.user_defined;
    options.keep_lines = cli.lines;
    options.keep_times = cli.probabilistic.is_some();
    if checks_only(cli) {
        options.selection = Selection::default().of_natures([]);
    } else if cli.probabilistic.is_none() {
        options.selection = cli.which.selection();
    }
    options
}

/// Returns whether no output depends on rows, so that none needs to be kept.
fn checks_only(cli: &Cli) -> bool {
    let uses_rows = cli.prefix.is_some() || cli.talk.stats.is_some() || cli.which.span.is_asked();
    cli.quiet && !uses_rows && shows_rows_alone(cli)
}

/// Prints the requested output in the order of PajeNG 1.3.6: first the intervals, then a tree or,
/// without a tree, the rows unless `-q` is given.
fn print(
    cli: &Cli,
    trace: &Trace,
    selected: &Selected,
    seconds: f64,
    display: Display,
    workers: &Workers,
) -> io::Result<Exported> {
    let mut out = standard_output()?;
    if cli.time {
        writeln!(out, "{seconds:.6}")?;
    }
    let style = style(cli);
    if let Some(type_name) = &cli.probabilistic {
        intervals::write(trace, type_name.as_bytes(), style, &mut out)?;
    }
    if cli.dot {
        out.write_all(&types::dot(trace, cli.quotes))?;
        return Ok(Exported::default());
    }
    if cli.container {
        containers::write_tree(trace, cli.quotes, &mut out)?;
        return Ok(Exported::default());
    }
    if cli.quiet || cli.probabilistic.is_some() || cli.out_of_core {
        return Ok(Exported::default());
    }
    if cli.header {
        let steps = trace.walk(cli.quotes.order()).filter(|step| selected.wants_step(*step));
        let mut header = Header::new(style, &cli.which.selection());
        out.write_all(&header.lines(trace, steps))?;
    }
    let written = Written::default();
    let shown = display.rows(&out, &written.counter());
    let exported = write_selected(trace, selected, style, workers, out, &written)?;
    drop(shown);
    Ok(exported)
}

fn style(cli: &Cli) -> Style {
    let window = cli.which.span.window();
    Style {
        quotes: cli.quotes,
        precision: usize::from(cli.float_precision),
        as_released: cli.quotes == Quotes::Strip && !cli.which.span.is_asked() && !cli.out_of_core,
        from: window.from,
        to: window.to,
    }
}

fn write_file(path: &Path, text: &[u8]) -> Result<(), Failure> {
    aside::write_whole(path, text).map_err(|error| Failure::File(path.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn keeps_rows(arguments: &[&str]) -> bool {
        let cli = Cli::try_parse_from([&["pj_dump"], arguments].concat());
        options(&cli.expect("a command line")).selection.is_everything()
    }

    #[test]
    fn rows_that_nothing_uses_are_not_kept() {
        assert!(!keeps_rows(&["-q", "t"]));
        assert!(!keeps_rows(&["-q", "-z", "-t", "t"]));
        for option in ["--stats", "-o", "-c", "-d", "-pState", "-Otables", "--prefix=p", "-s1"] {
            assert!(keeps_rows(&["-q", option, "t"]), "{option}");
        }
        assert!(keeps_rows(&["--entity-hierarchy=e", "-q", "t"]));
        assert!(keeps_rows(&["t"]));
    }
}
