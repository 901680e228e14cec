//! What the program says on standard error.

use std::io;
use std::path::{Path, PathBuf};

use paje_parser::error::shown;
use paje_sim::error::Problem;
use paje_sim::excerpt::lines_below;
use paje_sim::{Error, ErrorKind, Glob, Selected};

use crate::voice::{Voice, describe, is_disorder, sentence};

pub(crate) const VOICE: Voice = Voice("pj_dump");

/// Why the program fails.
pub(crate) enum Failure {
    /// The trace is invalid, or cannot be read.
    Trace(PathBuf, Error),
    /// A file cannot be read or written.
    File(PathBuf, io::Error),
    /// A table cannot be told in its format.
    Table(paje_export::Error),
    /// Standard output cannot be written.
    Output(io::Error),
    /// The threads cannot run as asked for.
    Workers(workers::Error),
}

pub(crate) const INVALID: u8 = 1;
const TROUBLE: u8 = 2;

impl From<(PathBuf, io::Error)> for Failure {
    fn from((path, error): (PathBuf, io::Error)) -> Self {
        Failure::File(path, error)
    }
}

impl Failure {
    /// The exit status.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Failure::Trace(_, error) if matches!(error.kind(), ErrorKind::Invalid(_)) => INVALID,
            _ => TROUBLE,
        }
    }
}

/// The patterns that select nothing: they may be misspelt.
pub(crate) fn unmet(selected: &Selected) {
    let say = |option: &str, glob: &Glob, what: &str| {
        let glob = shown(glob.as_str().as_bytes());
        VOICE.say(format_args!("warning: {option} {glob}: the trace has no such {what}"));
    };
    selected.unmet_types().for_each(|glob| say("--of-type", glob, "type"));
    selected.unmet_containers().for_each(|glob| say("--in", glob, "container"));
}

/// Why the program fails; for an invalid trace, with the line.
pub(crate) fn failure(failure: &Failure) {
    let (name, error) = match failure {
        Failure::Trace(name, error) => match error.kind() {
            ErrorKind::Io(io) => (name.display().to_string(), io),
            _ => return invalid(name, error),
        },
        Failure::File(name, error) => (name.display().to_string(), error),
        Failure::Output(error) => ("standard output".to_string(), error),
        Failure::Table(error) => return VOICE.say(format_args!("{error}")),
        Failure::Workers(error) => return VOICE.say(format_args!("{error}")),
    };
    VOICE.say(format_args!("{name}: {}", describe(error)));
}

fn invalid(name: &Path, error: &Error) {
    let name = error.file().unwrap_or(name).display();
    let message = sentence(error);
    let Some(place) = error.place() else {
        if let ErrorKind::File { path, error } = error.kind() {
            return VOICE.say(format_args!("{}: {}", path.display(), describe(error)));
        }
        return VOICE.say(format_args!("{name}: {message}"));
    };
    let excerpt = lines_below(place, error.kind());
    VOICE.say(format_args!("{name}:{}: {message}{excerpt}", place.position));
    if is_disorder(error) {
        VOICE.say(format_args!(
            "hint: `--sort` replays the trace sorted by time, as `sort -s` would"
        ));
    }
    if matches!(error.kind(), ErrorKind::Invalid(Problem::LineTooLong { .. })) {
        VOICE.say(format_args!("hint: `--max-line` allows longer lines, if this is a trace"));
    }
}
