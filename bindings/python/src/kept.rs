//! A replayed trace and its cached tables.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::filter::filter_record_batch;
use paje_analysis::kept::Lanes;
use paje_bindings::Keywords;
use paje_export::{Error, Table, TableOptions, Tables};
use paje_sim::Trace;
use paje_workers::Workers;
use pyo3::prelude::*;

use crate::job::{self, Caller};
use crate::{durations, errors};

pub(crate) type Rows = Arc<Vec<RecordBatch>>;

/// What was read, if it is not the whole trace, and limits of analyses.
#[derive(Default)]
pub(crate) struct Part {
    /// Lanes with states in the whole trace, if only a window was read.
    pub(crate) lanes: Option<Lanes>,
    /// Only rows that begin in this range are shown.
    pub(crate) begins: Option<Range<f64>>,
    /// Keywords and path to read the whole trace, if that is possible.
    pub(crate) again: Option<(Keywords, PathBuf)>,
    /// Memory for analyses beside the rows, in bytes.
    pub(crate) memory_limit: Option<u64>,
}

pub(crate) struct Kept {
    pub(crate) trace: Trace,
    pub(crate) options: TableOptions,
    pub(crate) part: Part,
    durations: bool,
    workers: Mutex<Workers>,
    places: [Place; Table::ALL.len()],
}

#[derive(Default)]
struct Place {
    schema: OnceLock<SchemaRef>,
    rows: Mutex<Option<Rows>>,
}

impl Kept {
    pub(crate) fn new(
        trace: Trace,
        options: TableOptions,
        durations: bool,
        workers: Workers,
        part: Part,
    ) -> Self {
        let workers = Mutex::new(workers);
        Kept { trace, options, part, durations, workers, places: Default::default() }
    }

    pub(crate) fn schema(&self, table: Table) -> &SchemaRef {
        let make = || {
            let schema = Tables::new(&self.trace, self.options.clone()).schema(table);
            if self.durations { durations::schema_with(&schema) } else { schema }
        };
        self.places[table as usize].schema.get_or_init(make)
    }

    /// Returns the rows of a table if they are cached. Does not block.
    pub(crate) fn made(&self, table: Table) -> Option<Rows> {
        let place = self.places[table as usize].rows.try_lock();
        place.ok().and_then(|rows| rows.clone())
    }

    pub(crate) fn release(&self, table: Table) {
        lock(&self.places[table as usize].rows).take();
    }

    /// Returns the rows of a table. Makes them if they are not cached.
    pub(crate) fn rows(self: &Arc<Self>, py: Python<'_>, table: Table) -> PyResult<Rows> {
        if let Some(rows) = self.made(table) {
            return Ok(rows);
        }
        let mut stop = Stop(Arc::default());
        let (kept, stopped) = (Arc::clone(self), Arc::clone(&stop.0));
        let rows = job::run(py, &mut stop, move |_| kept.make(table, &stopped))?;
        rows.map_err(|error| errors::of_table(py, &error))
    }

    pub(crate) fn with_workers<T: Send>(&self, work: impl FnOnce(&Workers) -> T + Send) -> T {
        let workers = lock(&self.workers);
        workers.run(|| work(&workers))
    }

    /// Makes a table. If `stopped` is set, some batches may be missing, and nothing is cached.
    fn make(&self, table: Table, stopped: &AtomicBool) -> Result<Rows, Error> {
        let mut place = lock(&self.places[table as usize].rows);
        if let Some(rows) = &*place {
            return Ok(Arc::clone(rows));
        }
        let tables = Tables::new(&self.trace, self.options.clone());
        let batches = tables.batches(table);
        let schema = self.schema(table);
        let read = |number| {
            let mut batch = batches.read(number)?;
            if let Some(begins) = &self.part.begins {
                batch = beginning_in(batch, begins)?;
            }
            match self.durations {
                true => Ok(durations::rows_with(batch, schema)?),
                false => Ok(batch),
            }
        };
        let is_wanted = || !stopped.load(Ordering::Relaxed);
        let made = self.with_workers(|workers| {
            workers.map(batches.len(), |number| is_wanted().then(|| read(number)))
        });
        let rows = made.into_iter().flatten();
        let rows = Arc::new(rows.collect::<Result<Vec<_>, Error>>()?);
        if is_wanted() {
            *place = Some(Arc::clone(&rows));
        }
        Ok(rows)
    }
}

/// Returns the rows that begin in a range. Hierarchies have no times, and are in all ranges.
fn beginning_in(batch: RecordBatch, begins: &Range<f64>) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema_ref();
    let Ok(column) = schema.index_of("Start").or_else(|_| schema.index_of("Time")) else {
        return Ok(batch);
    };
    let times = batch.column(column).as_primitive::<Float64Type>().values();
    let wanted: BooleanArray = times.iter().map(|time| Some(begins.contains(time))).collect();
    filter_record_batch(&batch, &wanted)
}

pub(crate) struct Stop(pub(crate) Arc<AtomicBool>);

impl Caller for Stop {
    fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
