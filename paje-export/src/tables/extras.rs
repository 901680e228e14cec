//! User-defined fields as columns.
//!
//! A field of the event that opens a row, or that starts a link, becomes a column with its name. A
//! field of the closing event becomes a column with the prefix `End`. The column has the declared
//! type if all definitions agree and all texts parse. Otherwise it is text. Missing and empty
//! fields and `NA` are null.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{ArrayBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_schema::{DataType, Field};
use paje_parser::Field as Word;
use paje_parser::definition::FieldType;
use paje_parser::event::EventKind;
use paje_parser::number::parse_f64;
use paje_sim::{
    Annotations, ContainerId, EventFields, Events, LaneView, Links, NameOrder, Side, States, Trace,
    Variables, Visitor,
};

use crate::tables::names::text;
use crate::tables::{Error, Table};

#[derive(Debug, Default)]
pub(crate) struct Extras {
    pub(crate) fields: Vec<Arc<Field>>,
    columns: HashMap<(Side, usize), Vec<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    Float,
    Text,
}

impl Kind {
    fn of(declared: FieldType) -> Self {
        match declared {
            FieldType::Int => Kind::Integer,
            FieldType::Date | FieldType::Double | FieldType::Float => Kind::Float,
            FieldType::Hex | FieldType::String | FieldType::Color => Kind::Text,
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Kind::Integer => DataType::Int64,
            Kind::Float => DataType::Float64,
            Kind::Text => DataType::Utf8,
        }
    }

    fn reads(self, text: &[u8]) -> bool {
        match self {
            Kind::Integer => integer(text).is_some(),
            Kind::Float => parse_f64(text).is_some(),
            Kind::Text => true,
        }
    }
}

fn integer(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn is_nothing(text: &[u8]) -> bool {
    text.is_empty() || text == b"NA"
}

/// Returns the side of a row that has a field. For links, the kind of event decides, because either
/// end may come first.
fn side(trace: &Trace, place: Side, fields: EventFields<'_>) -> Side {
    match trace.defs()[fields.def()].kind() {
        EventKind::StartLink => Side::Opening,
        EventKind::EndLink => Side::Closing,
        _ => place,
    }
}

/// For each side and definition, whether each user-defined field can be parsed in all rows.
#[derive(Debug, Default)]
pub(crate) struct Survey(BTreeMap<(Side, usize), Vec<bool>>);

impl Survey {
    fn see(&mut self, trace: &Trace, place: Side, fields: EventFields<'_>) {
        let key = (side(trace, place, fields), fields.def());
        let def = &trace.defs()[fields.def()];
        let reads = self.0.entry(key).or_insert_with(|| vec![true; def.extras().count()]);
        for (reads, ((_, word), raw)) in reads.iter_mut().zip(def.extras().zip(fields.texts())) {
            let text = Word::new(raw).bare();
            *reads &= is_nothing(text) || Kind::of(def.fields()[word - 1].kind).reads(text);
        }
    }

    pub(crate) fn see_container(&mut self, trace: &Trace, id: ContainerId) {
        if let Some(fields) = trace.container_event(id) {
            self.see(trace, Side::Opening, fields);
        }
    }

    pub(crate) fn columns(self, trace: &Trace, table: Table) -> Extras {
        let mut extras = Extras::default();
        let mut names: Vec<(String, Kind)> = Vec::new();
        for ((side, def), reads) in self.0 {
            let fields = trace.defs()[def].extras().zip(reads);
            let columns = fields.map(|((name, word), reads)| {
                let declared = Kind::of(trace.defs()[def].fields()[word - 1].kind);
                let kind = if reads { declared } else { Kind::Text };
                let name = column_name(table, side, name);
                match names.iter_mut().position(|(known, _)| *known == name) {
                    Some(column) => {
                        if names[column].1 != kind {
                            names[column].1 = Kind::Text;
                        }
                        column
                    }
                    None => {
                        names.push((name, kind));
                        names.len() - 1
                    }
                }
            });
            let columns = columns.collect();
            extras.columns.insert((side, def), columns);
        }
        let field = |(name, kind): (String, Kind)| Field::new(name, kind.data_type(), true);
        extras.fields = names.into_iter().map(field).map(Arc::new).collect();
        extras
    }
}

/// Returns the column name of a user-defined field, with an underscore if the name is taken.
fn column_name(table: Table, side: Side, field: &str) -> String {
    let mut name = match side {
        Side::Opening => field.to_owned(),
        Side::Closing => format!("End{field}"),
    };
    let reserved = |name: &str| {
        matches!(name, "Duration" | "Line" | "File")
            || table.columns().iter().any(|column| column.name() == name)
    };
    while reserved(&name) {
        name.push('_');
    }
    name
}

pub(crate) struct Surveyor<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) survey: Survey,
}

impl Surveyor<'_> {
    fn see_all(&mut self, rows: usize, fields: &Annotations<'_>) -> Result<(), Infallible> {
        for (side, fields) in (0..rows).flat_map(|i| fields.events_of(i)) {
            self.survey.see(self.trace, side, fields);
        }
        Ok(())
    }
}

impl Visitor for Surveyor<'_> {
    type Error = Infallible;

    fn container(&mut self, _: &Trace, _: ContainerId) -> Result<(), Infallible> {
        Ok(())
    }

    fn states(&mut self, _: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        self.see_all(states.start.len(), &states.user_defined)
    }

    fn variables(&mut self, _: LaneView<'_>, variables: Variables<'_>) -> Result<(), Infallible> {
        self.see_all(variables.start.len(), &variables.user_defined)
    }

    fn events(&mut self, _: LaneView<'_>, events: Events<'_>) -> Result<(), Infallible> {
        self.see_all(events.time.len(), &events.user_defined)
    }

    fn links(&mut self, _: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        self.see_all(links.start.len(), &links.user_defined)
    }
}

pub(crate) struct Gathered<'a> {
    trace: &'a Trace,
    extras: &'a Extras,
    order: NameOrder,
    columns: Vec<Column>,
    rows: usize,
    bytes: usize,
}

enum Column {
    Integer(Int64Builder),
    Float(Float64Builder),
    Text(StringBuilder),
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(trace: &'a Trace, extras: &'a Extras, order: NameOrder) -> Self {
        let column = |field: &Arc<Field>| match field.data_type() {
            DataType::Int64 => Column::Integer(Int64Builder::new()),
            DataType::Float64 => Column::Float(Float64Builder::new()),
            _ => Column::Text(StringBuilder::new()),
        };
        let columns = extras.fields.iter().map(column).collect();
        Gathered { trace, extras, order, columns, rows: 0, bytes: 0 }
    }

    pub(crate) fn row<'t>(&mut self, events: impl Iterator<Item = (Side, EventFields<'t>)>) {
        if self.columns.is_empty() {
            return;
        }
        for (place, fields) in events {
            let key = (side(self.trace, place, fields), fields.def());
            let Some(columns) = self.extras.columns.get(&key) else { continue };
            for (column, raw) in columns.iter().zip(fields.texts()) {
                let said = Word::new(raw).bare();
                if is_nothing(said) {
                    continue;
                }
                let raw = if self.order == NameOrder::Raw { raw } else { said };
                self.bytes += self.columns[*column].put(self.rows, said, raw);
            }
        }
        self.rows += 1;
    }

    pub(crate) fn finish(self) -> Result<Vec<ArrayRef>, Error> {
        if self.bytes > i32::MAX as usize {
            return Err(Error::TooMuchText("of user-defined fields"));
        }
        let rows = self.rows;
        let array = |column: Column| match column {
            Column::Integer(mut column) => {
                column.append_nulls(rows - column.len());
                Arc::new(column.finish()) as ArrayRef
            }
            Column::Float(mut column) => {
                column.append_nulls(rows - column.len());
                Arc::new(column.finish())
            }
            Column::Text(mut column) => {
                column.append_nulls(rows - column.len());
                Arc::new(column.finish())
            }
        };
        Ok(self.columns.into_iter().map(array).collect())
    }
}

impl Column {
    /// Sets a row's text unless it is set, and fills gaps with nulls. Returns the text's size in
    /// bytes.
    fn put(&mut self, row: usize, said: &[u8], raw: &[u8]) -> usize {
        match self {
            Column::Integer(column) if column.len() <= row => {
                column.append_nulls(row - column.len());
                column.append_option(integer(said));
            }
            Column::Float(column) if column.len() <= row => {
                column.append_nulls(row - column.len());
                column.append_option(parse_f64(said));
            }
            Column::Text(column) if column.len() <= row => {
                column.append_nulls(row - column.len());
                // `finish` reports texts that are too long.
                let text = text(raw);
                if column.values_slice().len() + text.len() <= i32::MAX as usize {
                    column.append_value(&text);
                }
                return text.len();
            }
            _ => {}
        }
        0
    }
}
