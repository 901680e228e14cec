//! Reasons for failure and their exit statuses.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use paje_sim::{Error, ErrorKind};

use crate::Voice;

/// Exit status for an invalid trace.
pub const INVALID: u8 = 1;

/// Exit status for wrong usage, and for errors of input or output.
pub const TROUBLE: u8 = 2;

/// Reason why a program fails. [`Voice::failure`] prints it.
#[derive(Debug)]
pub enum Failure {
    /// The trace with this name is invalid or cannot be read.
    Trace(PathBuf, Error),
    /// A file cannot be read or written.
    File(PathBuf, io::Error),
    /// Standard output cannot be written.
    Output(io::Error),
    /// The threads cannot be started as requested.
    Workers(paje_workers::Error),
    /// The request is not possible with this trace. The text is printed after the trace's name.
    Unsuitable(PathBuf, String),
    /// Any other failure, given as a sentence.
    Other(String),
}

impl From<(PathBuf, io::Error)> for Failure {
    fn from((path, error): (PathBuf, io::Error)) -> Self {
        Failure::File(path, error)
    }
}

impl Failure {
    /// Returns the exit status.
    #[must_use]
    pub fn status(&self) -> u8 {
        match self {
            Failure::Trace(_, error) if matches!(error.kind(), ErrorKind::Invalid(_)) => INVALID,
            Failure::File(_, error) if splitter::is_damaged_archive(error) => INVALID,
            _ => TROUBLE,
        }
    }

    /// Returns whether the reader of standard output has closed the pipe. This is not a failure of
    /// the program.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Returns exit status 0 for a valid trace and 1 for an invalid one. After a failure, prints its
/// message and returns its exit status.
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
