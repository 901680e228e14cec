//! What a trace adds up to, as tables for Python.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use paje_analysis::classes::{Classes, Map};
use paje_analysis::collectives::Grouping;
use paje_analysis::comm::{self, Comm, Ends};
use paje_analysis::critical::CriticalPath;
use paje_analysis::states::{self, States};
use paje_analysis::time::{self, Time};
use paje_analysis::waits::{Options, Waits};
use paje_analysis::{Bins, By, Label, Scope, Table as Found};
use paje_sim::{ContainerId, Selection, TypeId, TypeNature};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::job;
use crate::kept::{Kept, Stop};
use crate::table::import;

/// A table of what a trace adds up to: what Trace.profile(), .comm(), .time(), .waits() and .critical_path() return.
///
/// Like Table, it is taken by whatever understands Arrow's PyCapsule interface. Times are in seconds.
#[pyclass(module = "pajereplay", frozen)]
pub(crate) struct Analysis {
    name: &'static str,
    rows: RecordBatch,
}

#[pymethods]
impl Analysis {
    /// The rows as an Arrow C stream, in a PyCapsule. The requested schema is not looked at, as the interface allows.
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

    /// The names of the columns, in order: those of pj_profile.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.rows.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.rows.num_rows()
    }

    fn __len__(&self) -> usize {
        self.rows.num_rows()
    }

    /// The table as a pyarrow.Table.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        import(slf.py(), "pyarrow")?.call_method1("table", (slf,))
    }

    /// The table as a polars.DataFrame.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        import(slf.py(), "polars")?.call_method1("DataFrame", (slf,))
    }

    /// The table as a pandas.DataFrame, by way of pyarrow. Keywords are those of pyarrow.Table.to_pandas.
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

/// What is analysed, and how.
pub(crate) enum Asked {
    States(By),
    Comm { level: Option<String>, bytes: Option<String> },
    Time { by: By, bins: u32, inclusive: bool, classes: bool, map: Option<Map> },
    Waits { by: &'static str, about: About },
    Critical { by_value: bool, about: About },
}

/// What waiting is told from.
pub(crate) struct About {
    pub(crate) map: Option<Map>,
    pub(crate) group: Option<String>,
    pub(crate) root: Option<String>,
    pub(crate) eager: Option<u64>,
    pub(crate) bytes: Option<String>,
}

/// What has rows of its own, by the name of it.
pub(crate) fn by(name: &str) -> By {
    match name {
        "value" => By::Value,
        "container" => By::Container,
        type_ => By::Type(Label::from(type_)),
    }
}

/// One of these words.
pub(crate) fn one_of(keyword: &str, given: &str, known: &[&'static str]) -> PyResult<&'static str> {
    known.iter().copied().find(|known| *known == given).ok_or_else(|| {
        let known = known.join(", ");
        PyValueError::new_err(format!("{keyword}={given:?} is none of {known}"))
    })
}

/// The map of this name, or of this text in TOML.
pub(crate) fn map(given: Option<&str>) -> PyResult<Option<Map>> {
    let Some(given) = given else { return Ok(None) };
    if let Some(map) = Map::built_in(given) {
        return Ok(Some(map));
    }
    let parsed = Map::parse("map", given);
    parsed.map(Some).map_err(|error| PyValueError::new_err(format!("map: {error}")))
}

/// Analyses a trace, without Python's lock.
pub(crate) fn analysis(kept: &Arc<Kept>, py: Python<'_>, asked: Asked) -> PyResult<Analysis> {
    let mut stop = Stop(Arc::<AtomicBool>::default());
    let kept = Arc::clone(kept);
    let found = job::run(py, &mut stop, move |_| {
        kept.with_workers(|workers| found(&kept, &asked, workers))
    })?;
    let found = found.map_err(PyValueError::new_err)?;
    let rows = found.record_batch();
    let rows = rows.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok(Analysis { name: found.name, rows })
}

fn found(kept: &Kept, asked: &Asked, workers: &workers::Workers) -> Result<Found, String> {
    let trace = &kept.trace;
    let selection: Selection = kept.options.selection.clone();
    let (window, scope) = (selection.window, Scope::new(&selection));
    Ok(match asked {
        Asked::States(by) => {
            let mut states = States::new(scope, by.clone());
            states.see(trace, workers);
            states::table(&states.rows(trace))
        }
        Asked::Comm { level, bytes } => {
            let mut comm = Comm::new(scope, bytes.as_deref());
            comm.see(trace, workers);
            let level = level.as_deref().map(Label::from);
            comm::table(&comm.rows(trace, &level.map_or(Ends::Containers, Ends::Level)))
        }
        Asked::Time { by, bins, inclusive, classes, map } => {
            let (start, end) = time::range(trace, &scope);
            let finite = |asked: f64, found: f64| if asked.is_finite() { asked } else { found };
            let bins = Bins::new(finite(window.from, start), finite(window.to, end), *bins);
            let mut time = Time::new(scope, by.clone(), bins, *inclusive);
            time.see(trace, workers);
            time::table(&match classes {
                true => {
                    let map = map.clone().unwrap_or_else(|| Map::of_trace(trace));
                    time.rows_by_class(trace, &Classes::new(trace, &map))
                }
                false => time.rows(trace),
            })
        }
        Asked::Waits { by, about } => {
            let waits = about.waits(trace)?;
            let window = within(&waits, window);
            match *by {
                "waiter" => waits.waiters_table(window),
                "pair" => waits.pairs_table(window),
                _ => waits.kinds_table(window),
            }
        }
        Asked::Critical { by_value, about } => {
            let waits = about.waits(trace)?;
            let window = within(&waits, window);
            match CriticalPath::new(&waits) {
                None => Found::new("critical"),
                Some(path) if *by_value => path.imbalance_table(&waits, window),
                Some(path) => path.activity_table(&waits, window),
            }
        }
    })
}

fn within(waits: &Waits<'_>, window: paje_sim::TimeRange) -> (f64, f64) {
    let whole = waits.whole();
    let finite = |asked: f64, found: f64| if asked.is_finite() { asked } else { found };
    (finite(window.from, whole.0), finite(window.to, whole.1))
}

impl About {
    fn waits<'t>(&self, trace: &'t paje_sim::Trace) -> Result<Waits<'t>, String> {
        let map = self.map.clone().unwrap_or_else(|| Map::of_trace(trace));
        let (types, containers) = (trace.types(), trace.containers());
        let level = self.group.as_deref().map(|wanted| -> Result<TypeId, String> {
            let mut all = types.ids().filter(|id| types.nature(*id) == TypeNature::Container);
            let found = all.find(|id| text(types.name(*id)) == wanted);
            found.ok_or_else(|| format!("group={wanted:?}: no type of containers is called so"))
        });
        let root = self.root.as_deref().map(|wanted| -> Result<ContainerId, String> {
            let found = containers.ids().find(|id| text(containers.name(*id)) == wanted);
            found.ok_or_else(|| format!("root={wanted:?}: no container is called so"))
        });
        let grouping = Grouping { level: level.transpose()?, root: root.transpose()? };
        let options = Options { grouping, eager: self.eager, bytes: self.bytes.clone() };
        let waits = Waits::new(trace, &map, &options);
        match waits.tracks.classes().is_empty() {
            true => Err(format!(
                "no state's value is known to the map {:?}: map=... says what states are about",
                map.name()
            )),
            false => Ok(waits),
        }
    }
}

fn text(name: paje_sim::Name<'_>) -> Cow<'_, str> {
    name.to_str_lossy()
}
