//! Decisions as small numbers in columns, and guesses, so that most decisions are that the guess is right.
//!
//! One model serves both directions. It asks a [`Side`] for each decision: the side that writes takes what it is given, the
//! side that reads ignores that and gives what was written.

use crate::sheet::{Sheet, sheet};

/// Numbers below this are their own first byte; above it, the first byte says how many follow.
const SMALL: u64 = 240;

/// Columns that a number takes: one for its first byte, and one for each that may follow.
pub(crate) const NUMBER: usize = 9;

/// Number of classes of guesses, by how often they were right lately.
pub(crate) const CLASSES: usize = 5;

/// The class from which on guesses are asked for that are often wrong at first: those that have been right once.
pub(crate) const ASKED: usize = 1;

/// The longest run.
const LONGEST: u32 = u32::MAX - 1;

/// One stream, which is written or read.
pub(crate) trait Side {
    /// It is written: what is given counts.
    const WRITES: bool;

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
        let count = (64 - value.leading_zeros()).div_ceil(8) as u8;
        let first = if value < SMALL { value as u8 } else { SMALL as u8 - 1 + count };
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

    /// The page of the columns, and the texts.
    ///
    /// # Errors
    /// zstd lacks memory.
    pub(crate) fn finish(mut self, level: i32) -> std::io::Result<[Vec<u8>; 2]> {
        self.columns.iter_mut().filter(|column| column.run > 0).for_each(Column::end);
        let columns: Vec<_> = self.columns.into_iter().map(|column| column.bytes).collect();
        Ok([sheet(&columns, level)?, self.texts])
    }
}

impl Side for Writing {
    const WRITES: bool = true;

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
    const WRITES: bool = false;

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

/// A context from two others.
pub(crate) const fn mix(a: u32, b: u32) -> u32 {
    let mixed =
        (a ^ b.wrapping_mul(0x9e37_79b1)).wrapping_add(0x7f4a_7c15).wrapping_mul(0x85eb_ca6b);
    mixed ^ mixed >> 15
}

/// Room for guesses in a segment with so many bytes of text: 2 to this power.
pub(crate) const fn room(length: usize) -> u32 {
    let bits = usize::BITS - length.leading_zeros();
    let room = bits.saturating_sub(6);
    if room < 8 {
        8
    } else if room > 14 {
        14
    } else {
        room
    }
}

/// Score of a guess by how often it was right lately, 0 if there is none.
#[derive(Clone, Copy, Default)]
pub(crate) struct Trust(u8);

/// Classes of scores: the bits that one less than the score takes.
const CLASS: [u8; 16] = [0, 0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4];

impl Trust {
    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Which of the [`CLASSES`] it is of, if there is a guess.
    #[inline]
    pub(crate) const fn class(self) -> usize {
        CLASS[(self.0 & 15) as usize] as usize
    }

    /// The guess was right, or not; false if another takes its place.
    #[inline]
    pub(crate) const fn learn(&mut self, right: bool) -> bool {
        if right && self.0 > 0 {
            if self.0 < 15 {
                self.0 += 1;
            }
            return true;
        }
        let stays = self.0 > 3;
        self.0 = if stays { self.0 / 2 } else { 1 };
        stays
    }
}

/// Guesses by context: what came the last time may come next.
pub(crate) struct Guesses<T> {
    guesses: Vec<(T, Trust)>,
}

impl<T: Copy + PartialEq + Default> Guesses<T> {
    pub(crate) fn new(room: u32) -> Self {
        Guesses { guesses: vec![Default::default(); 1 << room] }
    }

    /// Which guess is that of a context.
    #[inline]
    pub(crate) const fn place(&self, context: u32) -> usize {
        context as usize & (self.guesses.len() - 1)
    }

    /// The guess at a place, if it is asked for and right. It is asked for if it is of class `least` or more, and not `tried` already;
    /// the columns of its runs begin with `column`.
    #[inline]
    pub(crate) fn try_one<S: Side>(
        &self,
        side: &mut S,
        place: usize,
        (column, least): (usize, usize),
        tried: Option<T>,
        given: T,
    ) -> Option<T> {
        let (guess, class) = self.asked(place, least)?;
        let asks = tried != Some(guess);
        (asks && side.hit(column + class, guess == given)).then_some(guess)
    }

    /// The guess at a place, if there is one, and its class, if that is `least` or more.
    #[inline]
    pub(crate) fn asked(&self, place: usize, least: usize) -> Option<(T, usize)> {
        let (guess, trust) = self.guesses[place];
        (!trust.is_none() && trust.class() >= least).then(|| (guess, trust.class()))
    }

    #[inline]
    pub(crate) fn learn(&mut self, place: usize, came: T) {
        let (guess, trust) = &mut self.guesses[place];
        if !trust.learn(*guess == came) {
            *guess = came;
        }
    }
}
