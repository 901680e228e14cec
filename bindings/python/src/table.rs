//! Python's class for a table.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatchIterator};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use paje_export::Table as Which;
use pyo3::exceptions::{PyImportError, PyKeyError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList};

use crate::column::Column;
use crate::kept::{Kept, Rows};
use crate::keywords::must_be;

/// A table of a trace: one of Trace.containers, .states, .variables, .events, .links,
/// .type_hierarchy and .entity_hierarchy.
///
/// Libraries that support Arrow's PyCapsule interface share its memory without copying:
///
///     pyarrow.table(trace.states)
///     polars.DataFrame(trace.states)
///     pandas.DataFrame.from_arrow(trace.states)
///     states = trace.states; duckdb.sql("SELECT Value, sum(\"End\" - Start) FROM states GROUP BY Value")
///
/// Times are seconds in double precision. Names are dictionary-encoded (categoricals in pandas and
/// polars). Rows are in the order of pj_dump. They are made on first use by all threads of the
/// trace, and kept until release() is called or the trace and its tables are deleted.
#[pyclass(module = "pajereplay", frozen)]
pub(crate) struct Table {
    pub(crate) kept: Arc<Kept>,
    pub(crate) which: Which,
}

impl Table {
    pub(crate) fn rows(&self, py: Python<'_>) -> PyResult<Rows> {
        self.kept.rows(py, self.which)
    }

    fn again(&self) -> Table {
        Table { kept: Arc::clone(&self.kept), which: self.which }
    }

    fn schema(&self, py: Python<'_>) -> SchemaRef {
        py.detach(|| Arc::clone(self.kept.schema(self.which)))
    }
}

#[pymethods]
impl Table {
    /// Returns the rows as an Arrow C stream in a PyCapsule. The requested schema is ignored.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        // Makes all batches here, where errors and signals become exceptions.
        let batches: Vec<_> = self.rows(py)?.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, self.schema(py));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Returns the columns as an Arrow C schema in a PyCapsule, without making rows.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema(py).as_ref()).map_err(wrong)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Name of the table: container, state, variable, event, link, type_hierarchy or
    /// entity_hierarchy.
    #[getter]
    fn name(&self) -> &'static str {
        self.which.name()
    }

    /// Names of the columns in order. Reading them makes no rows.
    #[getter]
    fn column_names(&self, py: Python<'_>) -> Vec<String> {
        self.schema(py).fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Number of rows. Reading it builds the rows if they do not exist yet.
    #[getter]
    pub(crate) fn num_rows(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.rows(py)?.iter().map(|batch| batch.num_rows()).sum())
    }

    /// Number of columns.
    #[getter]
    fn num_columns(&self, py: Python<'_>) -> usize {
        self.schema(py).fields().len()
    }

    /// Memory of the rows in bytes: 0 if they have not been made or were released. Dictionaries are
    /// counted once.
    #[getter]
    fn nbytes(&self) -> usize {
        let Some(rows) = self.kept.made(self.which) else { return 0 };
        let columns = |index: usize| {
            rows.iter().enumerate().map(move |(number, batch)| {
                let column = batch.column(index);
                match column.as_any_dictionary_opt() {
                    Some(dictionary) if number > 0 => dictionary.keys().get_buffer_memory_size(),
                    _ => column.get_buffer_memory_size(),
                }
            })
        };
        (0..rows.first().map_or(0, |batch| batch.num_columns())).flat_map(columns).sum()
    }

    /// Frees the rows. They are made again when needed. Objects that share them remain valid.
    fn release(&self, py: Python<'_>) {
        py.detach(|| self.kept.release(self.which));
    }

    /// Returns the table as a pyarrow.Table without copying.
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let stream = self.rows(py).map(|_| self.again())?;
        import(py, "pyarrow")?.call_method1("table", (stream,))
    }

    /// Returns the table as a polars.DataFrame. Numbers are shared, and names become categoricals.
    fn to_polars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        import(py, "polars")?.call_method1("DataFrame", (self.again(),))
    }

    /// Returns the table as a pandas.DataFrame. Names become categoricals.
    ///
    /// Keywords are passed to pyarrow.Table.to_pandas.
    #[pyo3(signature = (**keywords))]
    fn to_pandas<'py>(
        &self,
        py: Python<'py>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        import(py, "pandas")?;
        self.to_arrow(py)?.call_method("to_pandas", (), keywords)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.num_rows(py)
    }

    /// Returns a column by name.
    fn __getitem__(&self, py: Python<'_>, column: &Bound<'_, PyAny>) -> PyResult<Column> {
        let name = column
            .extract::<String>()
            .map_err(|_| PyTypeError::new_err(must_be("an index", "a column's name", column)))?;
        let schema = self.schema(py);
        match schema.index_of(&name) {
            Ok(index) => Ok(Column::new(self.again(), index, Arc::clone(&schema.fields()[index]))),
            Err(_) => {
                let (table, columns) = (self.which.name(), self.column_names(py).join(", "));
                let message = format!("no column {name:?} in {table}, which has {columns}");
                Err(PyKeyError::new_err(message))
            }
        }
    }

    /// Returns whether there is a column with this name.
    fn __contains__(&self, py: Python<'_>, column: &Bound<'_, PyAny>) -> bool {
        let name = column.extract::<String>();
        name.is_ok_and(|name| self.schema(py).index_of(&name).is_ok())
    }

    /// Iterates over the names of the columns.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.column_names(py))?.try_iter()
    }

    /// Returns the first and last rows as text.
    fn __str__(slf: &Bound<'_, Self>) -> PyResult<String> {
        preview(slf, "table_text")
    }

    /// Returns the first and last rows as HTML for notebooks.
    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        preview(slf, "table_html")
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let rows = match self.kept.made(self.which) {
            Some(rows) => {
                let rows: usize = rows.iter().map(|batch| batch.num_rows()).sum();
                format!("{rows} rows")
            }
            None => "not made yet".into(),
        };
        let mut text = format!("<pajereplay.Table {} ({rows})", self.which.name());
        for field in self.schema(py).fields() {
            text.push_str(&format!("\n  {}: {}", field.name(), kind(field.data_type())));
        }
        text.push('>');
        text
    }
}

/// Returns the kind of a column's values in a word.
pub(crate) fn kind(data_type: &DataType) -> String {
    match data_type {
        DataType::Dictionary(..) => "name".to_owned(),
        DataType::Utf8 => "text".into(),
        other => other.to_string().to_lowercase(),
    }
}

pub(crate) fn preview<T: PyTypeInfo>(shown: &Bound<'_, T>, how: &str) -> PyResult<String> {
    shown.py().import("pajereplay._preview")?.call_method1(how, (shown,))?.extract()
}

pub(crate) fn wrong(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

pub(crate) fn import<'py>(py: Python<'py>, package: &str) -> PyResult<Bound<'py, PyModule>> {
    py.import(package).map_err(|error| {
        if !error.is_instance_of::<PyImportError>(py) {
            return error;
        }
        let missing = PyImportError::new_err(format!(
            "this needs {package}, which is not installed: pip install {package}"
        ));
        missing.set_cause(py, Some(error));
        missing
    })
}
