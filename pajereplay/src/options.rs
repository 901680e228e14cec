//! What Python asks for, in the words of the libraries.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use paje_export::{Table, TableOptions};
use paje_sim::selection::Glob;
use paje_sim::{
    FieldNames, MemoryLimit, NameOrder, Options, Precision, Selection, TypeNature, ValueNames,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use workers::{Pin, Workers};

use crate::keywords::Keywords;

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
    pub(crate) follow_files: bool,
}

/// What keywords must be that say yes or no.
pub(crate) const FLAG: &str = "True or False";

/// What keywords must be that are sizes.
pub(crate) const SIZE: &str = "a number of bytes, a text such as '4G', or None";

/// A number of bytes, as a number or as users write it.
#[derive(FromPyObject)]
pub(crate) enum Size {
    Bytes(u64),
    Text(String),
}

impl Size {
    pub(crate) fn bytes(&self) -> PyResult<u64> {
        match self {
            Size::Bytes(bytes) => Ok(*bytes),
            Size::Text(text) => splitter::parse_size(text).map_err(|error| {
                PyValueError::new_err(format!("{text:?} is no size such as '4G': {error}"))
            }),
        }
    }
}

impl Asked {
    /// What was asked for.
    ///
    /// # Errors
    /// An argument is of a type that it cannot be of.
    pub(crate) fn new(asked: &Bound<'_, PyDict>) -> PyResult<Self> {
        let asked = Keywords(asked);
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
        })
    }

    pub(crate) fn workers(&self) -> PyResult<Workers> {
        let threads = match self.threads.map(NonZeroUsize::new) {
            Some(None) => return Err(PyValueError::new_err("threads must be at least 1")),
            Some(threads) => threads,
            None => None,
        };
        let pin = self.pin.as_deref().unwrap_or("none").parse::<Pin>();
        let pin = pin.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Workers::new(threads, &pin).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn keeps_quotes(&self) -> PyResult<bool> {
        match self.quotes.as_str() {
            "strip" => Ok(false),
            "keep" => Ok(true),
            other => Err(PyValueError::new_err(format!(
                "quotes must be 'strip' or 'keep', not {other:?}"
            ))),
        }
    }

    pub(crate) fn replay(&self) -> PyResult<Options> {
        let mut options = Options::default();
        options.field_names = if self.strict { FieldNames::Strict } else { FieldNames::Old };
        options.variable_precision = match self.variable_precision.as_str() {
            "double" => Precision::Double,
            "single" => Precision::Single,
            other => {
                let message =
                    format!("variable_precision must be 'double' or 'single', not {other:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        if self.keeps_quotes()? {
            options.value_names = ValueNames::AsWritten;
        }
        options.stop_at = number("stop_at", self.stop_at)?;
        options.no_imbrication = self.no_imbrication;
        options.ignore_incomplete_links = self.ignore_incomplete_links;
        options.user_defined = self.user_defined;
        options.keep_lines = self.lines;
        options.selection = self.selection()?;
        options.sort = self.sort;
        options.recover = self.recover;
        if let Some(size) = &self.memory_limit {
            let folder = self.temp_dir.clone().unwrap_or_else(temporary);
            options.memory = Some(MemoryLimit { bytes: size.bytes()?.max(LEAST), folder });
        }
        Ok(options)
    }

    pub(crate) fn tables(&self) -> PyResult<TableOptions> {
        let mut options = TableOptions::default();
        if self.keeps_quotes()? {
            options.order = NameOrder::Raw;
        }
        options.selection = self.selection()?;
        Ok(options)
    }

    /// Which rows are wanted.
    fn selection(&self) -> PyResult<Selection> {
        let mut selection = Selection::default();
        let window = &mut selection.window;
        window.from = number("start", self.start)?.unwrap_or(window.from);
        window.to = number("end", self.end)?.unwrap_or(window.to);
        if window.from > window.to {
            let (start, end) = (window.from, window.to);
            let message = format!("start must not be later than end: {start} and {end}");
            return Err(PyValueError::new_err(message));
        }
        selection.types = globs("types", self.types.as_ref())?;
        selection.containers = globs("containers", self.containers.as_ref())?;
        if let Some(natures) = &self.natures {
            let natures = natures.all("natures")?.iter().map(|name| nature(name));
            selection.natures = natures.collect::<PyResult<_>>()?;
        }
        Ok(selection)
    }
}

/// Less memory is not enough for the blocks that are at hand.
const LEAST: u64 = 32 << 20;

/// Where temporary files go that may be large: `/tmp` is often memory.
fn temporary() -> PathBuf {
    let named = std::env::var_os("TMPDIR").filter(|name| !name.is_empty()).map(PathBuf::from);
    named.unwrap_or_else(|| {
        let large = PathBuf::from("/var/tmp");
        if large.is_dir() { large } else { std::env::temp_dir() }
    })
}

/// One pattern, or some.
#[derive(FromPyObject)]
enum Patterns {
    One(String),
    Some(Vec<String>),
}

impl Patterns {
    fn all(&self, name: &str) -> PyResult<&[String]> {
        match self {
            Patterns::One(one) => Ok(std::slice::from_ref(one)),
            Patterns::Some(some) if some.is_empty() => {
                let message = format!("{name} must not be empty; say None for all");
                Err(PyValueError::new_err(message))
            }
            Patterns::Some(some) => Ok(some),
        }
    }
}

fn globs(name: &str, patterns: Option<&Patterns>) -> PyResult<Vec<Glob>> {
    let Some(patterns) = patterns else { return Ok(Vec::new()) };
    let glob = |pattern: &String| {
        pattern.parse().map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
    };
    patterns.all(name)?.iter().map(glob).collect()
}

/// The nature of this name, as the table of it is called.
fn nature(name: &str) -> PyResult<TypeNature> {
    // Rows spell them with a capital letter.
    let nature = name.to_ascii_lowercase().parse().ok().and_then(Table::nature);
    nature.ok_or_else(|| {
        PyValueError::new_err(format!(
            "natures are 'container', 'state', 'variable', 'event' and 'link', not {name:?}"
        ))
    })
}

/// A time in seconds.
fn number(name: &str, time: Option<f64>) -> PyResult<Option<f64>> {
    match time {
        Some(time) if time.is_nan() => {
            Err(PyValueError::new_err(format!("{name} must be a time in seconds, not nan")))
        }
        time => Ok(time),
    }
}
