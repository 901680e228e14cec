//! Errors as Python's exceptions.

use std::io;
use std::path::{Path, PathBuf};

use paje_parser::error::shown_path;
use paje_sim::error::{Place, Problem};
use paje_sim::excerpt::lines_below;
use paje_sim::{Error, ErrorKind};
use pyo3::exceptions::{PyOSError, PyPermissionError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use splitter::Refusal;

/// Why a trace cannot be read. `name` is what it is called.
pub(crate) fn of_trace(py: Python<'_>, name: &Path, error: &Error) -> PyErr {
    let problem = match error.kind() {
        ErrorKind::Io(error) => return of_file(py, name, error),
        ErrorKind::File { path, error } => return of_file(py, path, error),
        ErrorKind::Invalid(problem) => problem,
        _ => return PyRuntimeError::new_err(error.to_string()),
    };
    let make = || {
        let fields = PyDict::new(py);
        fields.set_item("message", message(error))?;
        fields.set_item("code", problem.code())?;
        place(&fields, name, error)?;
        let below = error.place().map(|place: &Place| lines_below(place, error.kind()));
        let below = below.filter(|lines| !lines.is_empty());
        fields.set_item("excerpt", below.as_deref().map(|lines| lines.trim_start_matches('\n')))?;
        let class = py.import("pajereplay._records")?.getattr("TraceError")?;
        PyResult::Ok(PyErr::from_value(class.call((), Some(&fields))?))
    };
    make().unwrap_or_else(|error| error)
}

/// The sentence of an error, with our keyword in the place of the programs' option.
pub(crate) fn message(error: &Error) -> String {
    let hint = match error.kind() {
        ErrorKind::Invalid(Problem::Line { fault, .. }) if fault.is_old_name() => {
            "; strict=False understands it"
        }
        _ => "",
    };
    let sentence = error.to_string();
    sentence.replace("(-z drops", "(ignore_incomplete_links=True drops") + hint
}

/// Where an error is, as `file`, `line` and `column`.
pub(crate) fn place(fields: &Bound<'_, PyDict>, name: &Path, error: &Error) -> PyResult<()> {
    fields.set_item("file", error.file().unwrap_or(name).as_os_str())?;
    fields.set_item("line", error.position().map(|position| position.line))?;
    fields.set_item("column", error.position().map(|position| position.column))
}

/// Permission denied: the same number everywhere.
const EACCES: i32 = 13;

/// Why a file cannot be read or written: the `OSError` of its number.
pub(crate) fn of_file(py: Python<'_>, path: &Path, error: &io::Error) -> PyErr {
    if let Some(refusal) = Refusal::of(error) {
        let allow = refusal.folder().map_or(String::new(), |folder| {
            format!("; files_from='{}' allows it", shown_path(folder))
        });
        let path = path.as_os_str().to_owned();
        return PyPermissionError::new_err((EACCES, format!("{refusal}{allow}"), path));
    }
    let mut text = error.to_string();
    if let Some(at) = text.find(" (os error") {
        text.truncate(at);
    }
    let number = error.raw_os_error().map_or_else(
        // What a decompressor says has none.
        || py.import("errno").and_then(|errno| errno.getattr("EIO")?.extract::<i32>()),
        Ok,
    );
    match number {
        Ok(number) => PyOSError::new_err((number, text, path.as_os_str().to_owned())),
        Err(error) => error,
    }
}

/// Why there is no table.
pub(crate) fn of_table(py: Python<'_>, error: &paje_export::Error) -> PyErr {
    match error {
        paje_export::Error::Io(error) => of_file(py, &PathBuf::new(), error),
        paje_export::Error::TooMuchText(_) => PyValueError::new_err(error.to_string()),
        _ => PyRuntimeError::new_err(error.to_string()),
    }
}
