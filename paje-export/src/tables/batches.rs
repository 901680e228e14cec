use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use paje_sim::{ContainerId, LaneView, Step};

use crate::tables::Tables;
use crate::tables::extras::{Survey, Surveyor};
use crate::tables::gather::Gather;
use crate::tables::hierarchy;
use crate::tables::table::Column;
use crate::tables::{Error, Table};

/// Approximate number of rows of a batch. It makes the cost per batch negligible, but leaves enough
/// batches for all workers.
const ROWS: usize = 1 << 18;

/// Batches of a table.
#[derive(Debug)]
pub struct Batches<'a, 't> {
    tables: &'a Tables<'t>,
    table: Table,
    schema: SchemaRef,
    cuts: Cuts<'t>,
    /// Only rows that begin at one of these times are read.
    begins: Option<Range<f64>>,
}

#[derive(Debug)]
enum Cuts<'t> {
    Containers(Vec<ContainerId>),
    Lanes(Vec<Vec<Part<'t>>>),
    Whole,
}

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
                Cuts::Lanes(cut(lanes(tables, table)))
            }
        };
        Batches { tables, table, schema: tables.schema(table), cuts, begins: None }
    }

    /// Keeps only the rows in this container. The containers inside it have their own rows.
    #[must_use]
    pub fn in_container(mut self, id: ContainerId) -> Self {
        if let Cuts::Lanes(batches) = &mut self.cuts {
            let own = lanes(self.tables, self.table).filter(|lane| lane.container() == id);
            *batches = cut(own);
        }
        self
    }

    /// Keeps only the rows that begin in this range.
    #[must_use]
    pub fn beginning_in(mut self, times: Range<f64>) -> Self {
        self.begins = Some(times);
        self
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

    /// Returns the number of rows of a batch. Returns `None` if rows are selected by time, and for
    /// hierarchies, because the number is unknown before reading.
    ///
    /// # Panics
    /// The batch does not exist.
    #[must_use]
    pub fn rows(&self, number: usize) -> Option<usize> {
        match &self.cuts {
            Cuts::Containers(containers) => Some((containers.len() - number * ROWS).min(ROWS)),
            Cuts::Lanes(batches)
                if self.tables.options.selection.window.is_always() && self.begins.is_none() =>
            {
                Some(batches[number].iter().map(|part| part.rows).sum())
            }
            Cuts::Lanes(_) | Cuts::Whole => None,
        }
    }

    /// Estimates the work for all batches in rows. Links have the most columns and count twice.
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

    /// Reads a batch. If rows are selected by time, the batch may be empty.
    ///
    /// # Errors
    /// The batch's strings exceed Arrow's offsets.
    ///
    /// # Panics
    /// The batch does not exist.
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
        let batch = RecordBatch::try_new(SchemaRef::clone(&self.schema), columns)?;
        let Some(begins) = &self.begins else { return Ok(batch) };
        let times = [Column::Start, Column::Time].map(|column| batch.column_by_name(column.name()));
        let Some(times) = times.into_iter().flatten().next() else { return Ok(batch) };
        let times = times.as_primitive::<Float64Type>().values();
        let wanted: BooleanArray = times.iter().map(|time| Some(begins.contains(time))).collect();
        Ok(filter_record_batch(&batch, &wanted)?)
    }
}

fn containers(tables: &Tables<'_>) -> impl Iterator<Item = ContainerId> {
    tables.steps.iter().filter_map(|step| match step {
        Step::Container(id) => Some(*id),
        Step::Type(..) => None,
    })
}

pub(crate) fn lanes<'t>(tables: &Tables<'t>, table: Table) -> impl Iterator<Item = LaneView<'t>> {
    let trace = tables.trace;
    tables.steps.iter().filter_map(move |step| match step {
        Step::Type(container, type_) if Some(trace.types().nature(*type_)) == table.nature() => {
            trace.lane(*container, *type_)
        }
        _ => None,
    })
}

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

fn cut<'t>(lanes: impl Iterator<Item = LaneView<'t>>) -> Vec<Vec<Part<'t>>> {
    let mut batches = Vec::new();
    let mut batch: Vec<Part<'t>> = Vec::new();
    let mut rows = 0;
    for lane in lanes {
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
