//! Rows of lanes, gathered as columns.

use std::ops::Range;

use arrow_array::ArrayRef;
use paje_parser::Field;
use paje_sim::{
    Annotations, ContainerId, Events, LaneView, Links, Name, NameOrder, Side, States, Trace,
    Variables, Visitor,
};

use crate::batches::Part;
use crate::extras::Gathered;
use crate::lines::GatheredLines;
use crate::names::Names;
use crate::rows::{Keys, Rows};
use crate::tables::{TableOptions, Tables, Values};
use crate::{Error, Table};

/// Gatherer of rows. Whenever there are as many as were asked for, `full` gets them, and clears them.
pub(crate) struct Gather<'a, F> {
    options: &'a TableOptions,
    containers: &'a Names,
    types: &'a Names,
    values: Option<&'a Values>,
    rows: Rows,
    most: usize,
    full: F,
    /// Which rows of a slice are wanted; empty if all are.
    wanted: Vec<bool>,
    lines: GatheredLines<'a>,
    extras: Gathered<'a>,
}

/// Bytes of keys that are enough for as many rows as were asked for, however few there are.
const KEY_BYTES: usize = 1 << 20;

impl<'a, F: FnMut(&mut Rows) -> Result<(), Error>> Gather<'a, F> {
    /// A gatherer into these rows, which are empty.
    pub(crate) fn new(
        tables: &'a Tables<'_>,
        table: Table,
        rows: Rows,
        most: usize,
        full: F,
    ) -> Result<Self, Error> {
        Ok(Gather {
            options: &tables.options,
            containers: tables.containers()?,
            types: tables.types()?,
            values: tables.values_of(table)?,
            rows,
            most,
            full,
            wanted: Vec::new(),
            lines: GatheredLines::new(&tables.lines),
            extras: Gathered::new(tables.trace, tables.extras(table), tables.options.order),
        })
    }

    /// Gathers some containers.
    pub(crate) fn containers(&mut self, trace: &Trace, some: &[ContainerId]) -> Result<(), Error> {
        let containers = trace.containers();
        for id in some {
            self.rows.container.add(self.containers.code(containers.parent(*id).index()), 1);
            self.rows.type_.add(self.types.code(containers.type_of(*id).index()), 1);
            self.rows.start.push(containers.start(*id));
            self.rows.end.push(containers.end(*id));
            self.rows.from.push(self.containers.code(id.index()));
            self.lines.row(trace.container_line(*id));
            let fields = trace.container_event(*id).into_iter();
            self.extras.row(fields.map(|fields| (Side::Opening, fields)));
            self.hand_on()?;
        }
        Ok(())
    }

    /// Gathers some parts of lanes.
    pub(crate) fn lanes(&mut self, trace: &Trace, parts: &[Part<'_>]) -> Result<(), Error> {
        for part in parts {
            part.lane.visit_chunks(part.chunks.clone(), self)?;
        }
        trace.relieve();
        Ok(())
    }

    /// Hands the last rows on; returns the columns that are not among those of all objects: of lines, and of
    /// user-defined fields.
    pub(crate) fn finish(mut self) -> Result<(Rows, Vec<ArrayRef>), Error> {
        if self.rows.len() > 0 {
            (self.full)(&mut self.rows)?;
        }
        let mut others = self.lines.finish()?;
        others.extend(self.extras.finish()?);
        Ok((self.rows, others))
    }

    /// Hands rows on if there are as many as were asked for.
    #[inline]
    fn hand_on(&mut self) -> Result<(), Error> {
        match self.rows.len() >= self.most || self.rows.keys.size() >= KEY_BYTES.max(self.most) {
            true => (self.full)(&mut self.rows),
            false => Ok(()),
        }
    }

    /// Adds a slice of a lane's objects by parts, each of which there is room for: `add` has the columns beyond those
    /// that all slices have.
    #[inline]
    fn add(
        &mut self,
        lane: LaneView<'_>,
        start: &[f64],
        fields: &Annotations<'_>,
        end: impl Fn(usize) -> f64,
        add: impl Fn(&mut Rows, &[bool], Range<usize>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut from = 0;
        while from < start.len() {
            let room = self.most - self.rows.len();
            let part = from..from + room.min(start.len() - from);
            from = part.end;
            self.begin(lane, start, part.clone(), &end);
            add(&mut self.rows, &self.wanted, part.clone())?;
            self.user_defined(part, fields);
            self.hand_on()?;
        }
        Ok(())
    }

    /// Adds what all rows of a slice have: where they are, and when they started.
    fn begin(
        &mut self,
        lane: LaneView<'_>,
        start: &[f64],
        part: Range<usize>,
        end: impl Fn(usize) -> f64,
    ) {
        let before = self.rows.len();
        let window = self.options.selection.window;
        self.wanted.clear();
        if !window.is_always() {
            self.wanted.extend(part.clone().map(|i| window.overlaps(start[i], end(i))));
        }
        copy(&self.wanted, &mut self.rows.start, start[part].iter().copied());
        let rows = self.rows.len() - before;
        self.rows.container.add(self.containers.code(lane.container().index()), rows);
        self.rows.type_.add(self.types.code(lane.type_id().index()), rows);
    }

    /// The lines and the user-defined fields of a part of a slice.
    fn user_defined(&mut self, part: Range<usize>, fields: &Annotations<'_>) {
        if fields.is_kept() {
            let wanted = &self.wanted;
            for i in part.clone().filter(|i| wanted.is_empty() || wanted[i - part.start]) {
                self.lines.row(fields.line(i));
                self.extras.row(fields.events_of(i));
            }
        }
    }
}

/// Copies what is wanted of a slice's column; all of it, if nothing is said of what is wanted.
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

/// Adds a key as it is spelled.
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

impl<F: FnMut(&mut Rows) -> Result<(), Error>> Visitor for Gather<'_, F> {
    type Error = Error;

    fn states(&mut self, lane: LaneView<'_>, states: States<'_>) -> Result<(), Error> {
        let codes = self.values.map_or(&[][..], |values| values.codes(lane));
        let end = |i: usize| states.end[i];
        self.add(lane, states.start, &states.user_defined, end, |rows, wanted, part| {
            copy(wanted, &mut rows.end, states.end[part.clone()].iter().copied());
            // No stack has billions of states.
            let levels = states.imbrication[part.clone()].iter().map(|level| *level as i32);
            copy(wanted, &mut rows.imbrication, levels);
            let values = states.value[part].iter().map(|value| codes[value.index()]);
            copy(wanted, &mut rows.value, values);
            Ok(())
        })
    }

    fn variables(&mut self, lane: LaneView<'_>, variables: Variables<'_>) -> Result<(), Error> {
        let end = |i: usize| variables.end(i);
        let (start, fields) = (variables.start, &variables.user_defined);
        self.add(lane, start, fields, end, |rows, wanted, part| {
            let next = (part.end + 1).min(start.len());
            let ends = start[part.start + 1..next].iter().copied();
            // The last of the slice has its own end.
            let last = (part.end == start.len()).then_some(variables.last_end);
            copy(wanted, &mut rows.end, ends.chain(last));
            copy(wanted, &mut rows.number, variables.value[part].iter().copied());
            Ok(())
        })
    }

    fn events(&mut self, lane: LaneView<'_>, events: Events<'_>) -> Result<(), Error> {
        let codes = self.values.map_or(&[][..], |values| values.codes(lane));
        let end = |i: usize| events.time[i];
        self.add(lane, events.time, &events.user_defined, end, |rows, wanted, part| {
            let values = events.value[part].iter().map(|value| codes[value.index()]);
            copy(wanted, &mut rows.value, values);
            Ok(())
        })
    }

    fn links(&mut self, lane: LaneView<'_>, links: Links<'_>) -> Result<(), Error> {
        let codes = self.values.map_or(&[][..], |values| values.codes(lane));
        let (containers, order) = (self.containers, self.options.order);
        let end = |i: usize| links.end[i];
        self.add(lane, links.start, &links.user_defined, end, |rows, wanted, part| {
            copy(wanted, &mut rows.end, links.end[part.clone()].iter().copied());
            let from = links.from[part.clone()].iter().map(|id| containers.code(id.index()));
            copy(wanted, &mut rows.from, from);
            let to = links.to[part.clone()].iter().map(|id| containers.code(id.index()));
            copy(wanted, &mut rows.to, to);
            let values = links.value[part.clone()].iter().map(|value| codes[value.index()]);
            copy(wanted, &mut rows.value, values);
            for i in part.clone() {
                if wanted.is_empty() || wanted[i - part.start] {
                    add_key(&mut rows.keys, links.raw_key(i), order)?;
                }
            }
            Ok(())
        })
    }
}
