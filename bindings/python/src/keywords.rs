//! Keywords of a call, with checks of their types.

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Maximum length of values in messages. Longer values are described by their type.
const SHORT: usize = 60;

pub(crate) struct Arguments<'a, 'py>(pub(crate) &'a Bound<'py, PyDict>);

impl<'py> Arguments<'_, 'py> {
    /// # Errors
    /// Raises `TypeError` if the type is wrong, and `ValueError` if a number is out of range.
    pub(crate) fn get<T: FromPyObjectOwned<'py>>(&self, name: &str, wanted: &str) -> PyResult<T> {
        let value = self.0.as_any().get_item(name)?;
        value.extract::<T>().map_err(Into::into).map_err(|error: PyErr| {
            let message = must_be(name, wanted, &value);
            match error.is_instance_of::<PyTypeError>(value.py()) {
                true => PyTypeError::new_err(message),
                false => PyValueError::new_err(message),
            }
        })
    }
}

pub(crate) fn must_be(name: &str, wanted: &str, value: &Bound<'_, PyAny>) -> String {
    let shown = value.repr().ok().and_then(|text| text.extract::<String>().ok());
    match shown.filter(|text| text.len() <= SHORT) {
        Some(text) => format!("{name} must be {wanted}, not {text}"),
        None => {
            let type_ =
                value.get_type().name().map_or_else(|_| "that".into(), |name| name.to_string());
            format!("{name} must be {wanted}, not of type {type_}")
        }
    }
}
