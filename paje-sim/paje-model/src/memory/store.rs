use std::sync::Arc;

use crate::memory::{
    Arena, Chunk, EventChunk, ExtraPair, Extras, NewState, Overflow, Place, Rows, StateChunk,
    TextPages, VariableChunk, Width, set_small,
};
use crate::names::ids::ValueId;
use crate::names::options::Keeps;

/// Rows of a shard's lanes, and their texts. The rows of links are elsewhere, in
/// `replay::link_merger`.
#[derive(Debug, Default)]
pub struct Store {
    pub arena: Arena,
    pub keys: TextPages,
    pub extras: Option<Extras>,
}

#[derive(Debug)]
pub struct Written<'a> {
    pub rows: &'a mut Rows,
    pub store: &'a mut Store,
}

/// An open state. It holds the place of the state's end, and everything needed to find the state's
/// other columns.
#[derive(Clone, Copy, Debug)]
pub struct OpenRow {
    end: Place,
    size: u16,
    index: u16,
    width: Width,
}

impl OpenRow {
    #[inline(always)]
    pub(super) const fn words_after(self, place: Place) -> Option<usize> {
        self.end.words_after(place)
    }

    /// Returns the last state of a lane. The lane must have a state.
    #[inline(always)]
    pub fn last_of(rows: &Rows) -> Self {
        let (chunk, index) = rows.last();
        OpenRow::new(&chunk, index)
    }

    #[inline(always)]
    pub(super) fn new(chunk: &Chunk, index: usize) -> Self {
        let size = chunk.size();
        let end = chunk.place.after(size + index);
        OpenRow { end, size: size as u16, index: index as u16, width: chunk.width }
    }

    fn extras(self) -> Place {
        let size = usize::from(self.size);
        self.end.after(size + 2 * self.width.words(size))
    }
}

impl Store {
    pub fn new(keeps: Keeps, overflow: Option<Arc<Overflow>>) -> Self {
        Store {
            arena: Arena::new(overflow.clone()),
            keys: TextPages::new(overflow.clone()),
            extras: keeps.anything().then(|| Extras::new(keeps, overflow)),
        }
    }

    /// Sets the entry in [`Extras`] of the current event, or 0 for an event without an entry. The
    /// number is stored with the rows that the event opens or closes.
    pub fn begin_event(&mut self, extra: u32) {
        if let Some(extras) = &mut self.extras {
            extras.current = extra;
        }
    }

    #[inline]
    pub fn extra(&self) -> u32 {
        self.extras.as_ref().map_or(0, |extras| extras.current)
    }

    pub fn arenas(&self) -> impl Iterator<Item = &Arena> + Clone {
        [&self.arena, &self.keys.arena].into_iter().chain(self.extras.as_ref().map(Extras::arena))
    }

    pub fn arenas_mut(&mut self) -> impl Iterator<Item = &mut Arena> {
        let extras = self.extras.as_mut().map(Extras::arena_mut);
        [&mut self.arena, &mut self.keys.arena].into_iter().chain(extras)
    }

    #[inline(always)]
    pub fn open_state(&mut self, rows: &mut Rows, state: NewState) -> OpenRow {
        let (arena, extras) = (&mut self.arena, &self.extras);
        let width = Width::of(state.value.0 | state.imbrication);
        let words = |size, width| StateChunk::words(size, width, extras.is_some());
        let (chunk, index) = rows.push(arena, width, words);
        let words = arena.words_mut(chunk.place);
        words[index] = state.start.to_bits();
        let column = StateChunk::value(&chunk);
        set_small(&mut words[column..], chunk.width, index, state.value.0);
        let column = StateChunk::imbrication(&chunk);
        set_small(&mut words[column..], chunk.width, index, state.imbrication);
        // The end is written later. Until then, its memory is not touched.
        if let Some(extras) = extras {
            let pair = ExtraPair { opening: extras.current, closing: 0 };
            words[StateChunk::extras(&chunk) + index] = pair.word();
        }
        OpenRow::new(&chunk, index)
    }

    #[inline(always)]
    pub fn close_state(&mut self, row: OpenRow, end: f64) {
        self.end_state(row, end);
        if let Some(extras) = &self.extras {
            let (place, closing) = (row.extras(), extras.current);
            let pair = ExtraPair { closing, ..ExtraPair::from_word(self.arena.get(place)) };
            self.arena.set(place, 0, pair.word());
        }
    }

    /// Sets the end of a state. The event that ends the state has no user-defined fields to keep.
    #[inline(always)]
    pub fn end_state(&mut self, row: OpenRow, end: f64) {
        self.arena.set(row.end, 0, end.to_bits());
    }

    pub fn end_of(&self, row: OpenRow) -> f64 {
        f64::from_bits(self.arena.get(row.end))
    }

    pub fn extras_of(&self, row: OpenRow) -> ExtraPair {
        match &self.extras {
            Some(_) => ExtraPair::from_word(self.arena.get(row.extras())),
            None => ExtraPair::default(),
        }
    }

    pub fn start_of(&self, row: OpenRow) -> f64 {
        f64::from_bits(self.arena.get(row.end.before(usize::from(row.size))))
    }

    pub fn value_of(&self, row: OpenRow) -> ValueId {
        let OpenRow { end, size, index, width } = row;
        let (size, index) = (usize::from(size), usize::from(index));
        ValueId(self.arena.small_at(end.before(index).after(size), width, index))
    }

    pub fn carry_extras(&mut self, old: &Store, pair: ExtraPair) -> ExtraPair {
        let (Some(old), Some(new)) = (&old.extras, &mut self.extras) else { return pair };
        let mut carry = |number| {
            let (def, text, line) = old.get(number)?;
            Some(match def {
                Some(def) => new.push(def, text, line),
                None => new.push_line(line),
            })
        };
        let mut carry = |number| carry(number).unwrap_or(0);
        ExtraPair { opening: carry(pair.opening), closing: carry(pair.closing) }
    }

    #[inline(always)]
    pub fn variable(&mut self, rows: &mut Rows, start: f64, value: f64, extra: u32) {
        let extras = self.extras.is_some();
        let words = |size, _| 2 * size + if extras { size } else { 0 };
        let (chunk, index) = rows.push(&mut self.arena, Width::Byte, words);
        let words = self.arena.words_mut(chunk.place);
        words[index] = start.to_bits();
        words[chunk.size() + index] = value.to_bits();
        if extras {
            let pair = ExtraPair { opening: extra, closing: 0 };
            words[VariableChunk::extras(&chunk) + index] = pair.word();
        }
    }

    #[inline]
    pub fn event(&mut self, rows: &mut Rows, time: f64, value: ValueId) {
        let extras = &self.extras;
        let words =
            |size, width: Width| size + width.words(size) + if extras.is_some() { size } else { 0 };
        let (chunk, index) = rows.push(&mut self.arena, Width::of(value.0), words);
        let words = self.arena.words_mut(chunk.place);
        words[index] = time.to_bits();
        set_small(&mut words[EventChunk::value(&chunk)..], chunk.width, index, value.0);
        if let Some(extras) = extras {
            let pair = ExtraPair { opening: extras.current, closing: 0 };
            words[EventChunk::extras(&chunk) + index] = pair.word();
        }
    }
}
