//! Numbers, texts, and answers to guesses, in columns.
//!
//! Where one model serves both directions, it asks a [`Side`] for each decision: the side that writes takes what it is given, the
//! side that reads ignores that and gives what was written.

use crate::numbers::Numbers;
use crate::sheet::{Sheet, sheet};
use crate::spare;

/// Numbers below this are their own first byte; above it, the first byte says how many follow.
const SMALL: u64 = 240;

/// Columns that a number takes: one for its first byte, and one for each that may follow.
pub(crate) const NUMBER: usize = 9;

/// The longest run.
const LONGEST: u32 = u32::MAX - 1;

/// Bytes of a large number that follow the first one.
#[inline]
const fn count(number: u64) -> u8 {
    (64 - number.leading_zeros()).div_ceil(8) as u8
}

/// One stream, which is written or read.
pub(crate) trait Side {
    /// A byte of a column.
    fn byte(&mut self, column: usize, byte: u8) -> u8;

    /// A guess was right; the column has how often this was so in a row.
    fn hit(&mut self, column: usize, hit: bool) -> bool;

    /// A text without newlines.
    fn text<'t>(&'t mut self, given: &'t [u8]) -> &'t [u8];

    /// Notes that what has been read makes no sense.
    fn fail(&mut self);

    /// A number, in [`NUMBER`] columns from `column` on.
    #[inline]
    fn number(&mut self, column: usize, value: u64) -> u64 {
        let first = if value < SMALL { value as u8 } else { SMALL as u8 - 1 + count(value) };
        let first = self.byte(column, first);
        if u64::from(first) < SMALL { first.into() } else { self.bytes(column, first, value) }
    }

    /// The bytes of a number that follow the first one.
    fn bytes(&mut self, column: usize, first: u8, value: u64) -> u64 {
        let count = usize::from(first) - (SMALL as usize - 1);
        if count > 8 {
            self.fail();
            return 0;
        }
        (0..count).fold(0, |read, place| {
            read | u64::from(self.byte(column + 1 + place, (value >> (8 * place)) as u8))
                << (8 * place)
        })
    }
}

/// A column that is written.
#[derive(Default)]
struct Column {
    bytes: Vec<u8>,
    /// Hits of the run that has not ended.
    run: u32,
}

impl Column {
    /// A run ends: a number in seven bits at a time.
    #[inline]
    fn end(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        while run > 127 {
            self.bytes.push(run as u8 | 128);
            run >>= 7;
        }
        self.bytes.push(run as u8);
    }
}

/// The side that writes.
#[derive(Default)]
pub(crate) struct Writing {
    columns: Vec<Column>,
    texts: Vec<u8>,
}

impl Writing {
    #[inline]
    fn column(&mut self, column: usize) -> &mut Column {
        if self.columns.len() <= column {
            self.grow(column);
        }
        &mut self.columns[column]
    }

    #[cold]
    fn grow(&mut self, column: usize) {
        self.columns.resize_with((column + 1).next_multiple_of(64), Column::default);
    }

    /// Numbers, as [`Side::number`] writes them one by one, into columns that have none.
    pub(crate) fn numbers(&mut self, column: usize, numbers: &[u64]) {
        let plane = |_| {
            let mut plane: Vec<u8> = spare::take();
            plane.resize(plane.len().max(numbers.len()), 0);
            plane
        };
        // Few have more than two bytes behind the first one.
        let mut planes = [0, 1, 2].map(plane);
        self.column(column + NUMBER);
        let others = &mut self.columns[column + planes.len()..column + NUMBER];
        let [first, low, high] = &mut planes;
        let (mut lows, mut highs) = (low.iter_mut(), high.iter_mut());
        for (number, byte) in numbers.iter().zip(first) {
            if *number < SMALL {
                *byte = *number as u8;
                continue;
            }
            let count = count(*number);
            *byte = (SMALL - 1) as u8 + count;
            if let Some(low) = lows.next() {
                *low = *number as u8;
            }
            if count > 1
                && let Some(high) = highs.next()
            {
                *high = (*number >> 8) as u8;
            }
            if count > 2 {
                let bytes = others.iter_mut().zip((*number >> 16).to_le_bytes());
                bytes
                    .take(usize::from(count) - 2)
                    .for_each(|(column, byte)| column.bytes.push(byte));
            }
        }
        let left = [lows.len(), highs.len()];
        let lens = [numbers.len(), planes[1].len() - left[0], planes[2].len() - left[1]];
        for (column, (mut plane, len)) in
            self.columns[column..].iter_mut().zip(planes.into_iter().zip(lens))
        {
            plane.truncate(len);
            column.bytes = plane;
        }
    }

    /// Numbers, most of which are small.
    pub(crate) fn few(&mut self, column: usize, numbers: impl Iterator<Item = u32>) {
        self.column(column + NUMBER);
        let Some([first, others @ ..]) = self.columns.get_mut(column..column + NUMBER) else {
            return;
        };
        first.bytes.reserve(numbers.size_hint().0);
        first.bytes.extend(numbers.map(|number| match u64::from(number) {
            small if small < SMALL => small as u8,
            large => {
                let count = count(large);
                let bytes = others.iter_mut().zip(large.to_le_bytes());
                bytes.take(count.into()).for_each(|(column, byte)| column.bytes.push(byte));
                (SMALL - 1) as u8 + count
            }
        }));
    }

    /// The page of the columns, and the texts.
    ///
    /// # Errors
    /// zstd lacks memory.
    pub(crate) fn finish(mut self, level: i32) -> std::io::Result<[Vec<u8>; 2]> {
        self.columns.iter_mut().filter(|column| column.run > 0).for_each(Column::end);
        let columns: Vec<_> = self.columns.into_iter().map(|column| column.bytes).collect();
        let sheet = sheet(&columns, level)?;
        columns.into_iter().for_each(spare::give);
        Ok([sheet, self.texts])
    }
}

impl Side for Writing {
    #[inline]
    fn byte(&mut self, column: usize, byte: u8) -> u8 {
        self.column(column).bytes.push(byte);
        byte
    }

    #[inline]
    fn hit(&mut self, column: usize, hit: bool) -> bool {
        let column = self.column(column);
        if hit && column.run < LONGEST {
            column.run += 1;
        } else {
            column.end();
        }
        hit
    }

    fn text<'t>(&'t mut self, given: &'t [u8]) -> &'t [u8] {
        self.texts.extend_from_slice(given);
        self.texts.push(b'\n');
        given
    }

    fn fail(&mut self) {}
}

/// No run has been read.
const UNREAD: u32 = u32::MAX;

/// The side that reads.
pub(crate) struct Reading<'a> {
    sheet: Sheet,
    runs: Vec<u32>,
    texts: &'a [u8],
    pub(crate) failed: bool,
}

impl<'a> Reading<'a> {
    /// The side that reads what a segment with `length` bytes of text has in a page of columns, and one of texts.
    pub(crate) fn new(columns: &[u8], texts: &'a [u8], length: usize) -> Self {
        let sheet = Sheet::read(columns, length);
        let failed = sheet.is_none();
        let sheet = sheet.unwrap_or_default();
        Reading { runs: vec![UNREAD; sheet.len()], sheet, texts, failed }
    }

    /// It has no columns at all.
    pub(crate) const fn is_empty(&self) -> bool {
        self.sheet.len() == 0
    }

    /// All bytes of a column.
    pub(crate) fn all(&self, column: usize) -> &[u8] {
        self.sheet.all(column)
    }

    /// All numbers of a column; none, and it has failed, if they are more than `most`, or one of them is none.
    pub(crate) fn numbers(&mut self, column: usize, most: usize) -> Numbers {
        let [first, others @ ..]: [&[u8]; NUMBER] =
            std::array::from_fn(|place| self.sheet.all(column + place));
        let largest = u64::from(first.iter().fold(0, |largest, first| largest.max(*first)));
        if first.len() > most || largest >= SMALL + 8 {
            self.failed = true;
            return Numbers::default();
        }
        if largest < SMALL {
            let mut numbers = spare::take_for(first.len());
            numbers.clear();
            numbers.extend_from_slice(first);
            return Numbers::Small(numbers);
        }
        let mut numbers = spare::take_for(first.len());
        numbers.clear();
        numbers.extend(first.iter().map(|first| u64::from(*first)));
        self.failed |= complete(&mut numbers, others).is_none();
        Numbers::Any(numbers)
    }

    #[cold]
    fn run(&mut self, column: usize) -> u32 {
        let (mut run, mut place) = (0, 0);
        loop {
            let byte = self.byte(column, 0);
            if place > 28 {
                self.failed = true;
                return 0;
            }
            run |= u32::from(byte & 127) << place;
            place += 7;
            if byte < 128 {
                return run.min(LONGEST);
            }
        }
    }
}

impl Side for Reading<'_> {
    #[inline]
    fn byte(&mut self, column: usize, _: u8) -> u8 {
        self.sheet.next(column).unwrap_or_else(|| {
            self.failed = true;
            0
        })
    }

    #[inline]
    fn hit(&mut self, column: usize, _: bool) -> bool {
        let Some(mut left) = self.runs.get(column).copied() else {
            self.failed = true;
            return false;
        };
        if left == UNREAD {
            left = self.run(column);
        }
        let hit = left > 0;
        self.runs[column] = if hit { left - 1 } else { UNREAD };
        hit
    }

    fn text<'t>(&'t mut self, _: &'t [u8]) -> &'t [u8] {
        let Some(end) = memchr::memchr(b'\n', self.texts) else {
            self.failed = true;
            return b"";
        };
        let text = &self.texts[..end];
        self.texts = &self.texts[end + 1..];
        text
    }

    fn fail(&mut self) {
        self.failed = true;
    }
}

/// Makes numbers of their first bytes and those that follow; none if there are too few.
fn complete(numbers: &mut [u64], others: [&[u8]; NUMBER - 1]) -> Option<()> {
    let mut others = others.map(<[u8]>::iter);
    // Most have a few bytes; the places of these stay at hand.
    let [mut one, mut two, mut three, ..] = others.clone();
    for number in numbers.iter_mut().filter(|number| **number >= SMALL) {
        let count = *number - (SMALL - 1);
        let mut read = u64::from(*one.next()?);
        if count > 1 {
            read |= u64::from(*two.next()?) << 8;
        }
        if count > 2 {
            read |= u64::from(*three.next()?) << 16;
        }
        if count > 3 {
            for (place, other) in others.iter_mut().enumerate().take(count as usize).skip(3) {
                read |= u64::from(*other.next()?) << (8 * place);
            }
        }
        *number = read;
    }
    Some(())
}
