//! What the program says on standard error. Problems of the trace are told as `pj_dump` tells them.

use std::io;
use std::path::{Path, PathBuf};

use paje_dump::voice::{Voice, describe};
use paje_sim::error::Problem;
use paje_sim::excerpt::lines_below;
use paje_sim::{Error, ErrorKind};

pub(crate) const VOICE: Voice = Voice("pj_split");

/// Why the program fails.
#[derive(Debug)]
pub enum Failure {
    /// The trace is invalid, or cannot be read.
    Trace(PathBuf, Error),
    /// A file cannot be read or written.
    File(PathBuf, io::Error),
    /// The threads cannot run as asked for.
    Workers(workers::Error),
    /// The trace cannot be split so.
    Unsuitable(PathBuf, String),
}

pub(crate) const INVALID: u8 = 1;
const TROUBLE: u8 = 2;

impl Failure {
    /// The exit status: 1 for an invalid trace, 2 for usage or input/output.
    #[must_use]
    pub fn status(&self) -> u8 {
        match self {
            Failure::Trace(_, error) if matches!(error.kind(), ErrorKind::Invalid(_)) => INVALID,
            _ => TROUBLE,
        }
    }
}

/// Why the program fails; for an invalid trace, with the line.
pub(crate) fn failure(failure: &Failure) {
    let (name, error) = match failure {
        Failure::Trace(name, error) => match error.kind() {
            ErrorKind::Io(io) => (name, io),
            _ => return invalid(name, error),
        },
        Failure::File(name, error) => (name, error),
        Failure::Workers(error) => return VOICE.say(format_args!("{error}")),
        Failure::Unsuitable(name, why) => {
            return VOICE.say(format_args!("{}: {why}", name.display()));
        }
    };
    VOICE.say(format_args!("{}: {}", name.display(), describe(error)));
}

fn invalid(name: &Path, error: &Error) {
    let name = name.display();
    let Some(place) = error.place() else {
        return VOICE.say(format_args!("{name}: {error}"));
    };
    let excerpt = lines_below(place, error.kind());
    VOICE.say(format_args!("{name}:{}: {error}{excerpt}", place.position));
    if matches!(error.kind(), ErrorKind::Invalid(Problem::NotTimeOrdered { .. })) {
        VOICE.say(format_args!(
            "hint: `pj_dump --sort` replays a trace sorted by time, as `sort -s` would"
        ));
    }
}
