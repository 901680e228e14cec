//! Row groups, made page by page while rows are gathered: no column of a batch is ever there as a whole.

use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

use super::chunk::Encoded;
use super::columns::{FloatsColumn, LevelsColumn, NamesColumn, TextsColumn};
use super::tools::{Stock, Tools};
use crate::names::Names;
use crate::rows::Rows;
use crate::table::Column;
use crate::{Batches, Error};

/// Rows of a page: what a reader of a window of time has to read at least.
pub(super) const PAGE_ROWS: usize = 20_000;

/// Room for a row group while it is made, which the next one uses again.
pub(super) struct Maker {
    rows: Rows,
    columns: Vec<(ColumnDescPtr, Kind)>,
}

enum Kind {
    Names(Column, NamesColumn),
    Floats(Column, FloatsColumn),
    Levels(LevelsColumn),
    Texts(TextsColumn),
}

/// The names that a column's codes are of.
fn names<'a>(batches: &Batches<'a, '_>, column: Column) -> Result<&'a Names, Error> {
    let tables = batches.tables();
    match column {
        Column::Type => tables.types(),
        Column::Value => {
            let values = tables.values_of(batches.table())?;
            values.map_or_else(|| tables.types(), |values| Ok(&values.names))
        }
        _ => tables.containers(),
    }
}

impl Maker {
    /// A maker of a table's row groups. Only tables of objects have such rows.
    pub(super) fn new(batches: &Batches<'_, '_>, schema: &SchemaDescriptor) -> Result<Self, Error> {
        let columns = batches.table().columns().iter().enumerate().map(|(place, column)| {
            let kind = match column {
                Column::Start | Column::End | Column::Time => {
                    Kind::Floats(*column, FloatsColumn::new(false))
                }
                Column::Number => Kind::Floats(*column, FloatsColumn::new(true)),
                Column::Imbrication => Kind::Levels(LevelsColumn::default()),
                Column::Key => Kind::Texts(TextsColumn::default()),
                _ => Kind::Names(*column, NamesColumn::new(names(batches, *column)?)),
            };
            Ok((schema.column(place), kind))
        });
        let columns = columns.collect::<Result<_, Error>>()?;
        Ok(Maker { rows: Rows::default(), columns })
    }

    /// The columns of a batch that all rows have, how many rows it has, and the other columns as Arrow's arrays.
    pub(super) fn make(
        &mut self,
        batches: &Batches<'_, '_>,
        number: usize,
        stock: &Stock,
    ) -> Result<Made, Error> {
        let columns = &mut self.columns;
        columns.iter_mut().for_each(|(_, kind)| kind.begin(stock.room()));
        let mut tools = stock.tools()?;
        let mut count = 0;
        let mut rows = std::mem::take(&mut self.rows);
        rows.reserve(batches.table(), PAGE_ROWS);
        let page = |rows: &mut Rows| {
            count += rows.len();
            for (_, kind) in columns.iter_mut() {
                kind.page(batches, rows, &mut tools)?;
            }
            rows.clear();
            Ok(())
        };
        let gathered = batches.gather(number, rows, PAGE_ROWS, page)?;
        let (rows, others) = gathered.unwrap_or_default();
        self.rows = rows;
        let made = self.columns.iter_mut().map(|(column, kind)| match kind {
            Kind::Names(which, names_column) => {
                names_column.finish(column, names(batches, *which)?, &mut tools)
            }
            Kind::Floats(_, floats) => floats.finish(column, &mut tools),
            Kind::Levels(levels) => levels.finish(column, &mut tools),
            Kind::Texts(texts) => texts.finish(column, &mut tools),
        });
        let columns = made.collect::<Result<_, Error>>()?;
        stock.give_tools(tools);
        Ok(Made { rows: count, columns, others })
    }
}

/// A row group, but for the columns that not all tables have.
pub(super) struct Made {
    pub(super) rows: usize,
    pub(super) columns: Vec<Encoded>,
    pub(super) others: Vec<arrow_array::ArrayRef>,
}

impl Kind {
    /// Begins a column, whose pages are going to be in this room.
    fn begin(&mut self, room: Vec<u8>) {
        match self {
            Kind::Names(_, column) => column.chunk.begin(room),
            Kind::Floats(_, column) => column.chunk.begin(room),
            Kind::Levels(column) => column.chunk.begin(room),
            Kind::Texts(column) => column.chunk.begin(room),
        }
    }

    /// Adds a page of these rows.
    fn page(
        &mut self,
        batches: &Batches<'_, '_>,
        rows: &mut Rows,
        tools: &mut Tools,
    ) -> Result<(), Error> {
        match self {
            Kind::Names(which, column) => {
                let names = names(batches, *which)?;
                match which {
                    Column::Container | Column::Parent => {
                        column.runs(rows.container.as_slice(), names, tools)
                    }
                    Column::Type => column.runs(rows.type_.as_slice(), names, tools),
                    Column::Value => column.codes(&rows.value, names, tools),
                    Column::EndContainer => column.codes(&rows.to, names, tools),
                    _ => column.codes(&rows.from, names, tools),
                }
            }
            Kind::Floats(which, column) => {
                let numbers = match which {
                    Column::End => &rows.end,
                    Column::Number => &rows.number,
                    _ => &rows.start,
                };
                column.page(numbers, tools)
            }
            Kind::Levels(column) => column.page(&rows.imbrication, tools),
            Kind::Texts(column) => {
                let (texts, ends) = rows.keys.texts()?;
                column.page(texts, ends, tools)
            }
        }
    }
}
