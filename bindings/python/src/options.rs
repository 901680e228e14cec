//! Converts Python's keywords to options.

use std::path::PathBuf;

use paje_bindings::{Keywords, Wrong};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::keywords::Arguments;

#[derive(FromPyObject)]
pub(crate) enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

impl<T> OneOrMore<T> {
    pub(crate) fn into_vec(self) -> Vec<T> {
        match self {
            OneOrMore::One(one) => vec![one],
            OneOrMore::More(more) => more,
        }
    }
}

pub(crate) const PATHS: &str = "a path, a list of paths, or None";

/// Returns the keywords of `pajereplay.read` that R's package also has.
///
/// # Errors
/// An argument has a wrong type.
pub(crate) fn keywords(asked: &Arguments<'_, '_>) -> PyResult<Keywords> {
    let flag = |name| asked.get::<bool>(name, FLAG);
    let time = |name| asked.get::<Option<f64>>(name, "a number of seconds, or None");
    let patterns = |name| -> PyResult<Option<Vec<String>>> {
        let wanted = "a string, a list of strings, or None";
        Ok(asked.get::<Option<OneOrMore<String>>>(name, wanted)?.map(OneOrMore::into_vec))
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
            .get::<Option<OneOrMore<PathBuf>>>("files_from", PATHS)?
            .map_or_else(Vec::new, OneOrMore::into_vec),
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

pub(crate) fn wrong(error: Wrong) -> PyErr {
    PyValueError::new_err(error.0)
}
