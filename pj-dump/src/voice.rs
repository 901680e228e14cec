//! What the programs say on standard error in the same words.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use paje_parser::error::shown;
use paje_sim::Trace;
use splitter::Input;
use workers::{Pin, Workers};

/// Speaks for the program of this name.
#[derive(Clone, Copy, Debug)]
pub struct Voice(pub &'static str);

impl Voice {
    /// Writes one message. With standard error gone there is no one left to tell.
    pub fn say(self, message: fmt::Arguments<'_>) {
        let _ = writeln!(io::stderr().lock(), "{}: {message}", self.0);
    }

    /// What the trace is read from.
    pub fn input(self, input: &Input) {
        let mut what = String::new();
        if let Some(compression) = input.compression() {
            what = format!("{compression}, ");
        }
        let name = input.name().display();
        match input.size() {
            Some(size) => self.say(format_args!("{name}: {what}regular file, {size} bytes")),
            None => self.say(format_args!("{name}: {what}stream, size unknown")),
        }
    }

    /// How many workers there are, and where.
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

    /// What was doubtful, once for each kind and definition, in file order.
    pub fn warnings(self, name: &Path, trace: &Trace) {
        let mut all: Vec<_> = trace.warnings().iter().collect();
        all.sort_by_key(|warning| (warning.file_number, warning.first_line));
        for warning in all {
            let lines = if warning.count == 1 { "line" } else { "lines" };
            self.say(format_args!(
                "{}:{}: warning: {} ({} {lines} of event {})",
                warning.file.as_deref().unwrap_or(name).display(),
                warning.first_line,
                warning.kind.sentence(),
                warning.count,
                shown(&warning.event),
            ));
        }
    }
}

/// The system's words for an error, without its number.
#[must_use]
pub fn describe(error: &io::Error) -> String {
    let mut text = error.to_string();
    if let Some(at) = text.find(" (os error") {
        text.truncate(at);
    }
    text
}
