//! Prints messages on standard error in the same way for all programs.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use paje_parser::FaultKind;
use paje_parser::error::{Escaped, shown, shown_path};
use paje_sim::error::Problem;
use paje_sim::excerpt::lines_below;
use paje_sim::recovered::OpenState;
use paje_sim::{Error, ErrorKind, Recovered, Remedy, Selection, TimeRange, Trace};
use paje_workers::{Pin, Workers};
use splitter::{Input, Refusal, cause};

use crate::Failure;
use crate::fill::fill;
use crate::output::columns;

/// A program's name and its hints, with which it prints messages.
#[derive(Clone, Copy, Debug)]
pub struct Voice {
    /// Name of the program. Each message begins with it.
    pub program: &'static str,
    /// Hint about events that come too late.
    pub on_disorder: &'static str,
    /// Hint about lines that are too long, if the program has an option for them.
    pub on_long_lines: Option<&'static str>,
    /// Hint about damaged traces, if the program can recover.
    pub on_damage: Option<&'static str>,
}

/// Hint about events that come too late although `--sort` was given.
pub const SORTED_BY_FILE: &str = "`--sort` sorts each file by itself; events of a container and type must be in time \
                                  order from file to file";

/// Hint about `--max-line`.
pub const ALLOW_LONG_LINES: Option<&str> =
    Some("`--max-line` allows longer lines, if this is a trace");

/// Hint about `--recover`.
pub const RECOVER: Option<&str> =
    Some("`--recover` skips or repairs what is wrong, and reports it");

/// The usual consequence to pass to [`Voice::empty_window`].
pub const NOTHING_IN_IT: &str = "it is empty";

/// Escapes what a terminal might interpret. Files with hypotheses or classes may contain it, and messages quote them.
fn safe(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(|line| Escaped(line.as_bytes()).to_string()).collect();
    lines.join("\n")
}

impl Voice {
    /// Prints one message. Failures of standard error are ignored.
    pub fn say(self, message: fmt::Arguments<'_>) {
        let mut text = safe(&format!("{}: {message}\n", self.program));
        let out = io::stderr();
        if out.is_terminal() {
            text = fill(&text, columns(&out).unwrap_or(80));
        }
        let _ = out.lock().write_all(text.as_bytes());
    }

    /// Prints all warnings about a trace and about the selected window: [`warnings`](Self::warnings)
    /// and [`empty_window`](Self::empty_window). The message about an empty window ends with `so`,
    /// the consequence.
    pub fn doubts(self, name: &Path, trace: &Trace, selection: &Selection, so: &str) {
        self.warnings(name, trace);
        self.empty_window(selection.window, trace, so);
    }

    /// Warns if nothing of the trace is in the window. The message ends with `so`, the consequence.
    pub fn empty_window(self, window: TimeRange, trace: &Trace, so: &str) {
        if let Some(why) = nothing_in(window, trace) {
            self.say(format_args!("warning: {why}; {so}"));
        }
    }

    /// Prints lines without the program's name, such as a table.
    pub fn print(self, lines: &str) {
        let _ = io::stderr().lock().write_all(lines.as_bytes());
    }

    /// Prints the kind and size of the input.
    pub fn input(self, input: &Input) {
        let mut what = String::new();
        if let Some(compression) = input.compression() {
            what = format!("{compression}, ");
        }
        let name = shown_path(input.name());
        match input.size() {
            Some(size) => self.say(format_args!("{name}: {what}regular file, {size} bytes")),
            None => self.say(format_args!("{name}: {what}stream, size unknown")),
        }
    }

    /// Prints the number of threads, and their CPUs.
    pub fn workers(self, workers: &Workers) {
        let (threads, them) = match workers.threads() {
            1 => ("1 thread".to_owned(), "it"),
            threads => (format!("{threads} threads"), "them"),
        };
        match workers.cpus() {
            Some([cpu]) => self.say(format_args!("{threads}, on CPU {cpu}")),
            Some(cpus) => self.say(format_args!("{threads}, on CPUs {}", Pin::List(cpus.to_vec()))),
            None => self.say(format_args!("{threads}, where the system puts {them}")),
        }
        for note in workers.notes() {
            self.say(format_args!("{note}"));
        }
    }

    /// Prints the warnings of a trace, one for each kind and definition, in the order of the file.
    pub fn warnings(self, name: &Path, trace: &Trace) {
        let mut all: Vec<_> = trace.warnings().iter().collect();
        all.sort_by_key(|warning| (warning.file_number, warning.first_line));
        for warning in all {
            let (file, line) = (warning.file.as_deref().unwrap_or(name), warning.first_line);
            let lines = if warning.count == 1 { "line" } else { "lines" };
            let sentence = warning.kind.sentence(warning.event.as_ref());
            let count = match &warning.event {
                Some(_) => format!(" ({} {lines})", warning.count),
                None => String::new(),
            };
            self.say(format_args!("{}:{line}: warning: {sentence}{count}", shown_path(file)));
        }
    }

    /// Prints a hint about `--files-from` if `error` is about a file to which the trace may not
    /// refer.
    pub fn refused(self, error: &Error) {
        if let Some(folder) = refused_folder(error) {
            let folder = shown_path(folder);
            self.say(format_args!(
                "hint: `--files-from {folder}` allows a trace to name files there"
            ));
        }
    }

    /// Reports the problems of a recovered trace, with a line for each kind of problem and a line
    /// for the total. `done` describes what happened to the rest of the trace. `hint` is printed if
    /// events came too late.
    pub fn recovered(self, name: &Path, trace: &Trace, done: &str, hint: &str) {
        let recovery = trace.recovered();
        let (mut all, mut unsorted) = (0, false);
        for Recovered { error, remedy, count, .. } in &recovery.problems {
            all += count;
            unsorted |= is_disorder(error) && *remedy == Remedy::Skipped;
            let file = shown_path(error.file().unwrap_or(name));
            let place = error.position().map_or(String::new(), |position| format!(":{position}"));
            // This message counts several links.
            let counted = match error.kind() {
                ErrorKind::Invalid(Problem::OpenLinks { count, .. }) => *count,
                _ => 1,
            };
            let more = match count.saturating_sub(counted) {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            let (word, message) = (remedy.word(), sentence(error));
            self.say(format_args!("{file}{place}: {word}: {message}{more}"));
        }
        if recovery.open_count > 0 {
            let mut states = String::new();
            for OpenState { container, type_, value, .. } in &recovery.open_states {
                let (container, type_, value) = (shown(container), shown(type_), shown(value));
                states.push_str(&format!(" {container} {type_} {value},"));
            }
            states.pop();
            let more =
                if recovery.open_states.len() as u64 == recovery.open_count { "" } else { ", …" };
            let (count, end) = (recovery.open_count, trace.end());
            let are = if count == 1 { "state was" } else { "states were" };
            self.say(format_args!(
                "{}: {count} {are} open where the trace was cut off, and ended at {end}:{states}{more}",
                shown_path(name),
            ));
        }
        if all > 0 {
            let kinds = recovery.problems.len();
            let (problems, of) = (if all == 1 { "problem" } else { "problems" }, kinds);
            let kinds = if of == 1 { "kind" } else { "kinds" };
            self.say(format_args!(
                "{}: {all} {problems} of {of} {kinds}; the rest was {done}",
                shown_path(name)
            ));
        }
        if unsorted {
            self.say(format_args!("hint: {hint}"));
        }
        let mut all = recovery.problems.iter().map(|problem| &problem.error);
        if let Some(error) = all.find(|error| refused_folder(error).is_some()) {
            self.refused(error);
        }
    }

    /// Prints the reason why the program fails. For an invalid trace, also prints the faulty line.
    pub fn failure(self, failure: &Failure) {
        let (name, error) = match failure {
            Failure::Trace(name, error) => match error.kind() {
                ErrorKind::Io(io) => (name.as_path(), io),
                _ => return self.invalid(name, error),
            },
            Failure::File(name, error) => (name.as_path(), error),
            Failure::Output(error) => (Path::new("standard output"), error),
            Failure::Workers(error) => return self.say(format_args!("{error}")),
            Failure::Unsuitable(name, why) => {
                return self.say(format_args!("{}: {why}", shown_path(name)));
            }
            Failure::Other(why) => return self.say(format_args!("{why}")),
        };
        let name = shown_path(name);
        match missing_folder(failure) {
            Some(folder) => {
                let folder = shown_path(folder);
                self.say(format_args!("{name}: the folder {folder} does not exist"));
            }
            None => self.say(format_args!("{name}: {}", cause(error))),
        }
    }

    fn invalid(self, name: &Path, error: &Error) {
        let name = shown_path(error.file().unwrap_or(name));
        let message = sentence(error);
        let Some(place) = error.place() else {
            if let ErrorKind::File { path, error } = error.kind() {
                return self.say(format_args!("{}: {}", shown_path(path), cause(error)));
            }
            return self.say(format_args!("{name}: {message}"));
        };
        let excerpt = lines_below(place, error.kind());
        self.say(format_args!("{name}:{}: {message}{excerpt}", place.position));
        let hint = match error.kind() {
            ErrorKind::Invalid(Problem::NotTimeOrdered { .. }) => Some(self.on_disorder),
            ErrorKind::Invalid(Problem::LineTooLong { .. }) => self.on_long_lines,
            ErrorKind::Invalid(Problem::Line { fault, .. }) if fault.is_old_name() => {
                Some("`-n` reads the field names of older traces")
            }
            ErrorKind::Invalid(problem) if is_damage(problem) => self.on_damage,
            _ => None,
        };
        if let Some(hint) = hint {
            self.say(format_args!("hint: {hint}"));
        }
        self.refused(error);
    }
}

/// Returns why the window contains nothing of the trace, or `None` if it may contain something.
#[must_use]
pub fn nothing_in(window: TimeRange, trace: &Trace) -> Option<String> {
    let (TimeRange { from, to }, end) = (window, trace.end());
    let unit = trace.time_scale().unit().symbol();
    if from > to {
        return Some(format!("the window from {from} {unit} to {to} {unit} ends before it begins"));
    }
    let why = "begins after the end of the trace";
    (from > end).then(|| format!("the window from {from} {unit} {why}, {end} {unit}"))
}

/// Fails if a pattern of `--of-type` or `--in` matches nothing in the trace of this name.
pub fn all_met(name: &Path, trace: &Trace, selection: &Selection) -> Result<(), Failure> {
    let selected = trace.select(selection);
    let Some((what, glob, hint)) = selected.unmet(trace).next() else { return Ok(()) };
    let option = if what == "type" { "--of-type" } else { "--in" };
    let glob = shown(glob.as_str().as_bytes());
    let why = format!("{option} {glob}: the trace has no such {what}; {hint}");
    Err(Failure::Unsuitable(name.to_owned(), why))
}

/// Returns whether a problem suggests damage, so that recovery is useful. Wrong event definitions
/// rather suggest that the file is not a trace.
fn is_damage(problem: &Problem) -> bool {
    match problem {
        Problem::Line { fault, .. } => matches!(
            fault,
            FaultKind::MissingField(_)
                | FaultKind::BadTime
                | FaultKind::BadNumber
                | FaultKind::BadColor
        ),
        Problem::EmptyTrace | Problem::LineTooLong { .. } | Problem::FileCycle { .. } => false,
        // The file may consist of two concatenated traces.
        Problem::TypeExists { .. } | Problem::ContainerExists { .. } => false,
        Problem::ValueExists { .. } | Problem::NotATrace => false,
        // The message already names another option.
        Problem::OpenLinks { .. } => false,
        _ => true,
    }
}

/// Returns whether the error is about a line that comes too late for its lane.
#[must_use]
pub fn is_disorder(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Invalid(Problem::NotTimeOrdered { .. }))
}

/// If the error is about a file to which the trace may not refer, returns the folder of that file.
#[must_use]
pub fn refused_folder(error: &Error) -> Option<&Path> {
    match error.kind() {
        ErrorKind::File { error, .. } => Refusal::of(error)?.folder(),
        _ => None,
    }
}

/// Returns the folder that a file cannot be in because it does not exist.
fn missing_folder(failure: &Failure) -> Option<&Path> {
    let Failure::File(name, error) = failure else { return None };
    let folder = name.parent().filter(|folder| *folder != Path::new(""))?;
    (error.kind() == io::ErrorKind::NotFound && !folder.exists()).then_some(folder)
}

/// Returns the message of an error without its position.
#[must_use]
pub fn sentence(error: &Error) -> String {
    match error.kind() {
        ErrorKind::File { path, error } => {
            let path = shown(path.as_os_str().as_encoded_bytes());
            format!("cannot read {path}: {}", cause(error))
        }
        ErrorKind::Io(error) => cause(error),
        _ => error.to_string(),
    }
}
