//! Python's class for a column of a table.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, new_empty_array};
use arrow_schema::{DataType, Field};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList, PySlice};

use crate::kept::Rows;
use crate::keywords::must_be;
use crate::table::{Table, import, kind, wrong};

/// A column of a table, such as trace.states["Value"].
///
/// A column has a length and can be indexed, sliced and iterated. It supports Arrow's PyCapsule
/// interface:
///
///     pyarrow.array(column)
///     polars.Series(column)
///
/// Rows are made on first use, as for tables. Exporting a large column copies it, since an Arrow
/// array is contiguous. Exporting a table copies nothing.
#[pyclass(module = "pajereplay", frozen)]
pub(crate) struct Column {
    table: Table,
    index: usize,
    field: Arc<Field>,
}

impl Column {
    pub(crate) fn new(table: Table, index: usize, field: Arc<Field>) -> Self {
        Column { table, index, field }
    }

    fn array(&self, py: Python<'_>) -> PyResult<ArrayRef> {
        let rows = self.table.rows(py)?;
        let parts: Vec<_> = rows.iter().map(|batch| batch.column(self.index).as_ref()).collect();
        py.detach(|| match &parts[..] {
            [] => Ok(new_empty_array(self.field.data_type())),
            parts => arrow_select::concat::concat(parts),
        })
        .map_err(wrong)
    }

    fn values<'py>(
        &self,
        py: Python<'py>,
        wanted: impl Iterator<Item = usize>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let rows = self.table.rows(py)?;
        let mut found = Found::new(&rows, self.index);
        wanted.map(|row| found.value(py, row)).collect()
    }
}

#[pymethods]
impl Column {
    /// Name of the column.
    #[getter]
    fn name(&self) -> &str {
        self.field.name()
    }

    /// Returns all values as a list of numbers and strings; missing values are None.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.values(py, 0..self.table.num_rows(py)?)?)
    }

    /// Returns the column as a pyarrow.Array.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        import(slf.py(), "pyarrow")?.call_method1("array", (slf,))
    }

    /// Returns the column as a polars.Series.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        import(slf.py(), "polars")?.call_method1("Series", (slf.get().name(), slf))
    }

    /// Returns the column as a pandas.Series. Needs pyarrow.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        import(slf.py(), "pandas")?;
        let series = Self::to_arrow(slf)?.call_method0("to_pandas")?;
        series.call_method1("rename", (slf.get().name(),))
    }

    /// Returns the column as a numpy.ndarray. Needs pyarrow.
    fn to_numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let keywords = PyDict::new(slf.py());
        keywords.set_item("zero_copy_only", false)?;
        Self::to_arrow(slf)?.call_method("to_numpy", (), Some(&keywords))
    }

    /// Implements numpy.asarray.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = Self::to_numpy(slf)?;
        let array = match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,))?,
            None => array,
        };
        if copy == Some(true) { array.call_method0("copy") } else { Ok(array) }
    }

    /// Returns the column as an Arrow C schema and array in two PyCapsules. The requested schema is
    /// ignored.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        let array = FFI_ArrowArray::new(&self.array(py)?.to_data());
        let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
        Ok((self.__arrow_c_schema__(py)?, array))
    }

    /// Returns the column's type as an Arrow C schema in a PyCapsule, without making rows.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.field.as_ref()).map_err(wrong)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.table.num_rows(py)
    }

    /// Returns the value of a row, or a list of the values of a slice.
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        which: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let length = self.table.num_rows(py)?;
        if let Ok(slice) = which.cast::<PySlice>() {
            let slice = slice.indices(isize::try_from(length)?)?;
            let row = |number: usize| (slice.start + slice.step * number as isize) as usize;
            let values = self.values(py, (0..slice.slicelength).map(row))?;
            return Ok(PyList::new(py, values)?.into_any());
        }
        let row = which.extract::<isize>();
        if row.as_ref().is_err_and(|error| error.is_instance_of::<PyTypeError>(py)) {
            let message = must_be("an index", "a row's number or a slice", which);
            return Err(PyTypeError::new_err(message));
        }
        let row = row.ok().and_then(|row| match row {
            0.. => usize::try_from(row).ok(),
            _ => length.checked_sub(row.unsigned_abs()),
        });
        match row.filter(|row| *row < length) {
            Some(row) => Ok(self.values(py, std::iter::once(row))?.remove(0)),
            None => Err(PyIndexError::new_err(format!("there are {length} rows"))),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.to_list(py)?.try_iter()
    }

    fn __repr__(&self) -> String {
        let (table, kind) = (self.table.which.name(), kind(self.field.data_type()));
        format!("<pajereplay.Column {} of {table}: {kind}>", self.field.name())
    }
}

/// Reader of a column's values, fast for rows in order.
struct Found<'a, 'py> {
    rows: &'a Rows,
    index: usize,
    /// Batch of the last value that was read, and the index of the batch's first row.
    at: (usize, usize),
    /// Names as Python strings, by code. All batches use the same codes.
    names: Vec<Option<Bound<'py, PyAny>>>,
}

impl<'a, 'py> Found<'a, 'py> {
    fn new(rows: &'a Rows, index: usize) -> Self {
        Found { rows, index, at: (0, 0), names: Vec::new() }
    }

    fn value(&mut self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyAny>> {
        if row < self.at.1 {
            self.at = (0, 0);
        }
        while row - self.at.1 >= self.rows[self.at.0].num_rows() {
            self.at = (self.at.0 + 1, self.at.1 + self.rows[self.at.0].num_rows());
        }
        let column = self.rows[self.at.0].column(self.index);
        let row = row - self.at.1;
        if column.is_null(row) {
            return Ok(py.None().into_bound(py));
        }
        match column.data_type() {
            DataType::Float64 => {
                column.as_primitive::<Float64Type>().value(row).into_bound_py_any(py)
            }
            DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into_bound_py_any(py),
            DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into_bound_py_any(py),
            DataType::Utf8 => column.as_string::<i32>().value(row).into_bound_py_any(py),
            DataType::Dictionary(..) => self.name(py, column, row),
            other => Err(PyRuntimeError::new_err(format!("unsupported column type {other}"))),
        }
    }

    fn name(
        &mut self,
        py: Python<'py>,
        column: &ArrayRef,
        row: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let dictionary = column.as_dictionary::<Int32Type>();
        let names = dictionary.values().as_string::<i32>();
        let number = dictionary.keys().value(row) as usize;
        if self.names.len() < names.len() {
            self.names.resize(names.len(), None);
        }
        if let Some(name) = &self.names[number] {
            return Ok(name.clone());
        }
        let name = names.value(number).into_bound_py_any(py)?;
        self.names[number] = Some(name.clone());
        Ok(name)
    }
}
