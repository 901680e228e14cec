//! Problems of a trace that was replayed nevertheless.

use std::path::Path;

use paje_parser::Position;

use crate::names::error::Error;

/// The remedy for lines that have a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Remedy {
    /// They are left out.
    Skipped,
    /// They are taken for what they come closest to.
    Kept,
    /// Things that they name and nothing defined were made up, once for each name.
    Created,
    /// The trace, or one of its files, ends there.
    Ended,
}

impl Remedy {
    /// One word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Remedy::Skipped => "skipped",
            Remedy::Kept => "kept",
            Remedy::Created => "created",
            Remedy::Ended => "cut off",
        }
    }
}

/// A kind of problem: the first in file order, and how many there are.
#[derive(Debug)]
pub struct Recovered {
    /// The first.
    pub error: Error,
    /// The remedy for all of them.
    pub remedy: Remedy,
    /// Number of lines, of things made up, or of links.
    pub count: u64,
}

impl Recovered {
    /// The problem with its place elsewhere in its file.
    pub fn move_to(&mut self, to: impl FnOnce(Option<&Path>, Position) -> Position) {
        let error = std::mem::replace(&mut self.error, Error::stopped());
        self.error = error.moved(to);
    }
}

/// A state that was open where a trace was cut off, and ends there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // They are names, as rows show them without quotes.
pub struct OpenState {
    pub container: Vec<u8>,
    pub type_: Vec<u8>,
    pub value: Vec<u8>,
}

/// Problems of a trace.
#[derive(Debug, Default)]
pub struct Recovery {
    /// In the order of the first of each kind.
    pub problems: Vec<Recovered>,
    /// The first states that were open where the trace was cut off: containers in the order of their
    /// creation, types in that of their first events, and what was opened first comes first.
    pub open_states: Vec<OpenState>,
    /// Number of open states; 0 if the trace was not cut off.
    pub open_count: u64,
}

impl Recovery {
    /// Number of open states that are listed at most.
    pub const LISTED: usize = 10;
}
