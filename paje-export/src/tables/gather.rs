//! Gathers rows of lanes as columns.

use arrow_array::ArrayRef;
use paje_parser::Field;
use paje_sim::{
    Annotations, ContainerId, Events, LaneView, Links, Name, NameOrder, Side, States, Trace,
    Variables, Visitor,
};

use crate::tables::batches::Part;
use crate::tables::extras::Gathered;
use crate::tables::lines::GatheredLines;
use crate::tables::names::Names;
use crate::tables::rows::{Keys, Rows};
use crate::tables::{Error, Table};
use crate::tables::{TableOptions, Tables, Values};

pub(crate) struct Gather<'a> {
    options: &'a TableOptions,
    containers: &'a Names,
    types: &'a Names,
    values: Option<&'a Values>,
    rows: Rows,
    /// Whether each row of a slice is wanted. Empty if all rows are wanted.
    wanted: Vec<bool>,
    lines: GatheredLines<'a>,
    extras: Gathered<'a>,
}

impl<'a> Gather<'a> {
    pub(crate) fn new(tables: &'a Tables<'_>, table: Table, rows: usize) -> Result<Self, Error> {
        Ok(Gather {
            options: &tables.options,
            containers: tables.containers()?,
            types: tables.types()?,
            values: tables.values_of(table)?,
            rows: Rows::with_capacity(table, rows),
            wanted: Vec::new(),
            lines: GatheredLines::new(&tables.lines),
            extras: Gathered::new(tables.trace, tables.extras(table), tables.options.order),
        })
    }

    pub(crate) fn containers(&mut self, trace: &Trace, some: &[ContainerId]) {
        let containers = trace.containers();
        for id in some {
            self.rows.container.push(self.containers.code(containers.parent(*id).index()));
            self.rows.type_.push(self.types.code(containers.type_of(*id).index()));
            self.rows.start.push(containers.start(*id));
            self.rows.end.push(containers.end(*id));
            self.rows.from.push(self.containers.code(id.index()));
            self.lines.row(trace.container_line(*id));
            let fields = trace.container_event(*id).into_iter();
            self.extras.row(fields.map(|fields| (Side::Opening, fields)));
        }
    }

    pub(crate) fn lanes(&mut self, trace: &Trace, parts: &[Part<'_>]) -> Result<(), Error> {
        for part in parts {
            part.lane.visit_chunks(part.chunks.clone(), self)?;
        }
        trace.relieve();
        Ok(())
    }

    pub(crate) fn finish(self, table: Table) -> Result<Vec<ArrayRef>, Error> {
        let values = self.values.map_or(self.types, |values| &values.names);
        let mut columns = self.rows.arrays(table, self.containers, self.types, values)?;
        columns.extend(self.lines.finish()?);
        columns.extend(self.extras.finish()?);
        Ok(columns)
    }

    fn add(
        &mut self,
        lane: LaneView<'_>,
        start: &[f64],
        end: impl Fn(usize) -> f64,
        fields: &Annotations<'_>,
    ) {
        let before = self.rows.start.len();
        let window = self.options.selection.window;
        self.wanted.clear();
        if !window.is_always() {
            let wanted = start.iter().enumerate().map(|(i, start)| window.overlaps(*start, end(i)));
            self.wanted.extend(wanted);
        }
        copy(&self.wanted, &mut self.rows.start, start.iter().copied());
        let rows = self.rows.start.len() - before;
        let container = self.containers.code(lane.container().index());
        self.rows.container.extend(std::iter::repeat_n(container, rows));
        let type_ = self.types.code(lane.type_id().index());
        self.rows.type_.extend(std::iter::repeat_n(type_, rows));
        if fields.is_kept() {
            let wanted = &self.wanted;
            for i in (0..start.len()).filter(|i| wanted.is_empty() || wanted[*i]) {
                self.lines.row(fields.line(i));
                self.extras.row(fields.events_of(i));
            }
        }
    }
}

/// Copies the wanted rows of a column, or all if `wanted` is empty.
#[inline]
fn copy<T>(wanted: &[bool], column: &mut Vec<T>, slice: impl Iterator<Item = T>) {
    match wanted {
        [] => column.extend(slice),
        wanted => {
            let both = slice.zip(wanted).filter(|(_, wanted)| **wanted);
            column.extend(both.map(|(item, _)| item));
        }
    }
}

#[inline]
fn add_key(keys: &mut Keys, raw: &[u8], order: NameOrder) -> Result<(), Error> {
    let name = Name::from(Field::new(raw));
    match order {
        NameOrder::Bare => keys.add(name.text),
        NameOrder::Raw => {
            let mut raw = Vec::new();
            name.write_raw(&mut raw);
            keys.add(&raw)
        }
    }
}

impl Visitor for Gather<'_> {
    type Error = Error;

    fn states(&mut self, lane: LaneView<'_>, states: States<'_>) -> Result<(), Error> {
        self.add(lane, states.start, |i| states.end[i], &states.user_defined);
        let codes = self.values.map_or(&[][..], |values| values.codes(lane));
        let (rows, wanted) = (&mut self.rows, &self.wanted[..]);
        copy(wanted, &mut rows.end, states.end.iter().copied());
        // No stack has billions of states.
        copy(wanted, &mut rows.imbrication, states.imbrication.iter().map(|level| *level as i32));
        copy(wanted, &mut rows.value, states.value.iter().map(|value| codes[value.index()]));
        Ok(())
    }

    fn variables(&mut self, lane: LaneView<'_>, variables: Variables<'_>) -> Result<(), Error> {
        let start = variables.start;
        self.add(lane, start, |i| variables.end(i), &variables.user_defined);
        let (rows, wanted) = (&mut self.rows, &self.wanted[..]);
        // Each value lasts until the next one starts.
        let ends = start.iter().skip(1).copied();
        copy(wanted, &mut rows.end, ends.chain(std::iter::once(variables.last_end)));
        copy(wanted, &mut rows.number, variables.value.iter().copied());
        Ok(())
    }

    fn events(&mut self, lane: LaneView<'_>, events: Events<'_>) -> Result<(), Error> {
        self.add(lane, events.time, |i| events.time[i], &events.user_defined);
        let codes = self.values.map_or(&[][..], |values| values.codes(lane));
        let values = events.value.iter().map(|value| codes[value.index()]);
        copy(&self.wanted, &mut self.rows.value, values);
        Ok(())
    }

    fn links(&mut self, lane: LaneView<'_>, links: Links<'_>) -> Result<(), Error> {
        self.add(lane, links.start, |i| links.end[i], &links.user_defined);
        let codes = self.values.map_or(&[][..], |values| values.codes(lane));
        let (containers, order) = (self.containers, self.options.order);
        let (rows, wanted) = (&mut self.rows, &self.wanted[..]);
        copy(wanted, &mut rows.end, links.end.iter().copied());
        copy(wanted, &mut rows.from, links.from.iter().map(|id| containers.code(id.index())));
        copy(wanted, &mut rows.to, links.to.iter().map(|id| containers.code(id.index())));
        copy(wanted, &mut rows.value, links.value.iter().map(|value| codes[value.index()]));
        for i in (0..links.start.len()).filter(|i| wanted.is_empty() || wanted[*i]) {
            add_key(&mut rows.keys, links.raw_key(i), order)?;
        }
        Ok(())
    }
}
