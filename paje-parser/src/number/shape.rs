//! Numbers that are written like the one before: as many bytes, and the point at the same place.
//!
//! The times of a trace mostly are: a program writes all with the same number of digits behind the point, and a thousand
//! seconds are long. What is asked of a number's bytes, and which of them go where, is then known before.

use super::{POWERS, row};

/// The bytes up to the end of a number that are looked at.
pub const ENDING: usize = 17;

/// Digits, among them perhaps a point behind the first one: at most sixteen bytes, and fifteen digits.
///
/// ```
/// # use paje_parser::number::Shape;
/// let shape = Shape::of(b"12 50 1 50.543261", 9);
/// assert_eq!(shape.read(b"13 51 2 76.000015", 9), Some(76.000015));
/// assert_eq!(shape.read(b"13 51 2 760.00015", 9), None);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// In bytes; more than any if there is no number of the shape.
    len: usize,
    pub(super) rows: Rows,
    /// Ten, as often as there are digits behind the point.
    divisor: f64,
}

/// Rows of sixteen bytes: for each of the last ones of a number, the lowest first, and with those before it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct Rows {
    /// The least of what may stand there, and how much more may.
    pub(super) least: [u8; 16],
    pub(super) more: [u8; 16],
    /// The bits of the digits behind the point.
    pub(super) behind: [u8; 16],
    /// The bits of those ahead of it, in the row that ends one byte earlier.
    pub(super) ahead: [u8; 16],
}

impl Default for Shape {
    fn default() -> Self {
        Shape { len: usize::MAX, rows: Rows::default(), divisor: 1.0 }
    }
}

impl Shape {
    /// The shape of the text in the last `len` bytes of an ending; that of none if it has another one.
    #[must_use]
    #[cold]
    pub fn of(ending: &[u8; ENDING], len: usize) -> Shape {
        let row = &ending[1..];
        let Some(text) = row.len().checked_sub(len).and_then(|start| row.get(start..)) else {
            return Shape::default();
        };
        let point = text.iter().position(|byte| *byte == b'.');
        let is_digit = |at: usize| Some(at) == point || text[at].is_ascii_digit();
        let digits = len - usize::from(point.is_some());
        if !(0..len).all(is_digit) || !(1..=15).contains(&digits) || point == Some(0) {
            return Shape::default();
        }
        let mut rows = Rows { more: [u8::MAX; 16], ..Rows::default() };
        for at in 16 - len..16 {
            let place = at + len - 16;
            (rows.least[at], rows.more[at]) = match Some(place) == point {
                true => (b'.', 0),
                false => (b'0', 9),
            };
            match point {
                Some(point) if place < point => rows.ahead[at + 1] = 0x0f,
                Some(point) if place == point => {}
                _ => rows.behind[at] = 0x0f,
            }
        }
        let after = point.map_or(0, |point| len - 1 - point);
        Shape { len, rows, divisor: POWERS[0][after] }
    }

    /// The number in the last `len` bytes of an ending, exactly as [`parse_f64`](super::parse_f64) gives it, if it has this shape.
    #[must_use]
    #[inline(always)]
    pub fn read(&self, ending: &[u8; ENDING], len: usize) -> Option<f64> {
        if len != self.len {
            return None;
        }
        let integer = row::shaped(ending, &self.rows)?;
        // As a signed integer, which takes one instruction: it is below 10^15. Both are exact doubles, so that this
        // rounds once.
        Some(integer as i64 as f64 / self.divisor)
    }
}
