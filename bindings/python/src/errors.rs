//! Errors as Python's exceptions.

use std::io;
use std::path::{Path, PathBuf};

use paje_bindings::{PYTHON, problem_of};
use paje_parser::error::shown_path;
use paje_sim::{Error, ErrorKind};
use pyo3::exceptions::{PyOSError, PyPermissionError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use splitter::{Refusal, cause};

/// Converts an error about the trace called `name` to an exception.
pub(crate) fn of_trace(py: Python<'_>, name: &Path, error: &Error) -> PyErr {
    match error.kind() {
        ErrorKind::Io(error) => return of_file(py, name, error),
        ErrorKind::File { path, error } => return of_file(py, path, error),
        _ => {}
    }
    let Some(problem) = problem_of(error, name, &PYTHON) else {
        return PyRuntimeError::new_err(error.to_string());
    };
    let make = || {
        let fields = PyDict::new(py);
        fields.set_item("message", problem.message)?;
        fields.set_item("code", problem.code)?;
        fields.set_item("file", problem.file.as_os_str())?;
        fields.set_item("line", problem.line)?;
        fields.set_item("column", problem.column)?;
        fields.set_item("excerpt", problem.excerpt)?;
        let class = py.import("pajereplay._records")?.getattr("TraceError")?;
        PyResult::Ok(PyErr::from_value(class.call((), Some(&fields))?))
    };
    make().unwrap_or_else(|error| error)
}

const EACCES: i32 = 13;

/// Converts an I/O error to an `OSError` with the system's error number.
pub(crate) fn of_file(py: Python<'_>, path: &Path, error: &io::Error) -> PyErr {
    if let Some(refusal) = Refusal::of(error) {
        let allow = refusal.folder().map_or(String::new(), |folder| {
            format!("; files_from='{}' allows it", shown_path(folder))
        });
        let path = path.as_os_str().to_owned();
        return PyPermissionError::new_err((EACCES, format!("{refusal}{allow}"), path));
    }
    // Errors of decompressors and of archives have no number.
    let name = match error.kind() {
        io::ErrorKind::IsADirectory => "EISDIR",
        _ => "EIO",
    };
    let number = error.raw_os_error().map_or_else(
        || py.import("errno").and_then(|errno| errno.getattr(name)?.extract::<i32>()),
        Ok,
    );
    match number {
        Ok(number) => PyOSError::new_err((number, cause(error), path.as_os_str().to_owned())),
        Err(error) => error,
    }
}

pub(crate) fn of_table(py: Python<'_>, error: &paje_export::Error) -> PyErr {
    match error {
        paje_export::Error::Io(error) => of_file(py, &PathBuf::new(), error),
        paje_export::Error::TooMuchText(_) => PyValueError::new_err(error.to_string()),
        _ => PyRuntimeError::new_err(error.to_string()),
    }
}
