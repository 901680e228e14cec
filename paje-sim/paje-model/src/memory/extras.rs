//! User-defined fields and line numbers of events and creations.

use std::sync::Arc;

use crate::memory::{Arena, Overflow, Place, TextPages};
use crate::names::options::Keeps;

/// A line of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineNumber {
    /// Index of the file among the files of the trace.
    pub file: u32,
    /// Line number, counted from 1.
    pub line: u64,
}

const NO_FIELDS: u32 = u32::MAX;

/// User-defined fields and line numbers of events. Entries are numbered from 1. They are kept in an arena, because they
/// may be a large part of a trace.
#[derive(Debug, Default)]
pub struct Extras {
    keeps: Keeps,
    /// An entry starts with four bytes for the event's definition. If lines are kept, four bytes for the file and eight
    /// for the line number follow. Then come the fields as written, each followed by a newline, because no field
    /// contains a newline.
    texts: TextPages,
    /// Pages with the positions of the entries in `texts`.
    places: Vec<Place>,
    len: u32,
    /// Number of the current event's entry. See [`Store::begin_event`](super::Store::begin_event).
    pub(super) current: u32,
    scratch: Vec<u8>,
}

const PAGE: usize = 1 << 10;

impl Extras {
    pub fn new(keeps: Keeps, overflow: Option<Arc<Overflow>>) -> Self {
        Extras { keeps, texts: TextPages::new(overflow), ..Extras::default() }
    }

    pub const fn keeps(&self) -> Keeps {
        self.keeps
    }

    pub fn push_line(&mut self, line: LineNumber) -> u32 {
        self.push(NO_FIELDS, &[], line)
    }

    pub fn push(&mut self, def: u32, text: &[u8], line: LineNumber) -> u32 {
        self.scratch.clear();
        self.scratch.extend_from_slice(&def.to_le_bytes());
        if self.keeps.lines {
            self.scratch.extend_from_slice(&line.file.to_le_bytes());
            self.scratch.extend_from_slice(&line.line.to_le_bytes());
        }
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

    /// Returns the definition and the text of the fields, if there are any, and the line.
    pub fn get(&self, number: u32) -> Option<(Option<u32>, &[u8], LineNumber)> {
        let index = number.checked_sub(1).filter(|index| *index < self.len)? as usize;
        let page = *self.places.get(index / PAGE)?;
        let place = self.texts.arena.get(page.after(index % PAGE));
        let (def, mut text) = self.texts.get(place).split_first_chunk()?;
        let def = Some(u32::from_le_bytes(*def)).filter(|def| *def != NO_FIELDS);
        let mut at = LineNumber::default();
        if self.keeps.lines {
            let (file, rest) = text.split_first_chunk()?;
            let (line, rest) = rest.split_first_chunk()?;
            at = LineNumber { file: u32::from_le_bytes(*file), line: u64::from_le_bytes(*line) };
            text = rest;
        }
        Some((def, text, at))
    }

    pub fn fields(&self, number: u32) -> Option<(u32, &[u8])> {
        let (def, text, _) = self.get(number)?;
        Some((def?, text))
    }

    pub fn line(&self, number: u32) -> Option<LineNumber> {
        let (_, _, line) = self.get(number)?;
        self.keeps.lines.then_some(line)
    }

    pub const fn arena(&self) -> &Arena {
        &self.texts.arena
    }

    pub const fn arena_mut(&mut self) -> &mut Arena {
        &mut self.texts.arena
    }
}

/// User-defined fields and line numbers of creations. Entries are numbered from 1.
#[derive(Clone, Debug, Default)]
pub struct CreationExtras {
    /// For each creation: its definition if it has fields, the end of its fields in `text`, and its line.
    entries: Vec<(Option<u32>, u64, LineNumber)>,
    /// Fields as written, each followed by a newline.
    text: Vec<u8>,
}

impl CreationExtras {
    /// Stores the line of a creation, and the definition and the fields if the creation has any.
    pub fn push(&mut self, fields: Option<(u32, &[u8])>, line: LineNumber) {
        let (def, text) = fields.map_or((None, &[][..]), |(def, text)| (Some(def), text));
        self.text.extend_from_slice(text);
        self.entries.push((def, self.text.len() as u64, line));
    }

    pub fn fields(&self, number: u32) -> Option<(u32, &[u8])> {
        let index = (number as usize).checked_sub(1)?;
        let (def, end, _) = *self.entries.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.entries[before].1);
        Some((def?, &self.text[start as usize..end as usize]))
    }

    pub fn line(&self, number: u32) -> Option<LineNumber> {
        let index = (number as usize).checked_sub(1)?;
        self.entries.get(index).map(|(_, _, line)| *line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [(u32, &[u8]); 3] = [(3, b"a\nb\n"), (4, b""), (5, b"c\n")];

    fn line(line: u64) -> LineNumber {
        LineNumber { file: 1, line }
    }

    #[test]
    fn extras_are_numbered_from_one() {
        for lines in [false, true] {
            let mut extras = Extras::new(Keeps { fields: true, lines, ..Keeps::default() }, None);
            let numbers = FIELDS.map(|(def, text)| extras.push(def, text, line(7)));
            assert_eq!(numbers, [1, 2, 3]);
            assert_eq!([0, 1, 2, 3].map(|number| extras.fields(number))[1..], FIELDS.map(Some));
            assert_eq!((extras.fields(0), extras.fields(4)), (None, None));
            assert_eq!(extras.line(2), lines.then(|| line(7)));
        }
        let mut extras = Extras::new(Keeps { lines: true, ..Keeps::default() }, None);
        assert_eq!(extras.push_line(line(9)), 1);
        assert_eq!((extras.fields(1), extras.line(1), extras.line(2)), (None, Some(line(9)), None));

        let mut few = CreationExtras::default();
        FIELDS.iter().for_each(|(def, text)| few.push(Some((*def, text)), line(8)));
        few.push(None, line(9));
        assert_eq!([0, 1, 2, 3].map(|number| few.fields(number))[1..], FIELDS.map(Some));
        assert_eq!((few.fields(0), few.fields(4), few.fields(5)), (None, None, None));
        assert_eq!((few.line(3), few.line(4), few.line(5)), (Some(line(8)), Some(line(9)), None));
    }

    #[test]
    fn extras_on_many_pages() {
        let mut extras = Extras::new(Keeps { fields: true, lines: true, ..Keeps::default() }, None);
        let text = |i: u32| vec![b'x'; (i % 300) as usize];
        let count = 5 * PAGE as u32 + 7;
        for i in 0..count {
            assert_eq!(extras.push(i, &text(i), line(u64::from(i))), i + 1);
        }
        for i in 0..count {
            assert_eq!(extras.fields(i + 1), Some((i, &text(i)[..])));
            assert_eq!(extras.line(i + 1), Some(line(u64::from(i))));
        }
    }
}
