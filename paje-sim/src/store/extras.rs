//! User-defined fields of events and of creations.

use std::sync::Arc;

use super::Keys;
use crate::columns::{Arena, Overflow, Place};

/// User-defined fields of events, numbered from 1. They may be a large part of a trace, so that they lie
/// in an arena.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// The index of the event definition in four bytes, and the fields as they were written, each with a
    /// newline after it: no field holds one.
    texts: Keys,
    /// Pages of the places of the texts.
    places: Vec<Place>,
    len: u32,
    /// A text before it is kept.
    scratch: Vec<u8>,
}

/// Places on a page.
const PAGE: usize = 1 << 10;

impl Extras {
    pub(crate) fn new(overflow: Option<&Arc<Overflow>>) -> Self {
        Extras { texts: Keys::new(overflow), ..Extras::default() }
    }

    /// Keeps the fields of an event; returns their number.
    pub(crate) fn push(&mut self, def: u32, text: &[u8]) -> u32 {
        self.scratch.clear();
        self.scratch.extend_from_slice(&def.to_le_bytes());
        self.scratch.extend_from_slice(text);
        let place = self.texts.push(&self.scratch);
        let index = self.len as usize;
        let arena = &mut self.texts.arena;
        if index / PAGE == self.places.len() {
            self.places.push(arena.take(PAGE));
        }
        arena.set(self.places[index / PAGE], index % PAGE, place);
        self.len += 1;
        self.len
    }

    /// The definition and the fields' text.
    pub(crate) fn get(&self, number: u32) -> Option<(u32, &[u8])> {
        let index = number.checked_sub(1).filter(|index| *index < self.len)? as usize;
        let page = *self.places.get(index / PAGE)?;
        let place = self.texts.arena.get(page.behind(index % PAGE));
        let (def, text) = self.texts.get(place).split_first_chunk()?;
        Some((u32::from_le_bytes(*def), text))
    }

    pub(crate) const fn arena(&self) -> &Arena {
        &self.texts.arena
    }

    pub(crate) const fn arena_mut(&mut self) -> &mut Arena {
        &mut self.texts.arena
    }
}

/// User-defined fields of creations, numbered from 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct CreationExtras {
    /// The event definition, and where the text ends.
    entries: Vec<(u32, u64)>,
    /// The fields as they were written, each with a newline after it.
    text: Vec<u8>,
}

impl CreationExtras {
    /// Keeps the fields of a creation.
    pub(crate) fn push(&mut self, def: u32, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.entries.push((def, self.text.len() as u64));
    }

    /// The definition and the fields' text.
    pub(crate) fn get(&self, number: u32) -> Option<(u32, &[u8])> {
        let index = (number as usize).checked_sub(1)?;
        let (def, end) = *self.entries.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.entries[before].1);
        Some((def, &self.text[start as usize..end as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [(u32, &[u8]); 3] = [(3, b"a\nb\n"), (4, b""), (5, b"c\n")];

    #[test]
    fn extras_are_numbered_from_one() {
        let mut extras = Extras::default();
        let numbers = FIELDS.map(|(def, text)| extras.push(def, text));
        assert_eq!(numbers, [1, 2, 3]);
        assert_eq!([0, 1, 2, 3].map(|number| extras.get(number))[1..], FIELDS.map(Some));
        assert_eq!((extras.get(0), extras.get(4)), (None, None));

        let mut few = CreationExtras::default();
        FIELDS.iter().for_each(|(def, text)| few.push(*def, text));
        assert_eq!([0, 1, 2, 3].map(|number| few.get(number))[1..], FIELDS.map(Some));
        assert_eq!((few.get(0), few.get(4)), (None, None));
    }

    #[test]
    fn extras_on_many_pages() {
        let mut extras = Extras::default();
        let text = |i: u32| vec![b'x'; (i % 300) as usize];
        let count = 5 * PAGE as u32 + 7;
        for i in 0..count {
            assert_eq!(extras.push(i, &text(i)), i + 1);
        }
        for i in 0..count {
            assert_eq!(extras.get(i + 1), Some((i, &text(i)[..])));
        }
    }
}
