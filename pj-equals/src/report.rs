//! What the program says on standard error. Problems of a trace are told as `pj_dump` tells them.

use std::io;
use std::path::{Path, PathBuf};

use paje_dump::voice::{Voice, describe};
use paje_sim::error::Problem;
use paje_sim::excerpt::lines_below;
use paje_sim::{Error, ErrorKind};

pub(crate) const VOICE: Voice = Voice("pj_equals");

/// The exit status where it cannot be told whether the traces are equal: 0 and 1 are answers.
pub(crate) const TROUBLE: u8 = 2;

/// Why the program fails.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A trace is invalid, or cannot be read.
    Trace(PathBuf, Error),
    /// A file cannot be read.
    File(PathBuf, io::Error),
    /// Standard output cannot be written.
    Output(io::Error),
    /// The threads cannot run as asked for.
    Workers(workers::Error),
    /// Both traces are standard input.
    TwoInputs,
}

/// Why the program fails; for an invalid trace, with the line.
pub(crate) fn failure(failure: &Failure) {
    let (name, error) = match failure {
        Failure::Trace(name, error) => match error.kind() {
            ErrorKind::Io(io) => (name.as_path(), io),
            ErrorKind::File { path, error: io } if error.place().is_none() => (&**path, io),
            _ => return invalid(name, error),
        },
        Failure::File(name, error) => (name.as_path(), error),
        Failure::Output(error) => (Path::new("standard output"), error),
        Failure::Workers(error) => return VOICE.say(format_args!("{error}")),
        Failure::TwoInputs => {
            return VOICE.say(format_args!("only one of the traces can be standard input"));
        }
    };
    VOICE.say(format_args!("{}: {}", name.display(), describe(error)));
}

fn invalid(name: &Path, error: &Error) {
    let name = error.file().unwrap_or(name).display();
    let Some(place) = error.place() else {
        return VOICE.say(format_args!("{name}: {error}"));
    };
    let excerpt = lines_below(place, error.kind());
    VOICE.say(format_args!("{name}:{}: {error}{excerpt}", place.position));
    match error.kind() {
        ErrorKind::Invalid(Problem::NotTimeOrdered { .. }) => {
            VOICE.say(format_args!("hint: `--sort` compares traces sorted by time"));
        }
        ErrorKind::Invalid(Problem::LineTooLong { .. }) => {
            VOICE.say(format_args!("hint: `--max-line` allows longer lines, if this is a trace"));
        }
        _ => {}
    }
}
