//! Analyses of a trace, as tables for Python.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use paje_analysis::asked::{self, Asked};
use paje_analysis::classes::Map;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::job;
use crate::kept::{Kept, Stop};
use crate::table::import;

/// Result of an analysis: returned by Trace.profile(), .comm(), .time(), .waits() and
/// .critical_path().
///
/// Supports Arrow's PyCapsule interface, like Table. Times are in seconds.
#[pyclass(module = "pajereplay", frozen)]
pub(crate) struct Analysis {
    name: &'static str,
    rows: RecordBatch,
}

#[pymethods]
impl Analysis {
    /// Returns the rows as an Arrow C stream in a PyCapsule. The requested schema is ignored.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let reader = RecordBatchIterator::new([Ok(self.rows.clone())], self.rows.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Names of the columns in order, as in pj_profile.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.rows.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.rows.num_rows()
    }

    fn __len__(&self) -> usize {
        self.rows.num_rows()
    }

    /// Returns the table as a pyarrow.Table.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        import(slf.py(), "pyarrow")?.call_method1("table", (slf,))
    }

    /// Returns the table as a polars.DataFrame.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        import(slf.py(), "polars")?.call_method1("DataFrame", (slf,))
    }

    /// Returns the table as a pandas.DataFrame. Keywords are passed to pyarrow.Table.to_pandas.
    #[pyo3(signature = (**keywords))]
    fn to_pandas<'py>(
        slf: &Bound<'py, Self>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        import(slf.py(), "pandas")?;
        Analysis::to_arrow(slf)?.call_method("to_pandas", (), keywords)
    }

    fn __repr__(&self) -> String {
        let columns = self.column_names().join(", ");
        format!("<pajereplay.Analysis {} ({} rows): {columns}>", self.name, self.num_rows())
    }
}

/// Returns the known word that equals `given`, or an error that lists the known words.
pub(crate) fn one_of(keyword: &str, given: &str, known: &[&'static str]) -> PyResult<&'static str> {
    known.iter().copied().find(|known| *known == given).ok_or_else(|| {
        let known = known.join(", ");
        PyValueError::new_err(format!("{keyword} must be one of {known}, not {given:?}"))
    })
}

/// Parses a map, given by its name or as text in TOML.
pub(crate) fn map(given: Option<&str>) -> PyResult<Option<Map>> {
    given.map(asked::map).transpose().map_err(PyValueError::new_err)
}

/// Analyses a trace without holding Python's lock.
pub(crate) fn analysis(kept: &Arc<Kept>, py: Python<'_>, asked: Asked) -> PyResult<Analysis> {
    let mut stop = Stop(Arc::<AtomicBool>::default());
    let kept = Arc::clone(kept);
    let found = job::run(py, &mut stop, move |_| {
        let selection = &kept.options.selection;
        kept.with_workers(|workers| asked.table(&kept.trace, selection, workers))
    })?;
    let found = found.map_err(PyValueError::new_err)?;
    let rows = found.record_batch();
    let rows = rows.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok(Analysis { name: found.name, rows })
}
