//! Streams of a segment. A stream consists of texts, and of numbered columns of bytes and numbers.

use crate::column_page::{ColumnPage, write_columns};

/// Numbers below this limit take one byte. For other numbers, the first byte gives the number of
/// bytes that follow.
const SMALL: u64 = 240;

/// Number of columns that numbers need: a column for the first byte of each number, and a column
/// for each byte that may follow.
pub(crate) const NUMBER: usize = 9;

/// Returns how many bytes follow the first byte of a large number.
#[inline]
const fn count(number: u64) -> u8 {
    (64 - number.leading_zeros()).div_ceil(8) as u8
}

#[derive(Default)]
pub(crate) struct StreamWriter {
    columns: Vec<Vec<u8>>,
    texts: Vec<u8>,
}

impl StreamWriter {
    #[inline]
    fn column(&mut self, column: usize) -> &mut Vec<u8> {
        if self.columns.len() <= column {
            self.grow(column);
        }
        &mut self.columns[column]
    }

    #[cold]
    fn grow(&mut self, column: usize) {
        self.columns.resize_with((column + 1).next_multiple_of(64), Vec::new);
    }

    #[inline]
    pub(crate) fn byte(&mut self, column: usize, byte: u8) {
        self.column(column).push(byte);
    }

    /// Appends a number to the [`NUMBER`] columns that begin at `column`.
    pub(crate) fn number(&mut self, column: usize, number: u64) {
        self.numbers(column, std::iter::once(number));
    }

    pub(crate) fn text(&mut self, text: &[u8]) {
        self.texts.extend_from_slice(text);
        self.texts.push(b'\n');
    }

    /// Appends numbers to the [`NUMBER`] columns that begin at `column`.
    pub(crate) fn numbers(&mut self, column: usize, numbers: impl Iterator<Item = u64>) {
        self.column(column + NUMBER);
        let Some([first, others @ ..]) = self.columns.get_mut(column..column + NUMBER) else {
            return;
        };
        first.extend(numbers.map(|number| match number {
            small if small < SMALL => small as u8,
            large => {
                let count = count(large);
                let bytes = others.iter_mut().zip(large.to_le_bytes());
                bytes.take(count.into()).for_each(|(column, byte)| column.push(byte));
                (SMALL - 1) as u8 + count
            }
        }));
    }

    /// Returns the page of the columns, and the texts.
    ///
    /// # Errors
    /// zstd lacks memory.
    pub(crate) fn finish(self, level: i32) -> std::io::Result<[Vec<u8>; 2]> {
        let sheet = write_columns(&self.columns, level)?;
        Ok([sheet, self.texts])
    }
}

pub(crate) struct StreamReader<'a> {
    sheet: ColumnPage,
    texts: &'a [u8],
    pub(crate) failed: bool,
}

impl<'a> StreamReader<'a> {
    /// Creates a reader from a page of columns and a page of texts. The segment has `length` bytes
    /// of text.
    pub(crate) fn new(columns: &[u8], texts: &'a [u8], length: usize) -> Self {
        let sheet = ColumnPage::read(columns, length);
        let failed = sheet.is_none();
        let sheet = sheet.unwrap_or_default();
        StreamReader { sheet, texts, failed }
    }

    pub(crate) fn all(&self, column: usize) -> &[u8] {
        self.sheet.all(column)
    }

    /// Returns all numbers of a column. The stream is invalid if there are more than `most`
    /// numbers, or if one of them is invalid.
    pub(crate) fn numbers(&mut self, column: usize, most: usize) -> Vec<u64> {
        let [first, others @ ..]: [&[u8]; NUMBER] =
            std::array::from_fn(|place| self.sheet.all(column + place));
        let largest = u64::from(first.iter().fold(0, |largest, first| largest.max(*first)));
        if first.len() > most || largest >= SMALL + 8 {
            self.failed = true;
            return Vec::new();
        }
        let mut numbers: Vec<u64> = first.iter().map(|first| u64::from(*first)).collect();
        if largest >= SMALL {
            self.failed |= complete(&mut numbers, others).is_none();
        }
        numbers
    }

    #[inline]
    pub(crate) fn byte(&mut self, column: usize) -> u8 {
        self.sheet.next(column).unwrap_or_else(|| {
            self.failed = true;
            0
        })
    }

    /// Reads the next number from the [`NUMBER`] columns that begin at `column`.
    #[inline]
    pub(crate) fn number(&mut self, column: usize) -> u64 {
        let first = u64::from(self.byte(column));
        let count = (first + 1).saturating_sub(SMALL) as usize;
        if count == 0 {
            return first;
        }
        if count > 8 {
            self.fail();
            return 0;
        }
        (0..count)
            .fold(0, |read, place| read | u64::from(self.byte(column + 1 + place)) << (8 * place))
    }

    pub(crate) fn text(&mut self) -> &'a [u8] {
        let Some(end) = memchr::memchr(b'\n', self.texts) else {
            self.failed = true;
            return b"";
        };
        let text = &self.texts[..end];
        self.texts = &self.texts[end + 1..];
        text
    }

    pub(crate) const fn fail(&mut self) {
        self.failed = true;
    }
}

/// Completes numbers, given their first bytes and the columns of their other bytes. Returns `None`
/// if bytes are missing.
fn complete(numbers: &mut [u64], others: [&[u8]; NUMBER - 1]) -> Option<()> {
    let mut others = others.map(<[u8]>::iter);
    // Most numbers have only a few bytes.
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
