//! Problems of a trace that was replayed in spite of them.

use std::path::Path;

use paje_parser::Position;

use crate::names::error::Error;

/// Remedy for lines with a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Remedy {
    /// The lines are left out.
    Skipped,
    /// The lines are read like the most similar valid lines.
    Kept,
    /// Undefined objects that the lines name were made up, once for each name.
    Created,
    /// The trace, or one of its files, ends at the problem.
    Ended,
}

impl Remedy {
    /// Returns one word for the remedy.
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

/// A kind of problem: the first problem in file order, the remedy, and the number of cases.
#[derive(Debug)]
pub struct Recovered {
    /// The first problem.
    pub error: Error,
    /// Remedy for all problems of this kind.
    pub remedy: Remedy,
    /// Number of lines, of objects made up, or of links.
    pub count: u64,
}

impl Recovered {
    #[doc(hidden)]
    pub fn move_to(&mut self, to: impl FnOnce(Option<&Path>, Position) -> Position) {
        let error = std::mem::replace(&mut self.error, Error::stopped());
        self.error = error.moved(to);
    }
}

/// A state that was open where the trace was cut off, and that ends at the cut.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are names as rows show them, without quotes.
pub struct OpenState {
    pub container: Vec<u8>,
    pub type_: Vec<u8>,
    pub value: Vec<u8>,
}

/// Problems from which a replay has recovered.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Kinds of problems, ordered by the first problem of each kind.
    pub problems: Vec<Recovered>,
    /// The first states that were open where the trace was cut off. They are ordered by the
    /// creation of their containers, then by the first events of their types, then by time.
    pub open_states: Vec<OpenState>,
    /// Number of open states, or 0 if the trace was not cut off.
    pub open_count: u64,
}

impl Recovery {
    /// Largest number of open states that are listed.
    pub const LISTED: usize = 10;
}
