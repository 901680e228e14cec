//! Options of Python, in the words of the libraries.

use std::path::{Path, PathBuf};

use paje_bindings::{Keywords, Wrong};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use splitter::Folders;

use crate::errors;
use crate::keywords::Arguments;

/// The keywords of `pajereplay.read`.
pub(crate) struct Asked {
    threads: Option<usize>,
    pin: Option<String>,
    strict: bool,
    ignore_incomplete_links: bool,
    no_imbrication: bool,
    user_defined: bool,
    lines: bool,
    pub(crate) durations: bool,
    sort: bool,
    recover: bool,
    stop_at: Option<f64>,
    start: Option<f64>,
    end: Option<f64>,
    natures: Option<Patterns>,
    types: Option<Patterns>,
    containers: Option<Patterns>,
    memory_limit: Option<Size>,
    temp_dir: Option<PathBuf>,
    variable_precision: String,
    quotes: String,
    follow_files: bool,
    files_from: Option<Paths>,
}

/// One path, or some.
#[derive(FromPyObject)]
pub(crate) enum Paths {
    One(PathBuf),
    Some(Vec<PathBuf>),
}

impl From<Paths> for Vec<PathBuf> {
    fn from(paths: Paths) -> Self {
        match paths {
            Paths::One(one) => vec![one],
            Paths::Some(some) => some,
        }
    }
}

/// Types that `files_from` may have.
pub(crate) const PATHS: &str = "a path, a list of paths, or None";

/// Folders below which the files may lie that these traces name: their own, and further ones.
///
/// # Errors
/// One of the further ones cannot be found.
pub(crate) fn folders<'p>(
    py: Python<'_>,
    further: &[PathBuf],
    traces: impl IntoIterator<Item = &'p Path>,
) -> PyResult<Folders> {
    let folders = Folders::of(traces).and_all(further);
    folders.map_err(|(folder, error)| errors::of_file(py, &folder, &error))
}

impl Asked {
    /// Keywords of a call.
    ///
    /// # Errors
    /// An argument is of a type that it cannot be of.
    pub(crate) fn new(asked: &Bound<'_, PyDict>) -> PyResult<Self> {
        let asked = Arguments(asked);
        let flag = |name| asked.get::<bool>(name, FLAG);
        let time = |name| asked.get::<Option<f64>>(name, "a number of seconds, or None");
        let patterns =
            |name| asked.get::<Option<Patterns>>(name, "a text, a list of texts, or None");
        let text = |name| asked.get::<String>(name, "a text");
        Ok(Asked {
            threads: asked.get("threads", "a whole number from 1, or None")?,
            pin: asked.get("pin", "a text such as 'compact', or None")?,
            strict: flag("strict")?,
            ignore_incomplete_links: flag("ignore_incomplete_links")?,
            no_imbrication: flag("no_imbrication")?,
            user_defined: flag("user_defined")?,
            lines: flag("lines")?,
            durations: flag("durations")?,
            sort: flag("sort")?,
            recover: flag("recover")?,
            stop_at: time("stop_at")?,
            start: time("start")?,
            end: time("end")?,
            natures: patterns("natures")?,
            types: patterns("types")?,
            containers: patterns("containers")?,
            memory_limit: asked.get("memory_limit", SIZE)?,
            temp_dir: asked.get("temp_dir", "a path, or None")?,
            variable_precision: text("variable_precision")?,
            quotes: text("quotes")?,
            follow_files: flag("follow_files")?,
            files_from: asked.get("files_from", PATHS)?,
        })
    }
}

impl From<Asked> for Keywords {
    fn from(asked: Asked) -> Self {
        Keywords {
            threads: asked.threads,
            pin: asked.pin,
            strict: asked.strict,
            ignore_incomplete_links: asked.ignore_incomplete_links,
            no_imbrication: asked.no_imbrication,
            user_defined: asked.user_defined,
            lines: asked.lines,
            sort: asked.sort,
            recover: asked.recover,
            stop_at: asked.stop_at,
            start: asked.start,
            end: asked.end,
            natures: asked.natures.map(Vec::from),
            types: asked.types.map(Vec::from),
            containers: asked.containers.map(Vec::from),
            memory_limit: asked.memory_limit.map(Into::into),
            temp_dir: asked.temp_dir,
            variable_precision: asked.variable_precision,
            quotes: asked.quotes,
            follow_files: asked.follow_files,
            files_from: asked.files_from.map(Vec::from).unwrap_or_default(),
        }
    }
}

/// Values of keywords that say yes or no.
pub(crate) const FLAG: &str = "True or False";

/// Values of keywords that are sizes.
pub(crate) const SIZE: &str = "a number of bytes, a text such as '4G', or None";

/// A number of bytes, as a number or as users write it.
#[derive(Clone, FromPyObject)]
pub(crate) enum Size {
    Bytes(u64),
    Text(String),
}

impl From<Size> for paje_bindings::Size {
    fn from(size: Size) -> Self {
        match size {
            Size::Bytes(bytes) => paje_bindings::Size::Bytes(bytes),
            Size::Text(text) => paje_bindings::Size::Text(text),
        }
    }
}

/// One pattern, or some.
#[derive(FromPyObject)]
enum Patterns {
    One(String),
    Some(Vec<String>),
}

impl From<Patterns> for Vec<String> {
    fn from(patterns: Patterns) -> Self {
        match patterns {
            Patterns::One(one) => vec![one],
            Patterns::Some(some) => some,
        }
    }
}

/// A keyword has a value that it cannot have.
pub(crate) fn wrong(error: Wrong) -> PyErr {
    PyValueError::new_err(error.0)
}
