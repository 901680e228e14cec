//! Formats the rows of the dump.
//!
//! ```text
//! Container, PARENT, TYPE, START, END, DURATION, NAME
//! State, CONTAINER, TYPE, START, END, DURATION, IMBRICATION, VALUE
//! Variable, CONTAINER, TYPE, START, END, DURATION, VALUE
//! Event, CONTAINER, TYPE, TIME, VALUE
//! Link, CONTAINER, TYPE, START, END, DURATION, VALUE, STARTCONTAINER, ENDCONTAINER, KEY
//! ```
//!
//! Times of containers have the default format of C++ streams, as in PajeNG 1.3.6. All other
//! numbers have a fixed number of digits.

mod long;

use std::convert::Infallible;

use paje_parser::Field;
use paje_sim::{
    Annotations, ContainerId, Events, LaneId, LaneView, Links, Name, States, Trace, TypeId,
    Variables, Visitor,
};

use super::names::Names;
use super::printed::{PADDING, Printed, Text};
use super::row::{Known, Prefix, ROOM, Row, put_rows};
use super::{Quotes, Style, released};
use paje_decimal::{Fixed6, write_general};

/// Initial size of a buffer, enough for most pieces. Unused pages are never touched.
const FIRST_ROOM: usize = 1 << 18;

#[derive(Debug)]
pub(crate) struct RowFormatter<'t> {
    trace: &'t Trace,
    names: &'t Names,
    style: Style,
    buffer: Vec<u8>,
    at: usize,
    lane: Option<LaneId>,
    /// Padded `Nature, CONTAINER, TYPE, ` of the current lane, and its length.
    prefix: Vec<u8>,
    prefix_len: usize,
    extras: Vec<u8>,
    container: Vec<u8>,
    /// Printed names of the current container and its parent. The next lanes and containers usually
    /// need them again.
    owner: Called,
    parent: Called,
    types: CalledTypes,
    text: Vec<u8>,
    /// Imbrications, each with the following separator.
    levels: Printed,
    left: u64,
    rows: u64,
}

#[derive(Debug, Default)]
struct Called {
    container: Option<ContainerId>,
    text: Vec<u8>,
}

impl Called {
    fn of(&mut self, trace: &Trace, quotes: Quotes, container: ContainerId) -> &[u8] {
        if self.container != Some(container) {
            self.container = Some(container);
            self.text.clear();
            quotes.write(trace.containers().name(container), &mut self.text);
        }
        &self.text
    }
}

/// Cached names of types, as printed. A few entries suffice: traces usually have few types, and
/// lanes of the same type often follow each other.
#[derive(Debug, Default)]
struct CalledTypes([(Option<TypeId>, Vec<u8>); 8]);

impl CalledTypes {
    fn of(&mut self, trace: &Trace, quotes: Quotes, type_: TypeId) -> &[u8] {
        let (known, text) = &mut self.0[type_.index() % 8];
        if *known != Some(type_) {
            *known = Some(type_);
            text.clear();
            quotes.write(trace.types().name(type_), text);
        }
        text
    }
}

impl<'t> RowFormatter<'t> {
    pub(crate) fn new(trace: &'t Trace, names: &'t Names, style: Style) -> Self {
        RowFormatter {
            trace,
            names,
            style,
            buffer: Vec::new(),
            at: 0,
            lane: None,
            prefix: Vec::new(),
            prefix_len: 0,
            extras: Vec::new(),
            container: Vec::new(),
            owner: Called::default(),
            parent: Called::default(),
            types: CalledTypes::default(),
            text: Vec::new(),
            levels: Printed::default(),
            left: 0,
            rows: 0,
        }
    }

    /// Starts to fill `buffer`, whose length equals its capacity.
    pub(crate) fn begin(&mut self, buffer: Vec<u8>) {
        self.buffer = buffer;
        self.at = 0;
    }

    pub(crate) fn end(&mut self) -> (Vec<u8>, usize) {
        (std::mem::take(&mut self.buffer), self.at)
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    #[inline(never)]
    pub(crate) fn container_row(&mut self, id: ContainerId) {
        let Ok(()) = self.container(self.trace, id);
    }

    #[inline(never)]
    pub(crate) fn lane_rows(
        &mut self,
        lane: LaneView<'_>,
        chunks: std::ops::Range<usize>,
        first_row: u64,
    ) {
        self.enter(lane, first_row);
        let Ok(()) = lane.visit_chunks(chunks, self);
    }

    #[inline]
    fn reserve(&mut self, room: usize) {
        if self.buffer.len() - self.at < room {
            self.grow(room);
        }
    }

    #[cold]
    fn grow(&mut self, room: usize) {
        let wanted = (self.at + room).max(self.buffer.len() * 2).max(FIRST_ROOM);
        // The system provides zeroed memory lazily, so pages without rows are never touched.
        let mut larger = vec![0; wanted];
        larger[..self.at].copy_from_slice(&self.buffer[..self.at]);
        self.buffer = larger;
    }

    #[inline]
    fn put(&mut self, text: Text<'_>) {
        self.at = text.put(&mut self.buffer, self.at);
    }

    fn enter(&mut self, lane: LaneView<'_>, first_row: u64) {
        self.left = match self.style.as_released {
            true => released(lane).saturating_sub(first_row),
            false => u64::MAX,
        };
        if self.lane == Some(lane.id()) {
            return;
        }
        self.lane = Some(lane.id());
        let (trace, quotes) = (self.trace, self.style.quotes);
        self.prefix.clear();
        self.prefix.extend_from_slice(lane.nature().name().as_bytes());
        self.prefix.extend_from_slice(b", ");
        self.prefix.extend_from_slice(self.owner.of(trace, quotes, lane.container()));
        self.prefix.extend_from_slice(b", ");
        self.prefix.extend_from_slice(self.types.of(trace, quotes, lane.type_id()));
        self.prefix.extend_from_slice(b", ");
        self.prefix_len = self.prefix.len();
        self.prefix.resize(self.prefix_len + PADDING, 0);
    }

    /// Puts the rows of a slice, with `short` where possible, and with `long` otherwise.
    #[inline(always)]
    fn put_rows(
        &mut self,
        count: usize,
        fields: &Annotations<'_>,
        mut short: impl FnMut(&mut Row<'_>, usize) -> Option<()>,
        mut long: impl FnMut(&mut Self, usize),
    ) {
        let printed = (count as u64).min(self.left) as usize;
        self.left -= printed as u64;
        let style = self.style;
        let may_be_short = style.precision == 6 && style.wants_all() && !fields.is_kept();
        let mut prefix = Prefix::new(&self.prefix[..self.prefix_len]).filter(|_| may_be_short);
        let mut i = 0;
        while i < printed {
            let before = i;
            if let Some(prefix) = &prefix {
                self.reserve(ROOM);
                self.at +=
                    put_rows(&mut self.buffer[self.at..], prefix, &mut i, printed, &mut short);
                self.rows += (i - before) as u64;
                if i == printed {
                    break;
                }
            }
            long(self, i);
            if i == before {
                // The next rows will probably not fit either, since their names are as long or
                // their times as large.
                prefix = None;
            }
            i += 1;
        }
    }
}

impl Visitor for RowFormatter<'_> {
    type Error = Infallible;

    fn container(&mut self, trace: &Trace, id: ContainerId) -> Result<(), Infallible> {
        let quotes = self.style.quotes;
        let containers = trace.containers();
        // Reuses the vector, because a trace may consist mostly of containers.
        let mut row = std::mem::take(&mut self.container);
        row.clear();
        row.extend_from_slice(b"Container, ");
        row.extend_from_slice(self.parent.of(trace, quotes, containers.parent(id)));
        row.extend_from_slice(b", ");
        row.extend_from_slice(self.types.of(trace, quotes, containers.type_of(id)));
        let (start, end) = (containers.start(id), containers.end(id));
        for number in [start, end, end - start] {
            row.extend_from_slice(b", ");
            write_general(&mut row, number);
        }
        row.extend_from_slice(b", ");
        row.extend_from_slice(self.owner.of(trace, quotes, id));
        for (_, raw) in trace.container_fields(id) {
            row.extend_from_slice(b", ");
            quotes.write(Name::from(Field::new(raw)), &mut row);
        }
        row.push(b'\n');
        self.reserve(row.len() + PADDING);
        self.put(Text::new(&row));
        self.container = row;
        self.rows += 1;
        Ok(())
    }

    fn states(&mut self, lane: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        let values = self.names.values(self.trace, self.style.quotes, lane.type_id());
        let mut levels = std::mem::take(&mut self.levels);
        levels.levels_to(states.imbrication, self.style.precision);
        let mut known = Known::default();
        let short = |row: &mut Row<'_>, i: usize| {
            let (start, end) = (states.start[i], states.end[i]);
            row.number(known.of(start)?);
            row.number(known.next(end)?);
            row.number(Fixed6::new(end - start)?);
            row.text(&levels, states.imbrication[i] as usize)?;
            row.name(&values, states.value[i].index())
        };
        let long = |formatter: &mut Self, i: usize| formatter.state(&states, i, values, &levels);
        self.put_rows(states.start.len(), &states.user_defined, short, long);
        self.levels = levels;
        Ok(())
    }

    fn variables(&mut self, _: LaneView<'_>, all: Variables<'_>) -> Result<(), Infallible> {
        let mut known = Known::default();
        let short = |row: &mut Row<'_>, i: usize| {
            let (start, end) = (all.start[i], all.end(i));
            row.number(known.of(start)?);
            row.number(known.next(end)?);
            row.number(Fixed6::new(end - start)?);
            row.any_number(all.value[i]);
            Some(())
        };
        let long = |formatter: &mut Self, i: usize| formatter.variable(&all, i);
        self.put_rows(all.start.len(), &all.user_defined, short, long);
        Ok(())
    }

    fn events(&mut self, lane: LaneView<'_>, events: Events<'_>) -> Result<(), Infallible> {
        let values = self.names.values(self.trace, self.style.quotes, lane.type_id());
        let short = |row: &mut Row<'_>, i: usize| {
            row.number(Fixed6::new(events.time[i])?);
            row.name(&values, events.value[i].index())
        };
        let long = |formatter: &mut Self, i: usize| formatter.event(&events, i, values);
        self.put_rows(events.time.len(), &events.user_defined, short, long);
        Ok(())
    }

    fn links(&mut self, lane: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        let values = self.names.values(self.trace, self.style.quotes, lane.type_id());
        let containers = self.names.containers(self.trace, self.style.quotes);
        let short = |row: &mut Row<'_>, i: usize| {
            let (start, end) = (links.start[i], links.end[i]);
            row.number(Fixed6::new(start)?);
            row.number(Fixed6::new(end)?);
            row.number(Fixed6::new(end - start)?);
            row.name(&values, links.value[i].index())?;
            row.separator();
            row.name(&containers, links.from[i].index())?;
            row.separator();
            row.name(&containers, links.to[i].index())?;
            row.separator();
            row.key(links.raw_key(i))
        };
        let mut key = Vec::new();
        let long = |all: &mut Self, i: usize| all.link(&links, i, values, containers, &mut key);
        self.put_rows(links.start.len(), &links.user_defined, short, long);
        Ok(())
    }
}
