//! Problems of a trace, as users are told of them.

use std::path::{Path, PathBuf};

use paje_sim::error::Problem as Invalid;
use paje_sim::excerpt::lines_below;
use paje_sim::{Error, ErrorKind, Trace};

/// Something wrong or doubtful in a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// `error` or `warning`.
    pub severity: &'static str,
    /// A short name for it, stable from release to release, such as `unknown-type`.
    pub code: &'static str,
    /// Description in one sentence.
    pub message: String,
    /// The file that it is in.
    pub file: PathBuf,
    /// The first line that has it, counted from 1, unless it is in no one line.
    pub line: Option<u64>,
    /// Place in the line, in bytes counted from 1, if that is known.
    pub column: Option<u64>,
    /// The number of lines that have it.
    pub count: u64,
    /// Remedy for it: `skipped`, `kept`, `created` or `cut off`.
    pub remedy: Option<&'static str>,
    /// The line with carets below what is meant.
    pub excerpt: Option<String>,
}

/// Spelling, in a language, of the keywords that messages name in the place of the programs' options.
#[derive(Clone, Copy, Debug)]
pub struct Language {
    /// Keyword that drops incomplete links.
    ignore_links: &'static str,
    /// Keyword for the field names of older traces.
    old_names: &'static str,
}

/// As Python writes them.
pub const PYTHON: Language =
    Language { ignore_links: "ignore_incomplete_links=True", old_names: "strict=False" };

/// As R writes them.
pub const R: Language =
    Language { ignore_links: "ignore_incomplete_links = TRUE", old_names: "strict = FALSE" };

/// The sentence of an error, with keywords in the place of the programs' options.
#[must_use]
pub fn message(error: &Error, language: &Language) -> String {
    let drops = format!("({} drops", language.ignore_links);
    let sentence = error.to_string().replace("(-z drops", &drops);
    match error.kind() {
        ErrorKind::Invalid(Invalid::Line { fault, .. }) if fault.is_old_name() => {
            format!("{sentence}; {} understands it", language.old_names)
        }
        _ => sentence,
    }
}

/// Problem of a trace that is called `name`; nothing if it is not the trace that is wrong.
#[must_use]
pub fn problem_of(error: &Error, name: &Path, language: &Language) -> Option<Problem> {
    let ErrorKind::Invalid(problem) = error.kind() else { return None };
    let below = error.place().map(|place| lines_below(place, error.kind()));
    let below = below.filter(|lines| !lines.is_empty());
    Some(Problem {
        severity: "error",
        code: problem.code(),
        message: message(error, language),
        file: error.file().unwrap_or(name).to_owned(),
        line: error.position().map(|position| position.line),
        column: error.position().map(|position| position.column),
        count: 1,
        remedy: None,
        excerpt: below.map(|lines| lines.trim_start_matches('\n').to_owned()),
    })
}

/// Warnings about a trace, once for each kind and event definition, in the order of files and lines.
#[must_use]
pub fn warnings(trace: &Trace, name: &Path) -> Vec<Problem> {
    let mut all: Vec<_> = trace.warnings().iter().collect();
    all.sort_by_key(|warning| (warning.file_number, warning.first_line));
    let problems = all.into_iter().map(|warning| Problem {
        severity: "warning",
        code: warning.kind.code(),
        message: warning.kind.sentence(warning.event.as_ref()),
        file: warning.file.as_deref().unwrap_or(name).to_owned(),
        line: Some(warning.first_line),
        column: None,
        count: warning.count,
        remedy: None,
        excerpt: None,
    });
    problems.collect()
}

/// Problems that were left out or mended, once for each kind.
#[must_use]
pub fn recovered(trace: &Trace, name: &Path, language: &Language) -> Vec<Problem> {
    let problems = trace.recovered().problems.iter().map(|recovered| {
        let error = &recovered.error;
        Problem {
            severity: "error",
            code: match error.kind() {
                ErrorKind::Invalid(problem) => problem.code(),
                _ => "unreadable-file",
            },
            message: message(error, language),
            file: error.file().unwrap_or(name).to_owned(),
            line: error.position().map(|position| position.line),
            column: error.position().map(|position| position.column),
            count: recovered.count,
            remedy: Some(recovered.remedy.word()),
            excerpt: None,
        }
    });
    problems.collect()
}
