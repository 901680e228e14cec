use std::convert::Infallible;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use paje_sim::{ContainerId, Events, LaneView, Links, States, Step, Variables, Visitor};
use rustc_hash::FxHashMap;

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
                Cuts::Lanes(cut(chunks(lanes(tables, table))))
            }
        };
        Batches { tables, table, schema: tables.schema(table), cuts, begins: None }
    }

    /// Returns one table for each pair of adjacent times. Its rows begin at the first time or
    /// later, and before the second.
    pub(crate) fn between(tables: &'a Tables<'t>, table: Table, borders: &[f64]) -> Vec<Self> {
        let ranges = borders.windows(2).map(|pair| pair[0]..pair[1]);
        let mut parts = vec![Vec::new(); ranges.len()];
        // A table only reads the chunks that have some of its rows.
        for (lane, chunk, _) in chunks(lanes(tables, table)) {
            let mut begun = Beginnings { borders, rows: vec![0; parts.len()] };
            let Ok(()) = lane.visit_chunks(chunk..chunk + 1, &mut begun);
            for (part, rows) in parts.iter_mut().zip(begun.rows).filter(|(_, rows)| *rows > 0) {
                part.push((lane, chunk, rows));
            }
        }
        let schema = tables.schema(table);
        let parts = parts.into_iter().zip(ranges).map(|(chunks, begins)| Batches {
            tables,
            table,
            schema: SchemaRef::clone(&schema),
            cuts: Cuts::Lanes(cut(chunks.into_iter())),
            begins: Some(begins),
        });
        parts.collect()
    }

    /// Returns one table for each container with rows, in output order.
    pub(crate) fn by_container(tables: &'a Tables<'t>, table: Table) -> Vec<(ContainerId, Self)> {
        let (mut numbers, mut all) = (FxHashMap::default(), Vec::new());
        for lane in lanes(tables, table).filter(|lane| !lane.is_empty()) {
            let id = lane.container();
            let number = *numbers.entry(id).or_insert(all.len());
            if number == all.len() {
                all.push((id, Vec::new()));
            }
            all[number].1.push(lane);
        }
        let schema = tables.schema(table);
        let parts = all.into_iter().map(|(id, lanes)| {
            let cuts = Cuts::Lanes(cut(chunks(lanes.into_iter())));
            let schema = SchemaRef::clone(&schema);
            (id, Batches { tables, table, schema, cuts, begins: None })
        });
        parts.collect()
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
            Cuts::Lanes(batches) if self.tables.options.selection.window.is_always() => {
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

/// Returns the chunks of lanes, with their numbers and numbers of rows.
fn chunks<'t>(
    lanes: impl Iterator<Item = LaneView<'t>>,
) -> impl Iterator<Item = (LaneView<'t>, usize, usize)> {
    lanes.flat_map(|lane| {
        lane.chunks_from(0).enumerate().map(move |(chunk, rows)| (lane, chunk, rows))
    })
}

/// Groups chunks into batches.
fn cut<'t>(chunks: impl Iterator<Item = (LaneView<'t>, usize, usize)>) -> Vec<Vec<Part<'t>>> {
    let (mut batches, mut rows) = (Vec::new(), ROWS);
    for (lane, chunk, count) in chunks {
        if rows >= ROWS {
            batches.push(Vec::<Part<'t>>::new());
            rows = 0;
        }
        rows += count;
        let Some(batch) = batches.last_mut() else { continue };
        let is_same =
            |it: LaneView<'_>| (it.container(), it.type_id()) == (lane.container(), lane.type_id());
        match batch.last_mut() {
            Some(part) if part.chunks.end == chunk && is_same(part.lane) => {
                part.chunks.end += 1;
                part.rows += count;
            }
            _ => batch.push(Part { lane, chunks: chunk..chunk + 1, rows: count }),
        }
    }
    batches
}

/// Counts the rows that begin in each of some ranges of time, which follow one another.
struct Beginnings<'b> {
    borders: &'b [f64],
    rows: Vec<usize>,
}

impl Beginnings<'_> {
    fn add(&mut self, times: &[f64]) {
        for time in times {
            let number = self.borders.partition_point(|border| border <= time);
            if let Some(rows) = number.checked_sub(1).and_then(|number| self.rows.get_mut(number)) {
                *rows += 1;
            }
        }
    }
}

impl Visitor for Beginnings<'_> {
    type Error = Infallible;

    fn states(&mut self, _: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        self.add(states.start);
        Ok(())
    }

    fn variables(&mut self, _: LaneView<'_>, variables: Variables<'_>) -> Result<(), Infallible> {
        self.add(variables.start);
        Ok(())
    }

    fn events(&mut self, _: LaneView<'_>, events: Events<'_>) -> Result<(), Infallible> {
        self.add(events.time);
        Ok(())
    }

    fn links(&mut self, _: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        self.add(links.start);
        Ok(())
    }
}
