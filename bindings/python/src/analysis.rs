//! Analyses of a trace, as tables for Python.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use paje_analysis::Table;
use paje_analysis::asked::{self, Asked, Parts};
use paje_analysis::classes::Map;
use paje_bindings::{Keywords, Replay, ReplayStatus, as_file};
use paje_workers::Workers;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyCapsule, PyDict};
use splitter::Input;

use crate::kept::Stop;
use crate::table::import;
use crate::trace::Trace;
use crate::{errors, job};

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
pub(crate) fn analysis(trace: &Trace, py: Python<'_>, asked: Asked) -> PyResult<Analysis> {
    let kept = Arc::clone(&trace.kept);
    if kept.part.begins.is_some() {
        let why = "a partition has only a part of the rows; pajereplay.dask has the reports of all partitions";
        return Err(PyValueError::new_err(why));
    }
    let mut stop = Stop(Arc::<AtomicBool>::default());
    let found = job::run(py, &mut stop, move |_| {
        let selection = &kept.options.selection;
        let lanes = kept.part.lanes.as_ref();
        let fits = |trace: &paje_sim::Trace| match kept.part.memory_limit {
            Some(limit) => asked.fits(trace, limit).map_err(Failed::Analysis),
            None => Ok(()),
        };
        if lanes.is_some() && !asked.adds_up_rows() {
            let again = kept.part.again.as_ref().ok_or_else(|| {
                Failed::Analysis("this needs the whole trace; read it without start and end".into())
            })?;
            let (whole, workers) = read_whole(&again.0, &again.1).map_err(Failed::Read)?;
            fits(&whole)?;
            return workers
                .run(|| asked.table(&whole, selection, None, &workers).map_err(Failed::Analysis));
        }
        fits(&kept.trace)?;
        kept.with_workers(|workers| {
            asked.table(&kept.trace, selection, lanes, workers).map_err(Failed::Analysis)
        })
    })?;
    let found = found.map_err(|failed| failed.raised(py, &trace.name))?;
    Analysis::of(&found)
}

pub(crate) enum Failed {
    Read(paje_sim::Error),
    Analysis(String),
}

impl Failed {
    pub(crate) fn raised(self, py: Python<'_>, name: &Path) -> PyErr {
        match self {
            Failed::Read(error) => errors::of_trace(py, name, &error),
            Failed::Analysis(why) => PyValueError::new_err(why),
        }
    }
}

/// Reads the whole trace, if only a window of it has been read so far.
fn read_whole(
    keywords: &Keywords,
    path: &Path,
) -> Result<(paje_sim::Trace, Workers), paje_sim::Error> {
    replay(keywords, path, Arc::default())?.run(|| Input::open(Some(as_file(path))))
}

/// Creates a replay of the trace in a file.
pub(crate) fn replay(
    keywords: &Keywords,
    path: &Path,
    status: Arc<ReplayStatus>,
) -> Result<Replay, paje_sim::Error> {
    let wrong = |why: String| paje_sim::Error::from(io::Error::other(why));
    let replay = Replay::new(keywords, status).map_err(|error| wrong(error.0))?;
    let replay = replay.of_files(Some(path.to_owned()), Vec::new(), keywords);
    Ok(replay.map_err(|(_, error)| error)?)
}

/// Returns a report whose parts can be added up.
pub(crate) fn divisible(report: &str, by: Option<&str>, bytes: Option<String>) -> PyResult<Asked> {
    Ok(match one_of("report", report, &["profile", "comm"])? {
        "profile" => Asked::States(asked::by(by.unwrap_or("value"))),
        _ => Asked::Comm { level: by.map(str::to_owned), bytes },
    })
}

/// Returns the part of a report that the rows of a partition give.
pub(crate) fn part<'py>(
    trace: &Trace,
    py: Python<'py>,
    asked: &Asked,
) -> PyResult<Bound<'py, PyBytes>> {
    let (kept, asked) = (Arc::clone(&trace.kept), asked.clone());
    let mut stop = Stop(Arc::<AtomicBool>::default());
    let part = job::run(py, &mut stop, move |_| {
        let begins = kept.part.begins.clone().unwrap_or(f64::NEG_INFINITY..f64::INFINITY);
        kept.with_workers(|workers| {
            asked.part(&kept.trace, &kept.options.selection, begins, workers)
        })
    })?;
    Ok(PyBytes::new(py, &part.unwrap_or_default()))
}

/// Adds up parts of a report.
#[pyfunction]
pub(crate) fn add_parts<'py>(
    py: Python<'py>,
    report: &str,
    parts: Vec<PyBackedBytes>,
) -> PyResult<Bound<'py, PyBytes>> {
    let asked = divisible(report, None, None)?;
    let sum = py.detach(|| sum(&asked, &parts).map(|sum| sum.to_bytes()))?;
    Ok(PyBytes::new(py, &sum))
}

fn sum(asked: &Asked, parts: &[PyBackedBytes]) -> PyResult<Parts> {
    let sum = asked.add_parts(parts.iter().map(|part| &part[..]));
    sum.ok_or_else(|| PyValueError::new_err("a part of the report is invalid"))
}

/// Returns the report of the whole trace, although `trace` may be only a part of it.
pub(crate) fn whole(
    trace: &Trace,
    py: Python<'_>,
    asked: &Asked,
    parts: &[PyBackedBytes],
) -> PyResult<Analysis> {
    let table =
        py.detach(|| sum(asked, parts).map(|sum| asked.of_parts(&trace.kept.trace, &sum)))?;
    Analysis::of(&table.unwrap_or_else(|| Table::new("")))
}

impl Analysis {
    pub(crate) fn of(found: &Table) -> PyResult<Analysis> {
        let rows = found.record_batch();
        let rows = rows.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Analysis { name: found.name, rows })
    }
}
