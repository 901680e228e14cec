//! What Python asks for, in the words of the libraries.

use std::path::PathBuf;

use paje_read::{Keywords, Wrong};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The keywords of `pajereplay.read`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    threads: Option<usize>,
    pin: Option<String>,
    strict: bool,
    ignore_incomplete_links: bool,
    no_imbrication: bool,
    user_defined: bool,
    lines: bool,
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
        }
    }
}

/// A number of bytes, as a number or as users write it.
#[derive(Clone, FromPyObject)]
pub(crate) enum Size {
    Bytes(u64),
    Text(String),
}

impl From<Size> for paje_read::Size {
    fn from(size: Size) -> Self {
        match size {
            Size::Bytes(bytes) => paje_read::Size::Bytes(bytes),
            Size::Text(text) => paje_read::Size::Text(text),
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
