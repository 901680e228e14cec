//! Problems of a trace.

use std::path::{Path, PathBuf};

use paje_sim::error::Problem as Invalid;
use paje_sim::excerpt::lines_below;
use paje_sim::{Error, ErrorKind, Trace};

/// Something wrong or doubtful in a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// `error` or `warning`.
    pub severity: &'static str,
    /// Short name, stable across releases, such as `unknown-type`.
    pub code: &'static str,
    /// Description in one sentence.
    pub message: String,
    /// File with the problem.
    pub file: PathBuf,
    /// First line with the problem, counted from 1, if it is in a line.
    pub line: Option<u64>,
    /// Byte column, counted from 1, if it is known.
    pub column: Option<u64>,
    /// Number of lines with the problem.
    pub count: u64,
    /// Action that recovery took: `skipped`, `kept`, `created` or `cut off`.
    pub remedy: Option<&'static str>,
    /// Line with carets below the offending text.
    pub excerpt: Option<String>,
}

/// Spelling of keywords in a language. Messages name keywords instead of the programs' options.
#[derive(Clone, Copy, Debug)]
pub struct Language {
    /// Keyword that drops incomplete links.
    ignore_links: &'static str,
    /// Keyword for the field names of older traces.
    old_names: &'static str,
}

/// Keywords of Python.
pub const PYTHON: Language =
    Language { ignore_links: "ignore_incomplete_links=True", old_names: "strict=False" };

/// Keywords of R.
pub const R: Language =
    Language { ignore_links: "ignore_incomplete_links = TRUE", old_names: "strict = FALSE" };

/// Returns the message of an error, with keywords instead of the programs' options.
#[must_use]
pub fn message(error: &Error, language: &Language) -> String {
    let ignores = format!("({} ignores", language.ignore_links);
    let sentence = error.to_string().replace("(-z ignores", &ignores);
    match error.kind() {
        ErrorKind::Invalid(Invalid::Line { fault, .. }) if fault.is_old_name() => {
            format!("{sentence}; {} accepts it", language.old_names)
        }
        _ => sentence,
    }
}

impl Problem {
    fn of(error: &Error, name: &Path, language: &Language) -> Self {
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
            count: 1,
            remedy: None,
            excerpt: None,
        }
    }
}

/// Returns the problem of the trace `name`, or `None` if the trace is not at fault.
#[must_use]
pub fn problem_of(error: &Error, name: &Path, language: &Language) -> Option<Problem> {
    if !matches!(error.kind(), ErrorKind::Invalid(_)) {
        return None;
    }
    let below = error.place().map(|place| lines_below(place, error.kind()));
    let below = below.filter(|lines| !lines.is_empty());
    let excerpt = below.map(|lines| lines.trim_start_matches('\n').to_owned());
    Some(Problem { excerpt, ..Problem::of(error, name, language) })
}

/// Returns warnings, one for each kind and event definition, sorted by file and line.
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

/// Returns recovered problems, one for each kind.
#[must_use]
pub fn recovered(trace: &Trace, name: &Path, language: &Language) -> Vec<Problem> {
    let problems = trace.recovered().problems.iter().map(|recovered| Problem {
        count: recovered.count,
        remedy: Some(recovered.remedy.word()),
        ..Problem::of(&recovered.error, name, language)
    });
    problems.collect()
}
