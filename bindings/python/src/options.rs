//! Converts Python's keywords to options.

use std::path::{Path, PathBuf};

use paje_bindings::{Keywords, Wrong};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use splitter::Folders;

use crate::errors;
use crate::keywords::Arguments;

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

pub(crate) const PATHS: &str = "a path, a list of paths, or None";

/// Returns the folders below which a trace may name files: the trace's folder and those that the
/// user added.
///
/// # Errors
/// A folder that the user added does not exist.
pub(crate) fn folders<'p>(
    py: Python<'_>,
    further: &[PathBuf],
    traces: impl IntoIterator<Item = &'p Path>,
) -> PyResult<Folders> {
    let folders = Folders::of(traces).and_all(further);
    folders.map_err(|(folder, error)| errors::of_file(py, &folder, &error))
}

/// Returns the keywords of `pajereplay.read` that R's package also has.
///
/// # Errors
/// An argument has a wrong type.
pub(crate) fn keywords(asked: &Arguments<'_, '_>) -> PyResult<Keywords> {
    let flag = |name| asked.get::<bool>(name, FLAG);
    let time = |name| asked.get::<Option<f64>>(name, "a number of seconds, or None");
    let patterns = |name| -> PyResult<Option<Vec<String>>> {
        let given = asked.get::<Option<Patterns>>(name, "a string, a list of strings, or None")?;
        Ok(given.map(Vec::from))
    };
    let text = |name| asked.get::<String>(name, "a text");
    Ok(Keywords {
        threads: asked.get("threads", "a whole number from 1, or None")?,
        pin: asked.get("pin", "a string such as 'compact', or None")?,
        strict: flag("strict")?,
        ignore_incomplete_links: flag("ignore_incomplete_links")?,
        no_imbrication: flag("no_imbrication")?,
        user_defined: flag("user_defined")?,
        lines: flag("lines")?,
        sort: flag("sort")?,
        recover: flag("recover")?,
        stop_at: time("stop_at")?,
        time_unit: asked.get("time_unit", "a string such as 'ms', or None")?,
        start: time("start")?,
        end: time("end")?,
        natures: patterns("natures")?,
        types: patterns("types")?,
        containers: patterns("containers")?,
        memory_limit: asked.get::<Option<Size>>("memory_limit", SIZE)?.map(Into::into),
        temp_dir: asked.get("temp_dir", "a path, or None")?,
        variable_precision: text("variable_precision")?,
        quotes: text("quotes")?,
        follow_files: flag("follow_files")?,
        files_from: asked
            .get::<Option<Paths>>("files_from", PATHS)?
            .map_or_else(Vec::new, Vec::from),
    })
}

pub(crate) const FLAG: &str = "True or False";

pub(crate) const SIZE: &str = "a number of bytes, a string such as '4G', or None";

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

pub(crate) fn wrong(error: Wrong) -> PyErr {
    PyValueError::new_err(error.0)
}
