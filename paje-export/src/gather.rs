//! Rows of lanes, gathered in the columns of a batch.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, Float64Array, Int32Array};
use paje_parser::Field;
use paje_sim::{
    Annotations, ContainerId, Events, LaneView, Links, Name, Side, States, Trace, TypeNature,
    Variables, Visitor,
};

use crate::batches::Part;
use crate::extras::Gathered;
use crate::lines::GatheredLines;
use crate::names::{Names, spelled};
use crate::table::Column;
use crate::tables::{TableOptions, Tables, Values};
use crate::{Error, Table};

/// The columns of a batch while they are gathered; which of them are filled depends on the table.
pub(crate) struct Gather<'a> {
    options: &'a TableOptions,
    containers: &'a Names,
    types: &'a Names,
    values: Option<&'a Values>,
    container: Vec<i32>,
    type_: Vec<i32>,
    start: Vec<f64>,
    end: Vec<f64>,
    number: Vec<f64>,
    imbrication: Vec<i32>,
    value: Vec<i32>,
    from: Vec<i32>,
    to: Vec<i32>,
    keys: StringBuilder,
    key_bytes: usize,
    /// Which rows of a slice are wanted; empty if all are.
    wanted: Vec<bool>,
    lines: GatheredLines<'a>,
    extras: Gathered<'a>,
}

impl<'a> Gather<'a> {
    fn new(tables: &'a Tables<'_>, table: Table, rows: usize) -> Result<Self, Error> {
        let values = match table.nature() {
            Some(nature @ (TypeNature::State | TypeNature::Event | TypeNature::Link)) => {
                Some(tables.values(nature)?)
            }
            _ => None,
        };
        let has = |column: Column| if table.columns().contains(&column) { rows } else { 0 };
        Ok(Gather {
            options: &tables.options,
            containers: tables.containers()?,
            types: tables.types()?,
            values,
            container: Vec::with_capacity(rows),
            type_: Vec::with_capacity(rows),
            start: Vec::with_capacity(rows),
            end: Vec::with_capacity(has(Column::End)),
            number: Vec::with_capacity(has(Column::Number)),
            imbrication: Vec::with_capacity(has(Column::Imbrication)),
            value: Vec::with_capacity(has(Column::Value)),
            from: Vec::with_capacity(has(Column::StartContainer)),
            to: Vec::with_capacity(has(Column::EndContainer)),
            keys: StringBuilder::with_capacity(has(Column::Key), 8 * has(Column::Key)),
            key_bytes: 0,
            wanted: Vec::new(),
            lines: GatheredLines::new(&tables.lines),
            extras: Gathered::new(tables.trace, tables.extras(table), tables.options.order),
        })
    }

    /// The columns of some containers.
    pub(crate) fn containers(
        tables: &Tables<'_>,
        some: &[ContainerId],
    ) -> Result<Vec<ArrayRef>, Error> {
        let trace = tables.trace;
        let containers = trace.containers();
        let mut gather = Gather::new(tables, Table::Container, some.len())?;
        for id in some {
            gather.container.push(gather.containers.code(containers.parent(*id).index()));
            gather.type_.push(gather.types.code(containers.type_of(*id).index()));
            gather.start.push(containers.start(*id));
            gather.end.push(containers.end(*id));
            gather.from.push(gather.containers.code(id.index()));
            gather.lines.row(trace.container_line(*id));
            let fields = trace.container_event(*id).into_iter();
            gather.extras.row(fields.map(|fields| (Side::Opening, fields)));
        }
        gather.finish(Table::Container)
    }

    /// The columns of some parts of lanes.
    pub(crate) fn lanes(
        tables: &Tables<'_>,
        table: Table,
        parts: &[Part<'_>],
    ) -> Result<Vec<ArrayRef>, Error> {
        let rows = if tables.options.selection.window.is_always() {
            parts.iter().map(|part| part.rows).sum()
        } else {
            0
        };
        let mut gather = Gather::new(tables, table, rows)?;
        for part in parts {
            part.lane.visit_chunks(part.chunks.clone(), &mut gather)?;
        }
        tables.trace.relieve();
        gather.finish(table)
    }

    /// The columns in the order of [`Table::columns`].
    fn finish(mut self, table: Table) -> Result<Vec<ArrayRef>, Error> {
        let (lines, extras) = (self.lines.finish()?, self.extras.finish()?);
        let containers = |codes| self.containers.array(codes);
        let types = self.types.array(self.type_);
        let values = |codes| self.values.map_or(self.types, |values| &values.names).array(codes);
        let floats = |floats: Vec<f64>| Arc::new(Float64Array::from(floats)) as ArrayRef;
        let container = containers(self.container)?;
        let (start, end) = (floats(self.start), floats(self.end));
        let columns = match table {
            Table::Container => vec![container, types?, start, end, containers(self.from)?],
            Table::State => {
                let imbrication = Arc::new(Int32Array::from(self.imbrication));
                vec![container, types?, start, end, imbrication, values(self.value)?]
            }
            Table::Variable => vec![container, types?, start, end, floats(self.number)],
            Table::Event => vec![container, types?, start, values(self.value)?],
            Table::Link => {
                let (from, to) = (containers(self.from)?, containers(self.to)?);
                let keys = Arc::new(self.keys.finish());
                vec![container, types?, start, end, values(self.value)?, from, to, keys]
            }
            // They are no rows of lanes.
            Table::TypeHierarchy | Table::EntityHierarchy => Vec::new(),
        };
        Ok(columns.into_iter().chain(lines).chain(extras).collect())
    }

    /// The lines and the user-defined fields of a slice's rows.
    fn user_defined(&mut self, rows: usize, fields: &Annotations<'_>) {
        if fields.is_kept() {
            let wanted = (0..rows).filter(|i| self.wanted.is_empty() || self.wanted[*i]);
            wanted.for_each(|i| {
                self.lines.row(fields.line(i));
                self.extras.row(fields.events_of(i));
            });
        }
    }

    /// Adds what all rows of a slice have: where they are, and when they started.
    fn begin(&mut self, lane: LaneView<'_>, start: &[f64], end: impl Fn(usize) -> f64) {
        let before = self.start.len();
        let window = self.options.selection.window;
        self.wanted.clear();
        if window.is_always() {
            self.start.extend_from_slice(start);
        } else {
            let both = start.iter().enumerate();
            let wanted = both.map(|(i, start)| window.overlaps(*start, end(i)));
            self.wanted.extend(wanted);
            let wanted = start.iter().zip(&self.wanted).filter(|(_, wanted)| **wanted);
            self.start.extend(wanted.map(|(start, _)| start));
        }
        let rows = self.start.len() - before;
        let container = self.containers.code(lane.container().index());
        self.container.extend(std::iter::repeat_n(container, rows));
        let type_ = self.types.code(lane.type_id().index());
        self.type_.extend(std::iter::repeat_n(type_, rows));
    }
}

/// Copies what is wanted of a slice's column; all of it, if nothing is said of what is wanted.
fn copy<T>(wanted: &[bool], column: &mut Vec<T>, slice: impl Iterator<Item = T>) {
    match wanted {
        [] => column.extend(slice),
        wanted => {
            let both = slice.zip(wanted).filter(|(_, wanted)| **wanted);
            column.extend(both.map(|(item, _)| item));
        }
    }
}

impl Visitor for Gather<'_> {
    type Error = Error;

    fn container(&mut self, _: &Trace, _: ContainerId) -> Result<(), Error> {
        Ok(())
    }

    fn states(&mut self, lane: LaneView<'_>, states: States<'_>) -> Result<(), Error> {
        self.begin(lane, states.start, |i| states.end[i]);
        let wanted = &self.wanted[..];
        copy(wanted, &mut self.end, states.end.iter().copied());
        // No stack has billions of states.
        copy(wanted, &mut self.imbrication, states.imbrication.iter().map(|level| *level as i32));
        if let Some(codes) = self.values.map(|values| values.codes(lane)) {
            copy(wanted, &mut self.value, states.value.iter().map(|value| codes[value.index()]));
        }
        self.user_defined(states.start.len(), &states.user_defined);
        Ok(())
    }

    fn variables(&mut self, lane: LaneView<'_>, variables: Variables<'_>) -> Result<(), Error> {
        self.begin(lane, variables.start, |i| variables.end(i));
        let ends = variables.start.iter().skip(1).copied().chain([variables.last_end]);
        copy(&self.wanted, &mut self.end, ends);
        copy(&self.wanted, &mut self.number, variables.value.iter().copied());
        self.user_defined(variables.start.len(), &variables.user_defined);
        Ok(())
    }

    fn events(&mut self, lane: LaneView<'_>, events: Events<'_>) -> Result<(), Error> {
        self.begin(lane, events.time, |i| events.time[i]);
        if let Some(codes) = self.values.map(|values| values.codes(lane)) {
            let values = events.value.iter().map(|value| codes[value.index()]);
            copy(&self.wanted, &mut self.value, values);
        }
        self.user_defined(events.time.len(), &events.user_defined);
        Ok(())
    }

    fn links(&mut self, lane: LaneView<'_>, links: Links<'_>) -> Result<(), Error> {
        self.begin(lane, links.start, |i| links.end[i]);
        let wanted = &self.wanted[..];
        let containers = self.containers;
        copy(wanted, &mut self.end, links.end.iter().copied());
        copy(wanted, &mut self.from, links.from.iter().map(|id| containers.code(id.index())));
        copy(wanted, &mut self.to, links.to.iter().map(|id| containers.code(id.index())));
        if let Some(codes) = self.values.map(|values| values.codes(lane)) {
            copy(wanted, &mut self.value, links.value.iter().map(|value| codes[value.index()]));
        }
        for i in 0..links.start.len() {
            if !wanted.is_empty() && !wanted[i] {
                continue;
            }
            let key = spelled(Name::from(Field::new(links.raw_key(i))), self.options.order);
            self.key_bytes += key.len();
            if self.key_bytes > i32::MAX as usize {
                return Err(Error::TooMuchText(Column::Key.name()));
            }
            self.keys.append_value(key);
        }
        self.user_defined(links.start.len(), &links.user_defined);
        Ok(())
    }
}
