//! Reason why a program fails, and the exit status that goes with it.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use paje_sim::{Error, ErrorKind};

use crate::Voice;

/// The exit status of an invalid trace.
pub const INVALID: u8 = 1;

/// The exit status of wrong usage, and of input or output that fails.
pub const TROUBLE: u8 = 2;

/// Reason why a program fails. [`Voice::failure`] says it.
#[derive(Debug)]
pub enum Failure {
    /// The trace of this name is invalid, or cannot be read.
    Trace(PathBuf, Error),
    /// A file cannot be read or written.
    File(PathBuf, io::Error),
    /// Standard output cannot be written.
    Output(io::Error),
    /// The threads cannot run as asked for.
    Workers(paje_workers::Error),
    /// A request that cannot be met with this trace; in a sentence that follows its name.
    Unsuitable(PathBuf, String),
    /// Anything else, in a sentence.
    Other(String),
}

impl From<(PathBuf, io::Error)> for Failure {
    fn from((path, error): (PathBuf, io::Error)) -> Self {
        Failure::File(path, error)
    }
}

impl Failure {
    /// The exit status.
    #[must_use]
    pub fn status(&self) -> u8 {
        match self {
            Failure::Trace(_, error) if matches!(error.kind(), ErrorKind::Invalid(_)) => INVALID,
            _ => TROUBLE,
        }
    }

    /// Returns whether the reader of the output has closed it, which is no failure of the program.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Returns the exit status: 0 for a sound trace, 1 for an invalid one, else that of the failure, whose message it prints.
#[must_use]
pub fn exit(voice: Voice, outcome: Result<bool, Failure>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(INVALID),
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            voice.failure(&failure);
            ExitCode::from(failure.status())
        }
    }
}
