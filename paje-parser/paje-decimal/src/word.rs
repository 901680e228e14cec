//! A number with six decimals, as text in a register. Most contents of rows are such numbers.
//! Writing one takes a single store, and no later load has to wait for that store.

use crate::{SIGN, TENS, THREES, units_if_few};

/// A number with six decimals and at most six digits before the point, as
/// [`write_fixed`](crate::write_fixed) writes it, and then `, `.
///
/// ```
/// let number = paje_decimal::Fixed6::new(618.7271244).expect("it is positive and small");
/// assert_eq!(&number.bytes()[..number.len()], b"618.727124");
/// assert_eq!(&number.bytes()[..number.len() + 2], b"618.727124, ");
/// assert!(paje_decimal::Fixed6::new(-1.0).is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fixed6 {
    low: u64,
    high: u64,
    len: usize,
}

/// For each integer below 1000, its digits without leading zeros. The last byte holds the length of
/// the digits in bits.
static HEADS: [[u8; 4]; 1000] = {
    let mut heads = [[0; 4]; 1000];
    let mut n = 0;
    while n < 1000 {
        let zeros = THREES[n][3] as usize;
        let mut place = zeros;
        while place < 3 {
            heads[n][place - zeros] = THREES[n][place];
            place += 1;
        }
        heads[n][3] = 8 * (3 - zeros as u8);
        n += 1;
    }
    heads
};

#[inline(always)]
fn head(integer: u64) -> (u64, u32) {
    let head = u32::from_le_bytes(HEADS[(integer % 1000) as usize]);
    (u64::from(head & 0xff_ffff), head >> 24)
}

#[inline(always)]
fn three(integer: u64) -> u64 {
    let three = u32::from_le_bytes(THREES[(integer % 1000) as usize]);
    u64::from(three & 0xff_ffff)
}

impl Fixed6 {
    /// The number zero.
    pub const ZERO: Fixed6 = Fixed6 {
        low: u64::from_le_bytes(*b"0.000000"),
        high: u64::from_le_bytes(*b", \0\0\0\0\0\0"),
        len: 8,
    };

    /// Returns the text of `value`. Returns `None` if the number is negative (or negative zero),
    /// has more than six digits before the point, or cannot be rounded in double precision (one
    /// number in a thousand).
    #[inline(always)]
    #[must_use]
    pub fn new(value: f64) -> Option<Self> {
        const COMMA: u64 = (b',' as u64) << 56;
        const BLANK: u64 = b' ' as u64;
        if value.to_bits() & SIGN != 0 {
            return None;
        }
        // Results that are too large are refused below.
        let units = units_if_few(value, TENS[6])?;
        let digits = |six: u64| b'.' as u64 | three(six / 1000) << 8 | three(six) << 32 | COMMA;
        if units < TENS[6] {
            let tail = digits(units);
            let (low, high) = (b'0' as u64 | tail << 8, tail >> 56 | BLANK << 8);
            return Some(Fixed6 { low, high, len: 8 });
        }
        let (integer, tail) = (units / TENS[6], digits(units % TENS[6]));
        let (before, bits) = match integer {
            0..1000 => head(integer),
            1000..1_000_000 => {
                let (thousands, bits) = head(integer / 1000);
                (thousands | three(integer) << bits, bits + 24)
            }
            _ => return None,
        };
        // There are one to six digits before the point.
        let low = before | tail << (bits & 63);
        let high = tail >> (bits.wrapping_neg() & 63) | BLANK << (bits & 63);
        Some(Fixed6 { low, high, len: (bits / 8) as usize + 7 })
    }

    /// Returns the length of the number in bytes.
    #[inline(always)]
    #[must_use]
    #[allow(clippy::len_without_is_empty)]
    pub const fn len(self) -> usize {
        self.len
    }

    /// Returns the text of the number, followed by `, `. Later bytes have no meaning.
    #[inline(always)]
    #[must_use]
    pub const fn bytes(self) -> [u8; 16] {
        (self.low as u128 | (self.high as u128) << 64).to_le_bytes()
    }
}
