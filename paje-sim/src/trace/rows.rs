//! Rows of a lane one by one, for analyses.
//!
//! An iterator borrows the columns of the current chunk: nothing is copied or allocated for a row.
//! [`LaneView::visit`] shows the same rows as slices, with their user-defined fields.

use std::iter::FusedIterator;

use paje_parser::{Field, TypeNature};

use crate::trace::Trace;
use crate::trace::lane::LaneView;
use paje_model::memory::{Chunk, EventChunk, KeyPlace, LinkChunk, Rows, StateChunk, Width};
use paje_model::names::ids::{ContainerId, ValueId};
use paje_model::names::text::Name;

/// A state of a container. Times are in seconds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct State<'t> {
    /// Lane of the state: its container and its type.
    pub lane: LaneView<'t>,
    /// Time at which the state was set or pushed.
    pub start: f64,
    /// Time at which the state was popped or replaced, or its container ended. In a portion (see
    /// [`Trace::read_in_portions`]), the end is NaN if the state is still open. Such a state does not belong to the
    /// portion.
    pub end: f64,
    /// Value of the lane's type.
    pub value: ValueId,
    /// Number of states below this state on the stack.
    pub imbrication: u32,
}

/// A value of a variable. Times are in seconds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Variable<'t> {
    /// Lane of the variable: its container and its type.
    pub lane: LaneView<'t>,
    /// Start of the value.
    pub start: f64,
    /// End of the value, which is the start of the next value or the end of the container.
    pub end: f64,
    /// The value.
    pub value: f64,
}

/// An event in a container.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Event<'t> {
    /// Lane of the event: its container and its type.
    pub lane: LaneView<'t>,
    /// Time in seconds.
    pub time: f64,
    /// Value of the lane's type.
    pub value: ValueId,
}

/// A link between two containers. Times are in seconds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Link<'t> {
    /// Lane of the link: the common container of both ends, and the link's type.
    pub lane: LaneView<'t>,
    /// Start in seconds.
    pub start: f64,
    /// End in seconds. It can be earlier than the start.
    pub end: f64,
    /// Value of the lane's type.
    pub value: ValueId,
    /// Container at the start of the link.
    pub from: ContainerId,
    /// Container at the end of the link.
    pub to: ContainerId,
    key: KeyPlace,
}

impl<'t> State<'t> {
    /// Returns the duration of the state in seconds.
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.end - self.start
    }

    /// Returns the name of the state's value.
    #[must_use]
    pub fn value_name(&self) -> Name<'t> {
        self.lane.value_name(self.value)
    }
}

impl Variable<'_> {
    /// Returns the duration of the value in seconds.
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.end - self.start
    }
}

impl<'t> Event<'t> {
    /// Returns the name of the event's value.
    #[must_use]
    pub fn value_name(&self) -> Name<'t> {
        self.lane.value_name(self.value)
    }
}

impl<'t> Link<'t> {
    /// Returns the duration of the link in seconds. It is negative if the link's end is earlier than its start.
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.end - self.start
    }

    /// Returns the name of the link's value.
    #[must_use]
    pub fn value_name(&self) -> Name<'t> {
        self.lane.value_name(self.value)
    }

    /// Returns the key as written in the link's first event in the file.
    #[must_use]
    pub fn key(&self) -> Name<'t> {
        Field::new(self.lane.trace().rows.key(self.key)).into()
    }
}

impl<'t> LaneView<'t> {
    /// Returns the lane's states in order of opening. Returns nothing if the lane's type has another nature.
    pub fn states(
        self,
    ) -> impl ExactSizeIterator<Item = State<'t>> + FusedIterator + Clone + use<'t> {
        Cursor::<StateColumns<'t>>::new(self)
    }

    /// Returns the lane's values of a variable in order of time. Returns nothing if the lane's type has another nature.
    pub fn variables(
        self,
    ) -> impl ExactSizeIterator<Item = Variable<'t>> + FusedIterator + Clone + use<'t> {
        Cursor::<VariableColumns<'t>>::new(self)
    }

    /// Returns the lane's events in order of time. Returns nothing if the lane's type has another nature.
    pub fn events(
        self,
    ) -> impl ExactSizeIterator<Item = Event<'t>> + FusedIterator + Clone + use<'t> {
        Cursor::<EventColumns<'t>>::new(self)
    }

    /// Returns the lane's links in order of completion. Returns nothing if the lane's type has another nature.
    pub fn links(
        self,
    ) -> impl ExactSizeIterator<Item = Link<'t>> + FusedIterator + Clone + use<'t> {
        Cursor::<LinkColumns<'t>>::new(self)
    }
}

impl Trace {
    /// Returns all states, lane after lane in the order of [`Trace::lanes`].
    pub fn states(&self) -> impl Iterator<Item = State<'_>> {
        self.lanes().flat_map(LaneView::states)
    }

    /// Returns all values of variables, lane after lane in the order of [`Trace::lanes`].
    pub fn variables(&self) -> impl Iterator<Item = Variable<'_>> {
        self.lanes().flat_map(LaneView::variables)
    }

    /// Returns all events, lane after lane in the order of [`Trace::lanes`].
    pub fn events(&self) -> impl Iterator<Item = Event<'_>> {
        self.lanes().flat_map(LaneView::events)
    }

    /// Returns all links, lane after lane in the order of [`Trace::lanes`].
    pub fn links(&self) -> impl Iterator<Item = Link<'_>> {
        self.lanes().flat_map(LaneView::links)
    }
}

#[derive(Clone)]
struct Cursor<'t, C> {
    lane: LaneView<'t>,
    rows: Option<&'t Rows>,
    chunk: usize,
    /// Columns of the current chunk, which has `count` rows. Row `at` is next.
    columns: C,
    count: usize,
    at: usize,
    /// Number of remaining rows in all chunks.
    left: u64,
}

trait Columns<'t>: Default {
    type Row;
    const NATURE: TypeNature;

    fn of(lane: LaneView<'t>, chunk: &Chunk, next: Option<&Chunk>) -> Self;
    fn row(&self, lane: LaneView<'t>, i: usize) -> Self::Row;
}

impl<'t, C: Columns<'t>> Cursor<'t, C> {
    fn new(lane: LaneView<'t>) -> Self {
        let rows = lane.trace().rows.rows(lane.id());
        let rows = (lane.nature() == C::NATURE).then_some(rows);
        let left = rows.map_or(0, |rows| rows.len(lane.arena()));
        Cursor { lane, rows, chunk: 0, columns: C::default(), count: 0, at: 0, left }
    }

    /// Moves to the next chunk, if any.
    fn turn(&mut self) -> Option<()> {
        let mut chunks = self.rows?.chunks_from(self.lane.arena(), self.chunk);
        let chunk = chunks.next()?;
        self.lane.trace().relieve_now_and_then(chunk.count());
        self.columns = C::of(self.lane, &chunk, chunks.next().as_ref());
        (self.chunk, self.count, self.at) = (self.chunk + 1, chunk.count(), 0);
        Some(())
    }
}

impl<'t, C: Columns<'t>> Iterator for Cursor<'t, C> {
    type Item = C::Row;

    #[inline]
    fn next(&mut self) -> Option<C::Row> {
        if self.at == self.count {
            self.turn()?;
        }
        let row = self.columns.row(self.lane, self.at);
        self.at += 1;
        self.left -= 1;
        Some(row)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl<'t, C: Columns<'t>> ExactSizeIterator for Cursor<'t, C> {}

impl<'t, C: Columns<'t>> FusedIterator for Cursor<'t, C> {}

/// Numbers as stored in a chunk.
#[derive(Clone, Copy)]
enum Numbers<'t> {
    Bytes(&'t [u8]),
    Narrow(&'t [u16]),
    Wide(&'t [u32]),
}

impl Default for Numbers<'_> {
    fn default() -> Self {
        Numbers::Narrow(&[])
    }
}

impl<'t> Numbers<'t> {
    fn of(lane: LaneView<'t>, chunk: &Chunk, column: usize) -> Self {
        let words = lane.arena().words(chunk.place, column, chunk.width.words(chunk.count()));
        match chunk.width {
            Width::Byte => Numbers::Bytes(bytemuck::cast_slice(words)),
            Width::Narrow => Numbers::Narrow(bytemuck::cast_slice(words)),
            Width::Wide => Numbers::Wide(bytemuck::cast_slice(words)),
        }
    }

    #[inline]
    fn get(self, i: usize) -> u32 {
        match self {
            Numbers::Bytes(numbers) => numbers[i].into(),
            Numbers::Narrow(numbers) => numbers[i].into(),
            Numbers::Wide(numbers) => numbers[i],
        }
    }
}

fn floats<'t>(lane: LaneView<'t>, chunk: &Chunk, column: usize) -> &'t [f64] {
    bytemuck::cast_slice(lane.arena().words(chunk.place, column, chunk.count()))
}

#[derive(Clone, Default)]
struct StateColumns<'t> {
    start: &'t [f64],
    end: &'t [f64],
    value: Numbers<'t>,
    imbrication: Numbers<'t>,
}

impl<'t> Columns<'t> for StateColumns<'t> {
    type Row = State<'t>;
    const NATURE: TypeNature = TypeNature::State;

    fn of(lane: LaneView<'t>, chunk: &Chunk, _: Option<&Chunk>) -> Self {
        StateColumns {
            start: floats(lane, chunk, 0),
            end: floats(lane, chunk, chunk.size()),
            value: Numbers::of(lane, chunk, StateChunk::value(chunk)),
            imbrication: Numbers::of(lane, chunk, StateChunk::imbrication(chunk)),
        }
    }

    #[inline]
    fn row(&self, lane: LaneView<'t>, i: usize) -> State<'t> {
        let (value, imbrication) = (ValueId(self.value.get(i)), self.imbrication.get(i));
        State { lane, start: self.start[i], end: self.end[i], value, imbrication }
    }
}

#[derive(Clone, Default)]
struct VariableColumns<'t> {
    start: &'t [f64],
    value: &'t [f64],
    last_end: f64,
}

impl<'t> Columns<'t> for VariableColumns<'t> {
    type Row = Variable<'t>;
    const NATURE: TypeNature = TypeNature::Variable;

    fn of(lane: LaneView<'t>, chunk: &Chunk, next: Option<&Chunk>) -> Self {
        VariableColumns {
            start: floats(lane, chunk, 0),
            value: floats(lane, chunk, chunk.size()),
            last_end: lane.last_end(next),
        }
    }

    #[inline]
    fn row(&self, lane: LaneView<'t>, i: usize) -> Variable<'t> {
        let end = self.start.get(i + 1).copied().unwrap_or(self.last_end);
        Variable { lane, start: self.start[i], end, value: self.value[i] }
    }
}

#[derive(Clone, Default)]
struct EventColumns<'t> {
    time: &'t [f64],
    value: Numbers<'t>,
}

impl<'t> Columns<'t> for EventColumns<'t> {
    type Row = Event<'t>;
    const NATURE: TypeNature = TypeNature::Event;

    fn of(lane: LaneView<'t>, chunk: &Chunk, _: Option<&Chunk>) -> Self {
        let value = Numbers::of(lane, chunk, EventChunk::value(chunk));
        EventColumns { time: floats(lane, chunk, 0), value }
    }

    #[inline]
    fn row(&self, lane: LaneView<'t>, i: usize) -> Event<'t> {
        Event { lane, time: self.time[i], value: ValueId(self.value.get(i)) }
    }
}

#[derive(Clone, Default)]
struct LinkColumns<'t> {
    start: &'t [f64],
    end: &'t [f64],
    key: &'t [u64],
    value: Numbers<'t>,
    from: Numbers<'t>,
    to: Numbers<'t>,
}

impl<'t> Columns<'t> for LinkColumns<'t> {
    type Row = Link<'t>;
    const NATURE: TypeNature = TypeNature::Link;

    fn of(lane: LaneView<'t>, chunk: &Chunk, _: Option<&Chunk>) -> Self {
        let small = |column| Numbers::of(lane, chunk, LinkChunk::small(chunk, column));
        LinkColumns {
            start: floats(lane, chunk, 0),
            end: floats(lane, chunk, chunk.size()),
            key: lane.arena().words(chunk.place, LinkChunk::key(chunk), chunk.count()),
            value: small(0),
            from: small(1),
            to: small(2),
        }
    }

    #[inline]
    fn row(&self, lane: LaneView<'t>, i: usize) -> Link<'t> {
        Link {
            lane,
            start: self.start[i],
            end: self.end[i],
            value: ValueId(self.value.get(i)),
            from: ContainerId(self.from.get(i)),
            to: ContainerId(self.to.get(i)),
            key: KeyPlace::from_word(self.key[i]),
        }
    }
}
