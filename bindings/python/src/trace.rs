//! Python's class for a trace.

use std::path::PathBuf;
use std::sync::Arc;

use paje_analysis::asked::{self, About, Asked, WaitsBy};
use paje_bindings::{PYTHON, Problem, recovered, warnings};
use paje_export::Table as Which;
use paje_sim::recovered::OpenState;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::analysis::{self, Analysis};
use crate::kept::Kept;
use crate::table::{Table, preview};

/// Replayed trace, returned by pajereplay.read.
///
/// Tables are made on first use and kept (see Table). The trace stays in memory too and is about as
/// large as its tables.
#[pyclass(module = "pajereplay", frozen)]
pub(crate) struct Trace {
    pub(crate) kept: Arc<Kept>,
    pub(crate) name: PathBuf,
    threads: usize,
    /// Number of bytes that were read.
    read: u64,
}

impl Trace {
    pub(crate) fn new(kept: Kept, name: PathBuf, threads: usize, read: u64) -> Self {
        Trace { kept: Arc::new(kept), name, threads, read }
    }

    fn table(&self, which: Which) -> Table {
        Table { kept: Arc::clone(&self.kept), which }
    }
}

#[pymethods]
impl Trace {
    /// Containers, including the root: Parent, Type, Start, End, Name.
    #[getter]
    fn containers(&self) -> Table {
        self.table(Which::Container)
    }

    /// States: Container, Type, Start, End, Imbrication, Value.
    #[getter]
    fn states(&self) -> Table {
        self.table(Which::State)
    }

    /// Values of variables over time: Container, Type, Start, End, Value.
    #[getter]
    fn variables(&self) -> Table {
        self.table(Which::Variable)
    }

    /// Events: Container, Type, Time, Value.
    #[getter]
    fn events(&self) -> Table {
        self.table(Which::Event)
    }

    /// Links: Container, Type, Start, End, Value, StartContainer, EndContainer, Key.
    #[getter]
    fn links(&self) -> Table {
        self.table(Which::Link)
    }

    /// Types and their values: Parent, Name, Nature.
    #[getter]
    fn type_hierarchy(&self) -> Table {
        self.table(Which::TypeHierarchy)
    }

    /// Containers and the types of their contents: Parent, Name, Type, Nature.
    #[getter]
    fn entity_hierarchy(&self) -> Table {
        self.table(Which::EntityHierarchy)
    }

    /// Returns the profile of states: type, value, count, inclusive, exclusive, share, min, mean,
    /// median, p95, max, containers, imbalance, as in pj_profile states. Covers only rows selected
    /// by start, end, types and containers of read().
    ///
    /// by: group rows by "value", "container", or containers of the type with this name
    #[pyo3(signature = (*, by="value"))]
    fn profile(&self, py: Python<'_>, by: &str) -> PyResult<Analysis> {
        analysis::analysis(self, py, Asked::States(asked::by(by)))
    }

    /// Returns the communication matrix: type, value, from, to, count, bytes, min, mean, max,
    /// first, last.
    ///
    /// level: group by containers of the type with this name
    /// bytes: user-defined field with a link's bytes; needs read(..., user_defined=True)
    #[pyo3(signature = (*, level=None, bytes=None))]
    fn comm(
        &self,
        py: Python<'_>,
        level: Option<String>,
        bytes: Option<String>,
    ) -> PyResult<Analysis> {
        analysis::analysis(self, py, Asked::Comm { level, bytes })
    }

    /// Returns states over time in bins of equal width: bin, start, end, container, type, value,
    /// seconds.
    ///
    /// bins: number of bins, from 1 to 1000000
    /// by: group rows by "container", "value", or containers of the type with this name
    /// inclusive: count nested states too, not only the innermost
    /// classes: group by class, such as compute or barrier, instead of value; map as for waits()
    #[pyo3(signature = (*, bins=60, by="container", inclusive=false, classes=false, map=None))]
    fn time(
        &self,
        py: Python<'_>,
        bins: u32,
        by: &str,
        inclusive: bool,
        classes: bool,
        map: Option<&str>,
    ) -> PyResult<Analysis> {
        if !(1..=1_000_000).contains(&bins) {
            let message = format!("bins must be from 1 to 1000000, not {bins}");
            return Err(PyValueError::new_err(message));
        }
        let (by, map) = (asked::by(by), analysis::map(map)?);
        analysis::analysis(self, py, Asked::Time { by, bins, inclusive, classes, map })
    }

    /// Returns wait states. The first columns are kind, container, or waiter and whom. The others
    /// are count, seconds, share, mean, max and more, as in pj_profile waits.
    ///
    /// by: group rows by "kind", "waiter" or "pair"
    /// map: "mpi", "starpu", or the text of a map in TOML (default: the better match)
    /// group: containers below the same container of this type form a communicator (default: same
    ///     parent)
    /// root: name of the container that is root of rooted collectives
    /// eager: rendezvous threshold in bytes (0: every message)
    /// bytes: as for comm()
    #[pyo3(signature = (*, by="kind", map=None, group=None, root=None, eager=None, bytes=None))]
    #[allow(clippy::too_many_arguments)] // Python passes them by keyword.
    fn waits(
        &self,
        py: Python<'_>,
        by: &str,
        map: Option<&str>,
        group: Option<String>,
        root: Option<String>,
        eager: Option<u64>,
        bytes: Option<String>,
    ) -> PyResult<Analysis> {
        let by = match analysis::one_of("by", by, &["kind", "waiter", "pair"])? {
            "kind" => WaitsBy::Kind,
            "waiter" => WaitsBy::Waiter,
            _ => WaitsBy::Pair,
        };
        let about = About { map: analysis::map(map)?, group, root, eager, bytes };
        analysis::analysis(self, py, Asked::Waits(by, about))
    }

    /// Returns the profile of the critical path: type, value, container, seconds, share. When
    /// grouped by value, it also has the imbalance and the cost of the imbalance.
    ///
    /// by: group rows by "container" or "value"; other keywords as for waits()
    #[pyo3(signature = (*, by="container", map=None, group=None, root=None, eager=None, bytes=None))]
    #[allow(clippy::too_many_arguments)] // Python passes them by keyword.
    fn critical_path(
        &self,
        py: Python<'_>,
        by: &str,
        map: Option<&str>,
        group: Option<String>,
        root: Option<String>,
        eager: Option<u64>,
        bytes: Option<String>,
    ) -> PyResult<Analysis> {
        let by_value = analysis::one_of("by", by, &["container", "value"])? == "value";
        let about = About { map: analysis::map(map)?, group, root, eager, bytes };
        analysis::analysis(self, py, Asked::Critical { by_value, about })
    }

    /// Returns the profile or communication of the rows that begin in a part of the trace.
    fn _part<'py>(
        &self,
        py: Python<'py>,
        report: &str,
        by: Option<&str>,
        bytes: Option<String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        analysis::part(self, py, &analysis::divisible(report, by, bytes)?)
    }

    /// Returns the report whose parts these are.
    fn _whole(
        &self,
        py: Python<'_>,
        report: &str,
        by: Option<&str>,
        parts: Vec<PyBackedBytes>,
    ) -> PyResult<Analysis> {
        analysis::whole(self, py, &analysis::divisible(report, by, None)?, &parts)
    }

    /// End of the trace in seconds: its latest time, or stop_at.
    #[getter]
    fn end(&self) -> f64 {
        self.kept.trace.end()
    }

    /// Numbers of containers (without the root), states, variables, events and links, as a dict.
    /// Counts rows selected by natures, types and containers, regardless of start and end. If only a
    /// part of a packed trace was read, counts the rows of this part.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = self.kept.trace.counts();
        let dict = PyDict::new(py);
        dict.set_item("containers", counts.containers)?;
        dict.set_item("states", counts.states)?;
        dict.set_item("variables", counts.variables)?;
        dict.set_item("events", counts.events)?;
        dict.set_item("links", counts.links)?;
        Ok(dict)
    }

    /// Metadata as a dict: source, lines, bytes (of text), bytes_read (of the file), event_lines, time_unit (and its reason),
    /// threads, seconds (of the replay), version (of pajereplay).
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let trace = &self.kept.trace;
        let dict = PyDict::new(py);
        dict.set_item("source", self.name.display().to_string())?;
        dict.set_item("lines", trace.lines())?;
        dict.set_item("bytes", trace.bytes())?;
        dict.set_item("bytes_read", self.read)?;
        dict.set_item("event_lines", trace.event_lines())?;
        dict.set_item("time_unit", trace.time_scale().to_string())?;
        dict.set_item("threads", self.threads)?;
        dict.set_item("seconds", trace.times().wall.as_secs_f64())?;
        dict.set_item("version", env!("CARGO_PKG_VERSION"))?;
        Ok(dict)
    }

    /// Warnings as a list of Problem, one for each kind and event definition.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let warnings = warnings(&self.kept.trace, &self.name);
        warnings.iter().map(|warning| problem(py, warning)).collect()
    }

    /// Problems that recover=True skipped or repaired, as a list of Problem, one for each kind.
    #[getter]
    fn recovered<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let recovered = recovered(&self.kept.trace, &self.name, &PYTHON);
        recovered.iter().map(|recovered| problem(py, recovered)).collect()
    }

    /// The first states that were open where recover=True cut off the trace, as tuples of
    /// container, type and value.
    #[getter]
    fn open_states(&self) -> Vec<(String, String, String)> {
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let open = self.kept.trace.recovered().open_states.iter();
        open.map(|OpenState { container, type_, value, .. }| {
            (text(container), text(type_), text(value))
        })
        .collect()
    }

    /// Frees the rows of all tables. They are made again when needed. Objects that share them
    /// remain valid.
    fn release(&self, py: Python<'_>) {
        py.detach(|| Which::ALL.into_iter().for_each(|which| self.kept.release(which)));
    }

    /// Returns the number of rows of each table, as text.
    fn __str__(slf: &Bound<'_, Self>) -> PyResult<String> {
        preview(slf, "trace_text")
    }

    /// Returns the number of rows of each table, as HTML for notebooks.
    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        preview(slf, "trace_html")
    }

    fn __repr__(&self) -> String {
        let counts = self.kept.trace.counts();
        format!(
            "<pajereplay.Trace {}: {} containers, {} states, {} variables, {} events, {} links, end {} s>",
            self.name.display(),
            counts.containers,
            counts.states,
            counts.variables,
            counts.events,
            counts.links,
            self.kept.trace.end()
        )
    }
}

fn problem<'py>(py: Python<'py>, problem: &Problem) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    fields.set_item("severity", problem.severity)?;
    fields.set_item("code", problem.code)?;
    fields.set_item("message", &problem.message)?;
    fields.set_item("file", problem.file.as_os_str())?;
    fields.set_item("line", problem.line)?;
    fields.set_item("column", problem.column)?;
    fields.set_item("count", problem.count)?;
    fields.set_item("remedy", problem.remedy)?;
    fields.set_item("excerpt", problem.excerpt.as_deref())?;
    record(&fields)
}

pub(crate) fn record<'py>(fields: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    let class = fields.py().import("pajereplay._records")?.getattr("Problem")?;
    class.call((), Some(fields))
}
