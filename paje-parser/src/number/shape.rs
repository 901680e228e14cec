//! Parses numbers that have the same length as the previous number, and the point at the same
//! position.
//!
//! Most times of a trace are such numbers: programs write a fixed number of decimals, and the
//! integer part rarely grows. The masks for the digits are then known in advance.

use super::{POWERS, row};

/// Number of bytes that are read, up to the end of a number.
pub const ENDING: usize = 17;

/// Length of a number of at most fifteen digits, and the position of its point, if any.
///
/// ```
/// # use paje_parser::number::Shape;
/// let shape = Shape::of(b"12 50 1 50.543261", 9);
/// assert_eq!(shape.read(b"13 51 2 76.000015", 9), Some(76.000015));
/// assert_eq!(shape.read(b"13 51 2 760.00015", 9), None);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Length in bytes, or a length that no number has if the shape matches nothing.
    len: usize,
    pub(super) rows: Rows,
    divisor: f64,
}

/// Rows of sixteen bytes that match the last bytes of a number and select its digits.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct Rows {
    /// Smallest byte accepted at each position.
    pub(super) least: [u8; 16],
    /// Largest byte accepted at each position, minus the smallest.
    pub(super) more: [u8; 16],
    /// Mask of the digits after the point.
    pub(super) behind: [u8; 16],
    /// Mask of the digits before the point, in the row that ends one byte earlier.
    pub(super) ahead: [u8; 16],
}

impl Default for Shape {
    fn default() -> Self {
        Shape { len: usize::MAX, rows: Rows::default(), divisor: 1.0 }
    }
}

impl Shape {
    /// Returns the shape of the last `len` bytes. If the bytes are not such a number, returns a
    /// shape that matches nothing.
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

    /// Parses the last `len` bytes exactly as [`parse_f64`](super::parse_f64) does, if they have
    /// this shape.
    #[must_use]
    #[inline(always)]
    pub fn read(&self, ending: &[u8; ENDING], len: usize) -> Option<f64> {
        if len != self.len {
            return None;
        }
        let integer = row::shaped(ending, &self.rows)?;
        // The integer is signed, because its conversion is then one instruction. The value is below
        // 10^15. Both operands are exact doubles, so this rounds once.
        Some(integer as i64 as f64 / self.divisor)
    }
}
