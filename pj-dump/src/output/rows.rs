//! The rows of the dump.
//!
//! ```text
//! Container, PARENT, TYPE, START, END, DURATION, NAME
//! State, CONTAINER, TYPE, START, END, DURATION, IMBRICATION, VALUE
//! Variable, CONTAINER, TYPE, START, END, DURATION, VALUE
//! Event, CONTAINER, TYPE, TIME, VALUE
//! Link, CONTAINER, TYPE, START, END, DURATION, VALUE, STARTCONTAINER, ENDCONTAINER, KEY
//! ```
//!
//! Times of containers are printed as C++ streams do by default, all other numbers with a fixed
//! number of digits: PajeNG 1.3.6 behaviour.

use std::convert::Infallible;

use paje_parser::Field;
use paje_sim::{
    Annotations, ContainerId, Events, LaneId, LaneView, Links, Name, States, Trace, Variables,
    Visitor,
};

use super::names::Names;
use super::printed::{PADDING, Printed, Text};
use super::{Quotes, Style};
use decimal::{fixed_room, put_fixed, write_general};

/// Formats rows into a buffer.
#[derive(Debug)]
pub(crate) struct RowFormatter<'t> {
    trace: &'t Trace,
    names: &'t Names,
    style: Style,
    buffer: Vec<u8>,
    at: usize,
    /// The lane that `prefix` is about.
    lane: Option<LaneId>,
    /// `Nature, CONTAINER, TYPE, ` of the lane at hand, padded; and its length.
    prefix: Vec<u8>,
    prefix_len: usize,
    /// User-defined fields of the row at hand.
    extras: Vec<u8>,
    /// Imbrications with the separator after them.
    levels: Printed,
    /// How many more of the lane's rows are printed.
    left: u64,
    rows: u64,
}

impl<'t> RowFormatter<'t> {
    /// For rows of this trace.
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
            levels: Printed::default(),
            left: 0,
            rows: 0,
        }
    }

    /// Begins to format into this buffer, from its beginning. Its content means nothing; its length is
    /// the room that it has so far.
    pub(crate) fn begin(&mut self, buffer: Vec<u8>) {
        self.buffer = buffer;
        self.at = 0;
    }

    /// Gives the buffer back, and how many of its bytes are rows.
    pub(crate) fn end(&mut self) -> (Vec<u8>, usize) {
        (std::mem::take(&mut self.buffer), self.at)
    }

    /// How many rows were formatted.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The row of a container.
    #[inline(never)]
    pub(crate) fn container_row(&mut self, id: ContainerId) {
        let Ok(()) = self.container(self.trace, id);
    }

    /// The rows of some chunks of a lane, the first of which begins with row `first_row` of the lane.
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

    /// Makes sure that `room` more bytes fit.
    #[inline]
    fn reserve(&mut self, room: usize) {
        if self.buffer.len() - self.at < room {
            self.grow(room);
        }
    }

    #[cold]
    fn grow(&mut self, room: usize) {
        let wanted = (self.at + room).max(self.buffer.len() * 2);
        self.buffer.resize(wanted, 0);
    }

    /// Puts a text for which there is room.
    #[inline]
    fn put(&mut self, text: Text<'_>) {
        self.at = text.put(&mut self.buffer, self.at);
    }

    /// Puts a number and the separator after it. Always compiled into its callers: a call would take as long as
    /// a third of the digits.
    #[inline(always)]
    fn put_number(&mut self, value: f64) {
        let end = put_fixed(&mut self.buffer, self.at, value, self.style.precision);
        self.buffer[end..end + 2].copy_from_slice(b", ");
        self.at = end + 2;
    }

    /// Makes ready for a lane's rows from `first_row` on.
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
        quotes.write(trace.containers().name(lane.container()), &mut self.prefix);
        self.prefix.extend_from_slice(b", ");
        quotes.write(trace.types().name(lane.type_id()), &mut self.prefix);
        self.prefix.extend_from_slice(b", ");
        self.prefix_len = self.prefix.len();
        self.prefix.resize(self.prefix_len + PADDING, 0);
    }

    /// How many of the lane's next `count` objects are printed.
    fn printed_of(&mut self, count: usize) -> usize {
        let printed = (count as u64).min(self.left);
        self.left -= printed;
        printed as usize
    }

    /// The columns of an object's user-defined fields, separators included.
    #[inline(always)]
    fn print_extras(&mut self, fields: &Annotations<'_>, i: usize) {
        self.extras.clear();
        if fields.is_kept() {
            self.print_kept(fields, i);
        }
    }

    #[inline(never)]
    fn print_kept(&mut self, fields: &Annotations<'_>, i: usize) {
        for (_, raw) in fields.of(i) {
            self.extras.extend_from_slice(b", ");
            self.style.quotes.write(Name::from(Field::new(raw)), &mut self.extras);
        }
    }

    /// Puts the user-defined fields and ends the row.
    #[inline(always)]
    fn end_row(&mut self) {
        if !self.extras.is_empty() {
            self.at = Text::new(&self.extras).put(&mut self.buffer, self.at);
        }
        self.buffer[self.at] = b'\n';
        self.at += 1;
        self.rows += 1;
    }

    /// Reserves room for a row with so many numbers and bytes of text, and puts its prefix.
    #[inline(always)]
    fn begin_row(&mut self, numbers: usize, text: usize) {
        let number = fixed_room(self.style.precision) + 2;
        self.reserve(self.prefix_len + numbers * number + text + self.extras.len() + 2 * PADDING);
        let prefix = Text { padded: &self.prefix, len: self.prefix_len };
        self.at = prefix.put(&mut self.buffer, self.at);
    }
}

/// How many of a lane's rows PajeNG's releases print: those before the first, found by bisection,
/// that starts at the end of the trace or later, and that one. PajeNG 1.3.6 behaviour.
pub(crate) fn released(lane: LaneView<'_>) -> u64 {
    let end = lane.trace().end();
    let (mut from, mut to) = (0, lane.len());
    while from < to {
        let middle = from + (to - from) / 2;
        if lane.start(middle) < end { from = middle + 1 } else { to = middle }
    }
    from + 1
}

impl Visitor for RowFormatter<'_> {
    type Error = Infallible;

    fn container(&mut self, trace: &Trace, id: ContainerId) -> Result<(), Infallible> {
        let quotes = self.style.quotes;
        let containers = trace.containers();
        let mut row = b"Container, ".to_vec();
        quotes.write(containers.name(containers.parent(id)), &mut row);
        row.extend_from_slice(b", ");
        quotes.write(trace.types().name(containers.type_of(id)), &mut row);
        let (start, end) = (containers.start(id), containers.end(id));
        for number in [start, end, end - start] {
            row.extend_from_slice(b", ");
            write_general(&mut row, number);
        }
        row.extend_from_slice(b", ");
        quotes.write(containers.name(id), &mut row);
        for (_, raw) in trace.container_fields(id) {
            row.extend_from_slice(b", ");
            quotes.write(Name::from(Field::new(raw)), &mut row);
        }
        row.push(b'\n');
        self.reserve(row.len() + PADDING);
        self.put(Text::new(&row));
        self.rows += 1;
        Ok(())
    }

    fn states(&mut self, lane: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        let all = self.style.wants_all();
        let values = self.names.values(self.trace, self.style.quotes, lane.type_id());
        let levels = std::mem::take(&mut self.levels);
        let levels = more_levels(levels, &states, self.style);
        let columns =
            states.start.iter().zip(states.end).zip(states.value.iter().zip(states.imbrication));
        let printed = self.printed_of(states.start.len());
        for (i, ((start, end), (value, imbrication))) in columns.take(printed).enumerate() {
            // In a portion, a state without an end is still open.
            if end.is_nan() || !all && !self.style.wants(*start, *end) {
                continue;
            }
            self.print_extras(&states.user_defined, i);
            let value = values.get(value.index());
            self.begin_row(4, value.len);
            self.put_number(*start);
            self.put_number(*end);
            self.put_number(end - start);
            match (*imbrication as usize) < levels.len() {
                true => self.put(levels.get(*imbrication as usize)),
                false => self.put_number(f64::from(*imbrication)),
            }
            self.put(value);
            self.end_row();
        }
        self.levels = levels;
        Ok(())
    }

    fn variables(&mut self, _: LaneView<'_>, variables: Variables<'_>) -> Result<(), Infallible> {
        let mut known = (f64::NAN.to_bits(), 0, 0);
        let printed = self.printed_of(variables.start.len());
        let columns = variables.start.iter().zip(variables.value);
        for (i, (start, value)) in columns.take(printed).enumerate() {
            let end = variables.end(i);
            if !self.style.wants(*start, end) {
                continue;
            }
            self.print_extras(&variables.user_defined, i);
            self.begin_row(4, 0);
            // Most rows start where the row before ends, whose text is still in the buffer.
            let (end_before, from, to) = known;
            if start.to_bits() == end_before {
                self.buffer.copy_within(from..to, self.at);
                self.at += to - from;
            } else {
                self.put_number(*start);
            }
            let from = self.at;
            self.put_number(end);
            known = (end.to_bits(), from, self.at);
            self.put_number(end - start);
            self.at = put_fixed(&mut self.buffer, self.at, *value, self.style.precision);
            self.end_row();
        }
        Ok(())
    }

    fn events(&mut self, lane: LaneView<'_>, events: Events<'_>) -> Result<(), Infallible> {
        let values = self.names.values(self.trace, self.style.quotes, lane.type_id());
        let printed = self.printed_of(events.time.len());
        let columns = events.time.iter().zip(events.value);
        for (i, (time, value)) in columns.take(printed).enumerate() {
            if !self.style.wants(*time, *time) {
                continue;
            }
            self.print_extras(&events.user_defined, i);
            let value = values.get(value.index());
            self.begin_row(1, value.len);
            self.put_number(*time);
            self.put(value);
            self.end_row();
        }
        Ok(())
    }

    fn links(&mut self, lane: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        let values = self.names.values(self.trace, self.style.quotes, lane.type_id());
        let containers = self.names.containers(self.trace, self.style.quotes);
        let mut key = Vec::new();
        let printed = self.printed_of(links.start.len());
        let columns = links.start.iter().zip(links.end);
        for (i, (start, end)) in columns.take(printed).enumerate() {
            if !self.style.wants(*start, *end) {
                continue;
            }
            self.print_extras(&links.user_defined, i);
            key.clear();
            self.style.quotes.write(Name::from(Field::new(links.raw_key(i))), &mut key);
            let value = values.get(links.value[i].index());
            let (from, to) =
                (containers.get(links.from[i].index()), containers.get(links.to[i].index()));
            self.begin_row(3, value.len + from.len + to.len + key.len() + 6);
            self.put_number(*start);
            self.put_number(*end);
            self.put_number(end - start);
            for text in [value, from, to] {
                self.put(text);
                self.buffer[self.at..self.at + 2].copy_from_slice(b", ");
                self.at += 2;
            }
            self.put(Text::new(&key));
            self.end_row();
        }
        Ok(())
    }
}

/// Imbrications are small and come again and again: those up to the slice's deepest, or a bound.
fn more_levels(mut levels: Printed, states: &States<'_>, style: Style) -> Printed {
    const MOST: usize = 256;
    let deepest = states.imbrication.iter().max().map_or(0, |deepest| *deepest as usize);
    while levels.len() <= deepest.min(MOST) {
        let mut text = Vec::new();
        decimal::write_fixed(&mut text, levels.len() as f64, style.precision);
        text.extend_from_slice(b", ");
        levels.push(Quotes::Strip, Name::bare(&text));
    }
    levels
}
