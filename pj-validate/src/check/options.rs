//! Options of the checker.

use paje_parser::FieldNames;
use splitter::Limits;

/// Rules that make a trace valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// Rules of the format.
    #[default]
    Format,
    /// Rules of a replay (`pj_dump`): lines may lack user-defined fields, which is a warning, and a
    /// link type need not belong to a common ancestor of the types at its ends.
    Replay,
}

/// Options of the checker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whether field names of older traces are accepted (`-n`).
    pub field_names: FieldNames,
    /// Rules to apply.
    pub rules: Rules,
    /// Whether links without an end are ignored (`-z`).
    pub ignore_incomplete_links: bool,
    /// Maximum number of listed errors, and of listed warnings. Others are only counted. 0 means no
    /// limit.
    pub max_findings: usize,
    /// Maximum length of a line in bytes. It is at most [`Options::LONGEST_LINE`].
    pub longest_line: usize,
    /// Whether warnings are listed. If false, they are only counted.
    pub warnings: bool,
    /// Codes of the findings to list. Other findings are only counted. If it is empty, all are
    /// listed. See [`kinds`](crate::finding::kinds).
    pub only: Vec<String>,
    /// Codes of warnings that do not count as [`Report::doubts`](crate::Report::doubts).
    pub allowed: Vec<String>,
}

impl Options {
    /// One gibibyte.
    pub const LONGEST_LINE: usize = Limits::LONGEST_LINE;
    /// Default limit of listed errors and warnings.
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
            allowed: Vec::new(),
        }
    }
}
