//! Options: what is checked, by which rules, and how much is told.

use paje_parser::FieldNames;
use splitter::Limits;

/// Which rules decide whether a trace is sound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// Those of the format.
    #[default]
    Format,
    /// Those of a replay (`pj_dump`): lines may lack user-defined fields, and a link type need not
    /// belong to a common ancestor of the types at its ends. The former is then a warning.
    Replay,
}

/// Options of the check, and of how much is told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Field names that are understood: those of older traces, too, or not (`-n`).
    pub field_names: FieldNames,
    /// Which rules decide.
    pub rules: Rules,
    /// Whether links that lack an end are passed over (`-z`).
    pub ignore_incomplete_links: bool,
    /// Largest number of errors, and of warnings, that are kept; further ones are only counted. 0: no limit.
    pub max_findings: usize,
    /// The longest line that is read, in bytes; at most [`Options::LONGEST_LINE`].
    pub longest_line: usize,
    /// Whether warnings are kept; else they are only counted.
    pub warnings: bool,
    /// The codes of the only findings that are kept; others are only counted. If there are none, all are
    /// kept. See [`kinds`](crate::finding::kinds).
    pub only: Vec<String>,
}

impl Options {
    /// One gibibyte.
    pub const LONGEST_LINE: usize = Limits::LONGEST_LINE;
    /// Largest number of errors, and of warnings, that are kept by default.
    pub const MAX_FINDINGS: usize = 100;
}

impl Default for Options {
    fn default() -> Self {
        Options {
            field_names: FieldNames::Strict,
            rules: Rules::Format,
            ignore_incomplete_links: false,
            max_findings: Options::MAX_FINDINGS,
            longest_line: Limits::default().line,
            warnings: true,
            only: Vec::new(),
        }
    }
}
