//! Iterates over the rows of a lane, chunk by chunk.

use std::iter::FusedIterator;

use paje_parser::TypeNature;

use super::{Event, Link, State, Variable};
use crate::trace::lane::Lane;
use paje_model::memory::{Chunk, EventChunk, KeyPlace, LinkChunk, Rows, StateChunk, Width};
use paje_model::names::ids::{ContainerId, ValueId};

/// Where a row is stored in its lane.
#[derive(Clone, Copy, Debug)]
pub(in crate::trace) struct Place {
    pub(in crate::trace) chunk: u32,
    pub(in crate::trace) index: u32,
}

#[derive(Clone)]
pub(super) struct Cursor<'t, C> {
    lane: Lane<'t>,
    rows: Option<&'t Rows>,
    chunk: usize,
    /// Columns of the current chunk, which has `count` rows. Row `at` is next.
    columns: C,
    count: usize,
    at: usize,
    /// Number of remaining rows in all chunks.
    left: u64,
}

pub(super) trait Columns<'t>: Default {
    type Row;
    const NATURE: TypeNature;

    fn of(lane: Lane<'t>, chunk: &Chunk, next: Option<&Chunk>) -> Self;
    fn row(&self, lane: Lane<'t>, place: Place) -> Self::Row;
}

impl<'t, C: Columns<'t>> Cursor<'t, C> {
    pub(super) fn new(lane: Lane<'t>) -> Self {
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
        let place = Place { chunk: self.chunk as u32 - 1, index: self.at as u32 };
        let row = self.columns.row(self.lane, place);
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
    fn of(lane: Lane<'t>, chunk: &Chunk, column: usize) -> Self {
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

fn floats<'t>(lane: Lane<'t>, chunk: &Chunk, column: usize) -> &'t [f64] {
    bytemuck::cast_slice(lane.arena().words(chunk.place, column, chunk.count()))
}

#[derive(Clone, Default)]
pub(super) struct StateColumns<'t> {
    start: &'t [f64],
    end: &'t [f64],
    value: Numbers<'t>,
    imbrication: Numbers<'t>,
}

impl<'t> Columns<'t> for StateColumns<'t> {
    type Row = State<'t>;
    const NATURE: TypeNature = TypeNature::State;

    fn of(lane: Lane<'t>, chunk: &Chunk, _: Option<&Chunk>) -> Self {
        StateColumns {
            start: floats(lane, chunk, 0),
            end: floats(lane, chunk, chunk.size()),
            value: Numbers::of(lane, chunk, StateChunk::value(chunk)),
            imbrication: Numbers::of(lane, chunk, StateChunk::imbrication(chunk)),
        }
    }

    #[inline]
    fn row(&self, lane: Lane<'t>, place: Place) -> State<'t> {
        let i = place.index as usize;
        let (value, imbrication) = (ValueId(self.value.get(i)), self.imbrication.get(i));
        State { lane, start: self.start[i], end: self.end[i], value, imbrication, place }
    }
}

#[derive(Clone, Default)]
pub(super) struct VariableColumns<'t> {
    start: &'t [f64],
    value: &'t [f64],
    last_end: f64,
}

impl<'t> Columns<'t> for VariableColumns<'t> {
    type Row = Variable<'t>;
    const NATURE: TypeNature = TypeNature::Variable;

    fn of(lane: Lane<'t>, chunk: &Chunk, next: Option<&Chunk>) -> Self {
        VariableColumns {
            start: floats(lane, chunk, 0),
            value: floats(lane, chunk, chunk.size()),
            last_end: lane.last_end(next),
        }
    }

    #[inline]
    fn row(&self, lane: Lane<'t>, place: Place) -> Variable<'t> {
        let i = place.index as usize;
        let end = self.start.get(i + 1).copied().unwrap_or(self.last_end);
        Variable { lane, start: self.start[i], end, value: self.value[i], place }
    }
}

#[derive(Clone, Default)]
pub(super) struct EventColumns<'t> {
    time: &'t [f64],
    value: Numbers<'t>,
}

impl<'t> Columns<'t> for EventColumns<'t> {
    type Row = Event<'t>;
    const NATURE: TypeNature = TypeNature::Event;

    fn of(lane: Lane<'t>, chunk: &Chunk, _: Option<&Chunk>) -> Self {
        let value = Numbers::of(lane, chunk, EventChunk::value(chunk));
        EventColumns { time: floats(lane, chunk, 0), value }
    }

    #[inline]
    fn row(&self, lane: Lane<'t>, place: Place) -> Event<'t> {
        let i = place.index as usize;
        Event { lane, time: self.time[i], value: ValueId(self.value.get(i)), place }
    }
}

#[derive(Clone, Default)]
pub(super) struct LinkColumns<'t> {
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

    fn of(lane: Lane<'t>, chunk: &Chunk, _: Option<&Chunk>) -> Self {
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
    fn row(&self, lane: Lane<'t>, place: Place) -> Link<'t> {
        let i = place.index as usize;
        Link {
            lane,
            start: self.start[i],
            end: self.end[i],
            value: ValueId(self.value.get(i)),
            from: ContainerId(self.from.get(i)),
            to: ContainerId(self.to.get(i)),
            key: KeyPlace::from_word(self.key[i]),
            place,
        }
    }
}
