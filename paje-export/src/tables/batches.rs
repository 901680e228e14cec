//! A table cut into batches.

use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use paje_sim::{ContainerId, LaneView, Step};

use crate::tables::Tables;
use crate::tables::extras::{Survey, Surveyor};
use crate::tables::gather::Gather;
use crate::tables::hierarchy;
use crate::tables::{Error, Table};

/// Rows of a batch, to within a chunk of a lane. Enough to make the cost per batch negligible, few enough to give all
/// workers some.
const ROWS: usize = 1 << 18;

/// Batches of a table.
#[derive(Debug)]
pub struct Batches<'a, 't> {
    tables: &'a Tables<'t>,
    table: Table,
    schema: SchemaRef,
    cuts: Cuts<'t>,
}

/// Contents of each batch.
#[derive(Debug)]
enum Cuts<'t> {
    Containers(Vec<ContainerId>),
    Lanes(Vec<Vec<Part<'t>>>),
    /// All of it is in one batch.
    Whole,
}

/// Some chunks of a lane, and the number of their rows.
#[derive(Clone, Debug)]
pub(crate) struct Part<'t> {
    pub(crate) lane: LaneView<'t>,
    pub(crate) chunks: Range<usize>,
    pub(crate) rows: usize,
}

impl<'a, 't> Batches<'a, 't> {
    pub(crate) fn new(tables: &'a Tables<'t>, table: Table) -> Self {
        let cuts = match table {
            Table::Container => Cuts::Containers(containers(tables).collect()),
            Table::TypeHierarchy | Table::EntityHierarchy => Cuts::Whole,
            Table::State | Table::Variable | Table::Event | Table::Link => {
                Cuts::Lanes(cut(tables, table))
            }
        };
        Batches { tables, table, schema: tables.schema(table), cuts }
    }

    /// Returns the table.
    #[must_use]
    pub fn table(&self) -> Table {
        self.table
    }

    /// Returns the columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the number of batches.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.cuts {
            Cuts::Containers(containers) => containers.len().div_ceil(ROWS),
            Cuts::Lanes(batches) => batches.len(),
            Cuts::Whole => 1,
        }
    }

    /// Returns whether there are no batches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of rows of a batch, unless it has to be made first: with a time window, and for
    /// hierarchies.
    ///
    /// # Panics
    /// There is no batch of this number.
    #[must_use]
    pub fn rows(&self, number: usize) -> Option<usize> {
        match &self.cuts {
            Cuts::Containers(containers) => Some((containers.len() - number * ROWS).min(ROWS)),
            Cuts::Lanes(batches) if self.tables.options.selection.window.is_always() => {
                Some(batches[number].iter().map(|part| part.rows).sum())
            }
            Cuts::Lanes(_) | Cuts::Whole => None,
        }
    }

    /// Estimates the work for all batches by their rows. Links count twice, since they have the most columns.
    pub(crate) fn work(&self) -> usize {
        match &self.cuts {
            Cuts::Containers(containers) => containers.len(),
            Cuts::Lanes(batches) => {
                let rows: usize = batches.iter().flatten().map(|part| part.rows).sum();
                if self.table == Table::Link { 2 * rows } else { rows }
            }
            Cuts::Whole if self.table == Table::EntityHierarchy => self.tables.steps.len(),
            Cuts::Whole => 0,
        }
    }

    /// Makes a batch. With a time window it may have no rows.
    ///
    /// # Errors
    /// Its strings exceed Arrow's offsets.
    ///
    /// # Panics
    /// There is no batch of this number.
    pub fn read(&self, number: usize) -> Result<RecordBatch, Error> {
        let (tables, table) = (self.tables, self.table);
        let gather = || Gather::new(tables, table, self.rows(number).unwrap_or(0));
        let columns = match &self.cuts {
            Cuts::Containers(containers) => {
                let from = number * ROWS;
                let some = &containers[from..(from + ROWS).min(containers.len())];
                let mut gather = gather()?;
                gather.containers(tables.trace, some);
                gather.finish(table)?
            }
            Cuts::Lanes(batches) => {
                let mut gather = gather()?;
                gather.lanes(tables.trace, &batches[number])?;
                gather.finish(table)?
            }
            Cuts::Whole => hierarchy::columns(tables, table)?,
        };
        Ok(RecordBatch::try_new(SchemaRef::clone(&self.schema), columns)?)
    }
}

/// Returns the selected containers.
fn containers(tables: &Tables<'_>) -> impl Iterator<Item = ContainerId> {
    tables.steps.iter().filter_map(|step| match step {
        Step::Container(id) => Some(*id),
        Step::Type(..) => None,
    })
}

/// Returns the selected lanes of a table.
fn lanes<'t>(tables: &Tables<'t>, table: Table) -> impl Iterator<Item = LaneView<'t>> {
    let trace = tables.trace;
    tables.steps.iter().filter_map(move |step| match step {
        Step::Type(container, type_) if Some(trace.types().nature(*type_)) == table.nature() => {
            trace.lane(*container, *type_)
        }
        _ => None,
    })
}

/// Finds the user-defined fields of a table's rows.
pub(crate) fn survey(tables: &Tables<'_>, table: Table) -> Survey {
    let trace = tables.trace;
    let mut surveyor = Surveyor { trace, survey: Survey::default() };
    if table == Table::Container {
        containers(tables).for_each(|id| surveyor.survey.see_container(trace, id));
    }
    for lane in lanes(tables, table) {
        let Ok(()) = lane.visit(&mut surveyor);
    }
    surveyor.survey
}

/// Cuts the lanes of a table's nature into batches.
fn cut<'t>(tables: &Tables<'t>, table: Table) -> Vec<Vec<Part<'t>>> {
    let mut batches = Vec::new();
    let mut batch: Vec<Part<'t>> = Vec::new();
    let mut rows = 0;
    for lane in lanes(tables, table) {
        let mut part = Part { lane, chunks: 0..0, rows: 0 };
        for count in lane.chunks_from(0) {
            part.chunks.end += 1;
            part.rows += count;
            rows += count;
            if rows >= ROWS {
                let next = Part { lane, chunks: part.chunks.end..part.chunks.end, rows: 0 };
                batch.push(std::mem::replace(&mut part, next));
                batches.push(std::mem::take(&mut batch));
                rows = 0;
            }
        }
        if part.rows > 0 {
            batch.push(part);
        }
    }
    if !batch.is_empty() {
        batches.push(batch);
    }
    batches
}
