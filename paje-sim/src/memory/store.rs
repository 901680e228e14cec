//! Finished objects as columns.

use std::sync::Arc;

use paje_parser::Span;

use crate::memory::{Arena, Chunk, Extras, Overflow, Place, Rows, Width, set_small};
use crate::names::hash::{bare, hash_text};
use crate::names::ids::{ContainerId, ValueId};
use crate::names::options::Keeps;

/// The objects of a shard's lanes, and the texts that hang on them. The rows of links are elsewhere:
/// see `engine::merge`.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) arena: Arena,
    pub(crate) keys: Keys,
    /// User-defined fields and lines; `None` when neither is kept.
    pub(crate) extras: Option<Extras>,
}

/// The user-defined fields of the event that opened an object and of the one that closed it: numbers
/// in [`Extras`], 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExtraPair {
    pub(crate) opening: u32,
    pub(crate) closing: u32,
}

impl ExtraPair {
    /// Both in one word.
    pub(crate) const fn word(self) -> u64 {
        self.opening as u64 | (self.closing as u64) << 32
    }

    pub(crate) const fn from_word(word: u64) -> Self {
        ExtraPair { opening: word as u32, closing: (word >> 32) as u32 }
    }
}

/// Where a link's key is kept, and the shard of its strand, which has its user-defined fields too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyPlace(u64);

impl KeyPlace {
    pub(crate) const fn new(shard: usize, place: u64) -> Self {
        KeyPlace(place << 8 | shard as u64)
    }

    pub(crate) const fn from_word(word: u64) -> Self {
        KeyPlace(word)
    }

    pub(crate) const fn shard(self) -> usize {
        (self.0 & 0xff) as usize
    }

    pub(crate) const fn place(self) -> u64 {
        self.0 >> 8
    }
}

/// The rows of a lane, and the store that holds them: what its replay writes to.
#[derive(Debug)]
pub(crate) struct Written<'a> {
    pub(crate) rows: &'a mut Rows,
    pub(crate) store: &'a mut Store,
}

/// A state as it is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewState {
    pub(crate) start: f64,
    pub(crate) value: ValueId,
    pub(crate) imbrication: u32,
    pub(crate) extra: u32,
}

/// A state that is open: where its end will be, and where its other columns are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenRow {
    end: Place,
    size: u16,
    index: u16,
    width: Width,
}

impl OpenRow {
    /// The last state of a lane, which must have one.
    #[inline(always)]
    pub(crate) fn last_of(rows: &Rows) -> Self {
        let (chunk, index) = rows.last();
        OpenRow::new(&chunk, index)
    }

    #[inline(always)]
    fn new(chunk: &Chunk, index: usize) -> Self {
        let size = chunk.size();
        let end = chunk.place.behind(size + index);
        OpenRow { end, size: size as u16, index: index as u16, width: chunk.width }
    }

    /// Where its user-defined fields are.
    fn extras(self) -> Place {
        let size = usize::from(self.size);
        self.end.behind(size + 2 * self.width.words(size))
    }
}

/// A link with both its ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewLink {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) value: ValueId,
    pub(crate) from: ContainerId,
    pub(crate) to: ContainerId,
    pub(crate) key: u64,
    pub(crate) extra: ExtraPair,
}

/// The columns of a chunk of states: start, end, value, imbrication, extras.
pub(crate) struct StateChunk;

impl StateChunk {
    pub(crate) const fn words(size: usize, width: Width, extras: bool) -> usize {
        let kept = if extras { size } else { 0 };
        2 * size + 2 * width.words(size) + kept
    }

    pub(crate) const fn value(chunk: &Chunk) -> usize {
        2 * chunk.size()
    }

    pub(crate) const fn imbrication(chunk: &Chunk) -> usize {
        2 * chunk.size() + chunk.width.words(chunk.size())
    }

    pub(crate) const fn extras(chunk: &Chunk) -> usize {
        2 * chunk.size() + 2 * chunk.width.words(chunk.size())
    }
}

/// The columns of a chunk of variables: start, value, extras. A value lasts until the next one's start.
pub(crate) struct VariableChunk;

impl VariableChunk {
    pub(crate) const fn extras(chunk: &Chunk) -> usize {
        2 * chunk.size()
    }
}

/// The columns of a chunk of events: time, value, extras.
pub(crate) struct EventChunk;

impl EventChunk {
    pub(crate) const fn value(chunk: &Chunk) -> usize {
        chunk.size()
    }

    pub(crate) const fn extras(chunk: &Chunk) -> usize {
        chunk.size() + chunk.width.words(chunk.size())
    }
}

/// The columns of a chunk of links: start, end, key, value, from, to, extras.
pub(crate) struct LinkChunk;

impl LinkChunk {
    pub(crate) const fn key(chunk: &Chunk) -> usize {
        2 * chunk.size()
    }

    pub(crate) const fn small(chunk: &Chunk, column: usize) -> usize {
        3 * chunk.size() + column * chunk.width.words(chunk.size())
    }

    pub(crate) const fn extras(chunk: &Chunk) -> usize {
        LinkChunk::small(chunk, 3)
    }
}

impl Store {
    pub(crate) fn new(keeps: Keeps, overflow: Option<&Arc<Overflow>>) -> Self {
        Store {
            arena: Arena::new(overflow.cloned()),
            keys: Keys::new(overflow),
            extras: keeps.anything().then(|| Extras::new(keeps, overflow)),
        }
    }

    /// The memory of its objects.
    pub(crate) fn arenas(&self) -> impl Iterator<Item = &Arena> + Clone {
        [&self.arena, &self.keys.arena].into_iter().chain(self.extras.as_ref().map(Extras::arena))
    }

    /// The same, to be changed.
    pub(crate) fn arenas_mut(&mut self) -> impl Iterator<Item = &mut Arena> {
        let extras = self.extras.as_mut().map(Extras::arena_mut);
        [&mut self.arena, &mut self.keys.arena].into_iter().chain(extras)
    }

    #[inline]
    pub(crate) fn open_state(&mut self, rows: &mut Rows, state: NewState) -> OpenRow {
        let (arena, extras) = (&mut self.arena, self.extras.is_some());
        let width = Width::of(state.value.0 | state.imbrication);
        let words = |size, width| StateChunk::words(size, width, extras);
        let (chunk, index) = rows.push(arena, width, words);
        let words = arena.words_mut(chunk.place);
        words[index] = state.start.to_bits();
        let column = StateChunk::value(&chunk);
        set_small(&mut words[column..], chunk.width, index, state.value.0);
        let column = StateChunk::imbrication(&chunk);
        set_small(&mut words[column..], chunk.width, index, state.imbrication);
        // The end is set when the state closes; until then its memory stays untouched.
        if extras {
            let pair = ExtraPair { opening: state.extra, closing: 0 };
            words[StateChunk::extras(&chunk) + index] = pair.word();
        }
        OpenRow::new(&chunk, index)
    }

    #[inline]
    pub(crate) fn close_state(&mut self, row: OpenRow, end: f64, extra: u32) {
        self.end_state(row, end);
        if self.extras.is_some() {
            let place = row.extras();
            let pair = ExtraPair { closing: extra, ..ExtraPair::from_word(self.arena.get(place)) };
            self.arena.set(place, 0, pair.word());
        }
    }

    /// Sets the end of a state whose closing event has no user-defined fields to keep.
    #[inline]
    pub(crate) fn end_state(&mut self, row: OpenRow, end: f64) {
        self.arena.set(row.end, 0, end.to_bits());
    }

    pub(crate) fn end_of(&self, row: OpenRow) -> f64 {
        f64::from_bits(self.arena.get(row.end))
    }

    pub(crate) fn extras_of(&self, row: OpenRow) -> ExtraPair {
        match &self.extras {
            Some(_) => ExtraPair::from_word(self.arena.get(row.extras())),
            None => ExtraPair::default(),
        }
    }

    /// When an open state began.
    pub(crate) fn start_of(&self, row: OpenRow) -> f64 {
        f64::from_bits(self.arena.get(row.end.before(usize::from(row.size))))
    }

    /// The value of an open state.
    pub(crate) fn value_of(&self, row: OpenRow) -> ValueId {
        let OpenRow { end, size, index, width } = row;
        let (size, index) = (usize::from(size), usize::from(index));
        ValueId(self.arena.small_at(end.before(index).behind(size), width, index))
    }

    /// Keeps user-defined fields that an old store has.
    pub(crate) fn carry_extras(&mut self, old: &Store, pair: ExtraPair) -> ExtraPair {
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

    #[inline]
    pub(crate) fn variable(&mut self, rows: &mut Rows, start: f64, value: f64, extra: u32) {
        let extras = self.extras.is_some();
        let words = |size, _| 2 * size + if extras { size } else { 0 };
        let (chunk, index) = rows.push(&mut self.arena, Width::Narrow, words);
        let words = self.arena.words_mut(chunk.place);
        words[index] = start.to_bits();
        words[chunk.size() + index] = value.to_bits();
        if extras {
            let pair = ExtraPair { opening: extra, closing: 0 };
            words[VariableChunk::extras(&chunk) + index] = pair.word();
        }
    }

    #[inline]
    pub(crate) fn event(&mut self, rows: &mut Rows, time: f64, value: ValueId, extra: u32) {
        let extras = self.extras.is_some();
        let words = |size, width: Width| size + width.words(size) + if extras { size } else { 0 };
        let (chunk, index) = rows.push(&mut self.arena, Width::of(value.0), words);
        let words = self.arena.words_mut(chunk.place);
        words[index] = time.to_bits();
        set_small(&mut words[EventChunk::value(&chunk)..], chunk.width, index, value.0);
        if extras {
            let pair = ExtraPair { opening: extra, closing: 0 };
            words[EventChunk::extras(&chunk) + index] = pair.word();
        }
    }
}

/// Adds a link to the rows of its lane.
#[inline]
pub(crate) fn push_link(
    arena: &mut Arena,
    rows: &mut Rows,
    link: &NewLink,
    shard: usize,
    extras: bool,
) {
    let width = Width::of(link.value.0 | link.from.0 | link.to.0);
    let words =
        |size, width: Width| 3 * size + 3 * width.words(size) + if extras { size } else { 0 };
    let (chunk, index) = rows.push(arena, width, words);
    let (words, size) = (arena.words_mut(chunk.place), chunk.size());
    words[index] = link.start.to_bits();
    words[size + index] = link.end.to_bits();
    words[2 * size + index] = KeyPlace::new(shard, link.key).0;
    for (column, number) in [link.value.0, link.from.0, link.to.0].into_iter().enumerate() {
        set_small(&mut words[LinkChunk::small(&chunk, column)..], chunk.width, index, number);
    }
    if extras {
        words[LinkChunk::extras(&chunk) + index] = link.extra.word();
    }
}

/// Adds the place of a link's key to the rows of a lane that have no other column.
#[inline]
pub(crate) fn push_key(arena: &mut Arena, rows: &mut Rows, key: KeyPlace) {
    let (chunk, index) = rows.push(arena, Width::Narrow, |size, _| size);
    arena.set(chunk.place, index, key.0);
}

/// The places of the keys of a chunk of links, which are in this column.
pub(crate) fn key_places<'a>(
    arena: &'a Arena,
    chunk: &Chunk,
    column: usize,
) -> impl Iterator<Item = KeyPlace> + use<'a> {
    arena.words(chunk.place, column, chunk.count()).iter().copied().map(KeyPlace::from_word)
}

/// Keys of links, as they were written, each behind its length. They lie in pages that never move;
/// none reaches over two.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(super) arena: Arena,
    /// The places of the pages, and how many bytes each has.
    pages: Vec<(Place, usize)>,
    /// Bytes of the last page that are used.
    used: usize,
}

/// Lengths from this on are written in four bytes behind this one.
const LONG: u8 = u8::MAX;

/// Size of a page, unless a key is longer.
const PAGE: usize = 1 << 16;

impl Keys {
    pub(super) fn new(overflow: Option<&Arc<Overflow>>) -> Self {
        Keys { arena: Arena::new(overflow.cloned()), ..Keys::default() }
    }

    /// Keeps a key; returns its place.
    #[inline]
    pub(crate) fn push(&mut self, raw: &[u8]) -> u64 {
        let room = self.pages.last().map_or(0, |page| page.1) - self.used;
        if room < raw.len() + 5 {
            let bytes = PAGE.max((raw.len() + 5).next_multiple_of(8));
            self.pages.push((self.arena.take(bytes / 8), bytes));
            self.used = 0;
        }
        let place = ((self.pages.len() - 1) * PAGE + self.used) as u64;
        let Some((page, bytes)) = self.pages.last() else { return place };
        let page: &mut [u8] =
            bytemuck::cast_slice_mut(&mut self.arena.words_mut(*page)[..bytes / 8]);
        let page = &mut page[self.used..];
        let text = match u8::try_from(raw.len()) {
            Ok(len) if len < LONG => {
                page[0] = len;
                1
            }
            _ => {
                page[0] = LONG;
                page[1..5].copy_from_slice(&(raw.len() as u32).to_le_bytes());
                5
            }
        };
        page[text..text + raw.len()].copy_from_slice(raw);
        self.used += text + raw.len();
        place
    }

    /// See [`Arena::relieve`].
    pub(crate) fn relieve(&self) {
        self.arena.relieve();
    }

    /// The key at a place.
    #[inline]
    pub(crate) fn get(&self, place: u64) -> &[u8] {
        let (page, start, len) = self.find(place);
        &page[start..start + len]
    }

    /// The hash of the key at a place, without its quotes.
    #[inline]
    pub(crate) fn hash(&self, place: u64) -> u64 {
        let (page, start, len) = self.find(place);
        let (start, end) = bare(page, Span { start: start as u32, end: (start + len) as u32 });
        hash_text(page, start, end)
    }

    /// The page of a key, where the key begins in it, and its length.
    #[inline]
    fn find(&self, place: u64) -> (&[u8], usize, usize) {
        let (page, bytes) = self.pages[place as usize / PAGE];
        let page: &[u8] = bytemuck::cast_slice(self.arena.words(page, 0, bytes / 8));
        let at = place as usize % PAGE;
        match page[at] {
            LONG => {
                let len = page[at + 1..].first_chunk().map_or(0, |len| u32::from_le_bytes(*len));
                (page, at + 5, len as usize)
            }
            len => (page, at + 1, usize::from(len)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::hash::hash_bytes;

    #[test]
    fn keys_of_any_length() {
        let mut keys = Keys::default();
        let texts: Vec<Vec<u8>> =
            [0, 1, 5, 253, 254, 255, 256, 70_000].iter().map(|len| vec![b'k'; *len]).collect();
        let places: Vec<u64> = texts.iter().map(|text| keys.push(text)).collect();
        for (text, at) in texts.iter().zip(places) {
            assert_eq!(keys.get(at), text);
            assert_eq!(keys.hash(at), hash_bytes(text));
        }
        let quoted = keys.push(b"\"a key\"");
        assert_eq!(keys.hash(quoted), hash_bytes(b"a key"));
    }
}
