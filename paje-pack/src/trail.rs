//! Notes of a writer about its lines, for who looks at them when all have been told.

use std::ops::Range;

use crate::spare::{self, kept};

/// Marks of lines, beside their steps: some hole has a quote that is not one of two around it; the first value is no decimal number as they are
/// mostly written; there is no time, or it is spelt otherwise than most.
const ODD_QUOTES: u32 = 1 << 31;
const TEXT: u32 = 1 << 30;
const NO_TIME: u32 = 1 << 29;

/// A line: its step and marks, its first byte, and the units of its last time.
#[derive(Clone, Copy)]
pub(crate) struct Noted {
    step: u32,
    pub(crate) at: u32,
    pub(crate) units: i64,
}

impl Noted {
    #[inline]
    pub(crate) const fn step(self) -> usize {
        (self.step % NO_TIME) as usize
    }

    /// Something about it is unusual.
    #[inline]
    pub(crate) const fn is_marked(self) -> bool {
        self.step >= NO_TIME
    }

    /// Units of its last time, if it has one and that is spelt as most.
    pub(crate) const fn time(self) -> Option<i64> {
        if self.step & NO_TIME == 0 { Some(self.units) } else { None }
    }

    pub(crate) const fn has_odd_quotes(self) -> bool {
        self.step & ODD_QUOTES != 0
    }

    /// Its first value is no decimal number.
    pub(crate) const fn is_text(self) -> bool {
        self.step & TEXT != 0
    }
}

/// A key of a line: its place in the text, the link that begins or ends, if a writer knows it, and where the first value of the line is.
#[derive(Clone, Copy)]
pub(crate) struct NotedKey {
    pub(crate) line: u32,
    at: u32,
    len: u32,
    pub(crate) link: u32,
    value: (u32, u32),
}

impl NotedKey {
    /// A key at a place of the text, with the number of its link, in a line of which nothing else is known.
    pub(crate) const fn new(line: u32, place: Range<usize>, link: u32) -> NotedKey {
        let (at, len) = (place.start as u32, (place.end - place.start) as u32);
        NotedKey { line, at, len, link, value: (0, 0) }
    }

    pub(crate) const fn place(&self) -> Range<usize> {
        self.at as usize..(self.at + self.len) as usize
    }

    /// Place of the line's first value, which is empty if it has none.
    pub(crate) const fn value(&self) -> Range<usize> {
        self.value.0 as usize..self.value.1 as usize
    }
}

kept! { Noted, NotedKey }

/// Contents of a line's holes, as its writer comes by them.
pub(crate) struct Content {
    marks: u32,
    units: i64,
    key: Option<(Range<usize>, u32)>,
    value: (u32, u32),
    quoted_key: bool,
}

impl Content {
    #[inline]
    pub(crate) const fn new() -> Content {
        Content { marks: NO_TIME, units: 0, key: None, value: (0, 0), quoted_key: false }
    }

    /// A time, in units if it is spelt as the others.
    #[inline]
    pub(crate) const fn time(&mut self, units: Option<i64>) {
        match units {
            Some(units) => (self.units, self.marks) = (units, self.marks & !NO_TIME),
            None => self.marks |= NO_TIME,
        }
    }

    /// A key at a place of the text, of a link that has a number.
    #[inline]
    pub(crate) const fn key(&mut self, place: Range<usize>, link: u32) {
        self.key = Some((place, link));
    }

    /// A value at a place of the text; whether it is a decimal number as they are mostly written.
    #[inline]
    pub(crate) const fn value(&mut self, place: Range<usize>, is_number: bool) {
        if self.value.1 == 0 {
            self.value = (place.start as u32, place.end as u32);
            self.marks |= if is_number { 0 } else { TEXT };
        }
    }

    /// The key is in quotes.
    pub(crate) const fn quoted_key(&mut self) {
        self.quoted_key = true;
    }

    /// Some hole has a quote that is not one of two around it.
    pub(crate) const fn odd_quotes(&mut self) {
        self.marks |= ODD_QUOTES;
    }
}

/// All lines of a segment, and all keys, in order; whether any key is in quotes, and the number of steps.
pub(crate) struct Trail {
    pub(crate) lines: Vec<Noted>,
    pub(crate) keys: Vec<NotedKey>,
    pub(crate) has_quoted_keys: bool,
    pub(crate) steps: usize,
}

impl Default for Trail {
    fn default() -> Self {
        let (mut lines, mut keys) = (spare::take::<Noted>(), spare::take::<NotedKey>());
        lines.clear();
        keys.clear();
        Trail { lines, keys, has_quoted_keys: false, steps: 0 }
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        spare::give(std::mem::take(&mut self.lines));
        spare::give(std::mem::take(&mut self.keys));
    }
}

impl Trail {
    /// The next line, of a step, which begins here.
    #[inline]
    pub(crate) fn note(&mut self, step: u32, at: usize, content: &Content) {
        if let Some((place, link)) = &content.key {
            self.has_quoted_keys |= content.quoted_key;
            let key = NotedKey::new(self.lines.len() as u32, place.clone(), *link);
            self.keys.push(NotedKey { value: content.value, ..key });
        }
        self.lines.push(Noted { step: step | content.marks, at: at as u32, units: content.units });
    }
}
