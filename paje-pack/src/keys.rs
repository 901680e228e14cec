//! Keys of links. A key is cut after its last `_` into a prefix and a rest. Prefixes are numbered. The rest is a value,
//! usually a counter.
//!
//! Links without an end wait in queues, one for each prefix. For the end of a link, only its position in the queue is
//! written, so that neither the writer nor the reader compares whole keys.

use std::collections::VecDeque;
use std::ops::Range;

use crate::digits::{SHORT, Short};
use crate::fields::{FieldsIn, FieldsOut, Place, is_bare};
use crate::out::Out;
use crate::stream::{NUMBER, StreamReader, StreamWriter};
use crate::table::{Rows, TABLE, Table};
use crate::texts::Texts;

const JOINT: u8 = b'_';

/// Number of links at the front of a queue that are compared with an end.
const NEAR: usize = 64;

/// Columns of keys: the position of each ended link in its queue, counted from 1, or 0 if the key is written; a table
/// of the numbers of prefixes by slot; and the fields of the rests.
mod column {
    pub(super) const PLACES: usize = 0;
    pub(super) const PREFIXES: usize = super::NUMBER;
    pub(super) const RESTS: usize = PREFIXES + super::TABLE;
}

/// Start and end of a key in the segment's text.
type KeyAt = (u32, u32);

/// Links that have no end yet, by the number of their prefix.
#[derive(Default)]
struct Waiting(Vec<VecDeque<KeyAt>>);

impl Waiting {
    #[inline]
    fn start(&mut self, prefix: u32, at: KeyAt) {
        let prefix = prefix as usize;
        if self.0.len() <= prefix {
            self.0.resize_with(prefix + 1, VecDeque::new);
        }
        self.0[prefix].push_back(at);
    }

    #[inline]
    fn end(&mut self, prefix: u32, place: usize) -> Option<KeyAt> {
        let queue = self.0.get_mut(prefix as usize)?;
        if place == 0 { queue.pop_front() } else { queue.remove(place) }
    }

    #[inline]
    fn find(&self, prefix: u32, is_key: impl Fn(KeyAt) -> bool) -> Option<usize> {
        self.0.get(prefix as usize)?.iter().take(NEAR).position(|at| is_key(*at))
    }
}

#[derive(Default)]
pub(crate) struct KeysOut {
    rests: FieldsOut,
    prefixes: Texts,
    codes: Rows,
    waiting: Waiting,
}

impl KeysOut {
    #[inline]
    pub(crate) fn start(&mut self, place: Place, text: &[u8], range: Range<usize>) {
        let at = (range.start as u32, range.end as u32);
        let (prefix, rest) = self.prefix(place.slot, text, range);
        self.rests.value(place, text, rest);
        self.waiting.start(prefix, at);
    }

    #[inline]
    pub(crate) fn end(
        &mut self,
        side: &mut StreamWriter,
        place: Place,
        text: &[u8],
        range: Range<usize>,
    ) {
        let key = &text[range.clone()];
        let (prefix, rest) = self.prefix(place.slot, text, range);
        let is_key = |(from, to): KeyAt| &text[from as usize..to as usize] == key;
        if let Some(found) = self.waiting.find(prefix, is_key) {
            self.waiting.end(prefix, found);
            side.number(column::PLACES, found as u64 + 1);
        } else {
            side.number(column::PLACES, 0);
            self.rests.value(place, text, rest);
        }
    }

    /// Writes the prefix of a key. Returns its number and the rest of the key.
    #[inline]
    fn prefix(&mut self, slot: u32, text: &[u8], range: Range<usize>) -> (u32, Range<usize>) {
        let len = memchr::memrchr(JOINT, &text[range.clone()]).map_or(0, |joint| joint + 1);
        let (prefix, rest) = (range.start..range.start + len, range.start + len..range.end);
        if let Some(number) = self.prefixes.find(&text[prefix.clone()]) {
            self.codes.push(slot, u64::from(number) + 1);
            return (number, rest);
        }
        self.codes.push(slot, 0);
        self.rests.spell(prefix.clone());
        (self.prefixes.put(&text[prefix]), rest)
    }

    /// Writes all keys. `text` is the text that contains them.
    pub(crate) fn write(&mut self, side: &mut StreamWriter, text: &[u8]) {
        self.codes.write(side, column::PREFIXES);
        self.rests.write(side, column::RESTS, text);
    }
}

pub(crate) struct KeysIn {
    rests: FieldsIn,
    /// The first bytes of each prefix, and its other bytes.
    prefixes: Vec<(Short, Box<[u8]>)>,
    codes: Table,
    waiting: Waiting,
    /// Whether any prefix cannot be part of a word.
    has_odd: bool,
}

impl KeysIn {
    /// Creates a reader for a segment with `length` bytes of text.
    pub(crate) fn new(side: &mut StreamReader<'_>, length: usize) -> KeysIn {
        let codes = Table::read(side, column::PREFIXES, [length; 2]);
        let rests = FieldsIn::new(side, column::RESTS, length);
        let (prefixes, waiting) = Default::default();
        KeysIn { rests, prefixes, codes, waiting, has_odd: false }
    }

    /// Returns whether reading went beyond the end of any slot.
    pub(crate) fn has_overrun(&self) -> bool {
        self.codes.has_overrun() || self.rests.has_overrun()
    }

    /// Returns whether a key may be something else than a single word.
    pub(crate) const fn has_odd(&self) -> bool {
        self.has_odd || self.rests.has_odd()
    }

    /// Reads the key of a link that starts, and appends it to `out`. Returns the position of the key in `out`.
    #[inline]
    pub(crate) fn start(
        &mut self,
        side: &mut StreamReader<'_>,
        place: Place,
        out: &mut Out,
    ) -> KeyAt {
        let prefix = self.prefix(side, place.slot);
        let at = self.write(side, prefix, place, out);
        self.waiting.start(prefix, at);
        at
    }

    /// Reads the key of a link that ends. Returns the position of the key in `out`. If no waiting
    /// link has this key, the key is appended to `out` first.
    #[inline]
    pub(crate) fn end(
        &mut self,
        side: &mut StreamReader<'_>,
        place: Place,
        out: &mut Out,
    ) -> KeyAt {
        let prefix = self.prefix(side, place.slot);
        let number = side.number(column::PLACES);
        if number == 0 {
            return self.write(side, prefix, place, out);
        }
        let found = usize::try_from(number).ok().filter(|number| *number <= NEAR);
        found.and_then(|number| self.waiting.end(prefix, number - 1)).unwrap_or_else(|| {
            side.fail();
            (0, 0)
        })
    }

    /// Reads a prefix and returns its number.
    #[inline]
    fn prefix(&mut self, side: &mut StreamReader<'_>, slot: u32) -> u32 {
        match self.codes.next(slot) {
            Some(0) => {
                let text = side.text();
                self.has_odd |= !is_bare(text);
                let rest = text.get(SHORT..).unwrap_or_default().into();
                self.prefixes.push((Short::of(text), rest));
                self.prefixes.len() as u32 - 1
            }
            Some(code) if code <= self.prefixes.len() as u64 => code as u32 - 1,
            _ => {
                side.fail();
                0
            }
        }
    }

    #[inline]
    fn write(
        &mut self,
        side: &mut StreamReader<'_>,
        prefix: u32,
        place: Place,
        out: &mut Out,
    ) -> KeyAt {
        let start = out.len() as u32;
        if let Some((short, rest)) = self.prefixes.get(prefix as usize) {
            out.put_short(*short);
            if !rest.is_empty() {
                out.put(rest);
            }
        }
        match self.rests.plain(place) {
            Some((value, _)) => self.rests.put(value, out),
            None => self.rests.value(side, place, out),
        }
        (start, out.len() as u32)
    }
}
