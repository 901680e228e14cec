//! Parses numbers as `f64` and `f32`, correctly rounded.
//!
//! Most of a trace is times, and most times are a dozen digits and a point. [`parse_f64_at`] reads
//! such a number from inside a block in four steps without a loop over bytes:
//!
//! 1. *Find the digits.* Sixteen bytes are compared at once. The mask of the bytes that are not
//!    digits shows where the point is and where the mantissa ends.
//! 2. *Remove the point.* The digits before and after the point are loaded separately, so that both
//!    are at their positions in a right-aligned row of sixteen digits. Two masks select the two
//!    parts. A second load is cheaper than a shift of 128 bits.
//! 3. *Convert.* Three multiplications turn the sixteen digits into an integer of at most 10^16.
//! 4. *Round once.* An integer of at most 2^53 and a power of ten of at most 10^22 are exact
//!    doubles, so one IEEE 754 division or multiplication rounds correctly (W. D. Clinger, "How to
//!    Read Floating Point Numbers Accurately", PLDI 1990).
//!
//! All other texts (longer mantissas, large exponents, `inf`, garbage) go to [`parse_f64`] and its
//! `fast_float2`, which is exact too and takes half the time of the standard library. Both ways
//! give the same value, and the tests compare them with the standard library.
//!
//! On x86-64, the sixteen bytes are in an SSE2 register, and parsing a time takes 7 ns. Elsewhere
//! they are in two 64-bit words, and parsing takes 12 ns. `cargo bench -p benches --bench number`
//! measures both.

mod hex;
mod shape;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod swar;
#[cfg(test)]
mod tests;

pub use shape::{ENDING, Shape};
#[cfg(target_arch = "x86_64")]
use sse2 as row;
#[cfg(not(target_arch = "x86_64"))]
use swar as row;

/// Number of readable bytes that [`parse_f64_at`] needs after a number for its fast path. Their
/// values do not matter.
pub const PADDING: usize = 32;

/// How many bytes before the number may be loaded when the point is removed.
const BEFORE: usize = 16;

/// The bytes that the fast path reads: [`BEFORE`] bytes, the number, and the bytes after the
/// number.
type Window = [u8; BEFORE + PADDING];

/// Powers of ten that are exact doubles, and their negatives, padded to be indexed with five bits.
static POWERS: [[f64; 32]; 2] = {
    #[rustfmt::skip]
    const EXACT: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    let mut powers = [[f64::NAN; 32]; 2];
    let mut place = 0;
    while place < EXACT.len() {
        powers[0][place] = EXACT[place];
        powers[1][place] = -EXACT[place];
        place += 1;
    }
    powers
};

/// Masks for rows of digits. The sixteen bytes from index `n` on form a mask that selects the
/// values of the last `n` digits of a row. The array is aligned so that no load crosses a cache
/// line.
#[repr(align(64))]
struct Last([u8; 48]);

static LAST: Last = {
    let mut mask = [0; 48];
    let mut at = 16;
    while at < 48 {
        mask[at] = 0x0f;
        at += 1;
    }
    Last(mask)
};

const MAX_EXACT: u64 = 1 << 53;

/// Parses a whole text as C's `strtod` reads it, rounded to nearest, ties to even.
///
/// Accepts an optional sign, then decimal digits with an optional point and exponent (such as `5.`,
/// `.5` and `1E-3`), a hexadecimal float (`0x1.8p3`, exponent optional), or `inf`, `infinity`,
/// `nan` and `nan(…)` in any case. Overflow gives an infinity, underflow a subnormal or zero.
///
/// Returns `None` for all other texts. Unlike `strtod`, it does not skip white space before the
/// number or ignore text after it. Locales have no influence.
///
/// ```
/// # use paje_parser::number::parse_f64;
/// assert_eq!(parse_f64(b"618.727124000"), Some(618.727124));
/// assert_eq!(parse_f64(b"0x1.8p3"), Some(12.0));
/// assert_eq!(parse_f64(b"1.5abc"), None);
/// ```
pub fn parse_f64(text: &[u8]) -> Option<f64> {
    if let Ok(value) = fast_float2::parse(text) {
        return Some(value);
    }
    let (negative, text) = unsigned(text);
    let magnitude = if is_nan_with_payload(text) { f64::NAN } else { hex::parse_f64(text)? };
    Some(if negative { -magnitude } else { magnitude })
}

/// Parses a whole text as C's `strtof` reads it. Accepts the same texts as [`parse_f64`], but
/// rounds to single precision.
///
/// The text is rounded once. Rounding to `f64` first would give other results near the midpoint
/// between two neighbouring `f32`.
pub fn parse_f32(text: &[u8]) -> Option<f32> {
    if let Ok(value) = fast_float2::parse(text) {
        return Some(value);
    }
    let (negative, text) = unsigned(text);
    let magnitude = if is_nan_with_payload(text) { f32::NAN } else { hex::parse_f32(text)? };
    Some(if negative { -magnitude } else { magnitude })
}

/// Parses a time or a duration in the trace's unit.
///
/// Accepts the texts of [`parse_f64`] whose value is finite.
pub fn parse_time(text: &[u8]) -> Option<f64> {
    parse_f64(text).filter(|value| value.is_finite())
}

/// Parses `block[start..end]` exactly as [`parse_f64`] does, but faster.
///
/// It is faster only if the block has at least [`PADDING`] bytes after `end` and sixteen before
/// `start`. Returns `None` if the range is not inside the block.
///
/// ```
/// # use paje_parser::number::{parse_f64_at, PADDING};
/// let mut block = b"10 Worker MPI_STATE 50.543261 0\n".to_vec();
/// block.resize(block.len() + PADDING, b'\n');
/// assert_eq!(parse_f64_at(&block, 20, 29), Some(50.543261));
/// ```
#[inline]
pub fn parse_f64_at(block: &[u8], start: usize, end: usize) -> Option<f64> {
    match short_decimal(block, start, end) {
        Some(value) => Some(value),
        None => f64_elsewhere(block, start, end),
    }
}

/// Parses `block[start..end]` exactly as [`parse_f32`] does, but faster.
///
/// See [`parse_f64_at`] for the block.
#[inline]
pub fn parse_f32_at(block: &[u8], start: usize, end: usize) -> Option<f32> {
    match short_decimal(block, start, end).and_then(narrow) {
        Some(value) => Some(value),
        None => f32_elsewhere(block, start, end),
    }
}

/// Parses `block[start..end]` exactly as [`parse_time`] does, but faster.
///
/// See [`parse_f64_at`] for the block.
#[inline]
pub fn parse_time_at(block: &[u8], start: usize, end: usize) -> Option<f64> {
    // A short decimal is always finite.
    match short_decimal(block, start, end) {
        Some(value) => Some(value),
        None => f64_elsewhere(block, start, end).filter(|value| value.is_finite()),
    }
}

/// Index in a [`LineWindow`] where the line starts.
pub const LINE_START: usize = 32;

/// A line of less than 64 bytes and the bytes around it, so that loads need no bounds checks.
pub type LineWindow = [u8; 128];

/// Parses bytes `start..end` of a line exactly as [`parse_f64`] does, if these are at most sixteen
/// digits with an optional point after the first digit. Returns `None` for all other texts.
///
/// ```
/// # use paje_parser::number::{plain_f64, LINE_START};
/// let mut window = [b' '; 128];
/// window[LINE_START..LINE_START + 12].copy_from_slice(b"10 50.543261");
/// assert_eq!(plain_f64(&window, 3, 12), Some(50.543261));
/// assert_eq!(plain_f64(&window, 1, 12), None);
/// ```
#[inline(always)]
pub fn plain_f64(window: &LineWindow, start: usize, end: usize) -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    {
        let (mantissa, scale) = sse2::plain(window, start, end)?;
        // The integer is signed, because its conversion is then one instruction. The value is below
        // 2^63.
        (mantissa <= MAX_EXACT).then(|| mantissa as i64 as f64 / POWERS[0][scale & 31])
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        short_decimal(window, LINE_START + (start & 63), LINE_START + (end & 63))
    }
}

/// Does the same as [`plain_f64`] in single precision, with the results of [`parse_f32`]. Returns
/// `None` also for the rare texts where rounding to double first might change the result.
#[inline(always)]
pub fn plain_f32(window: &LineWindow, start: usize, end: usize) -> Option<f32> {
    narrow(plain_f64(window, start, end)?)
}

#[cold]
fn f64_elsewhere(block: &[u8], start: usize, end: usize) -> Option<f64> {
    parse_f64(block.get(start..end)?)
}

#[cold]
fn f32_elsewhere(block: &[u8], start: usize, end: usize) -> Option<f32> {
    parse_f32(block.get(start..end)?)
}

/// Returns the double nearest to a short decimal, or `None` for any other text.
#[inline(always)]
fn short_decimal(block: &[u8], start: usize, end: usize) -> Option<f64> {
    let window: &Window = block.get(start.checked_sub(BEFORE)?..)?.first_chunk()?;
    let mut first = BEFORE;
    let mut powers = &POWERS[0];
    if window[first] < b'0' {
        match window[first] {
            b'-' => powers = &POWERS[1],
            b'+' => {}
            _ => return None,
        }
        first += 1;
    }

    // Byte 17 always ends the mantissa.
    let others = row::non_digits(window, first) | (1 << 16);
    let before = others.trailing_zeros() as usize;
    if before == 0 {
        return None;
    }
    let mut stop = before;
    let mut after = before;
    let mut gap = 0;
    let mut scale = 0;
    if window[first + before] == b'.' && before < 16 {
        stop = (others & (others - 1)).trailing_zeros() as usize;
        gap = 1;
        after = stop - before - 1;
        scale = after;
    }
    let mantissa = row::digits(window, first + stop, stop - gap, after, gap);
    if mantissa > MAX_EXACT {
        return None;
    }
    if start + (first - BEFORE) + stop == end {
        // `powers` has the sign, so a zero gets the right sign too.
        return Some(mantissa as f64 / powers[scale & 31]);
    }
    if window[first + stop] | 0x20 != b'e' {
        return None;
    }
    let tail = block.get(start + (first - BEFORE) + stop + 1..end)?;
    scaled(mantissa, exponent(tail)? - scale as i32, powers)
}

/// Returns `mantissa * 10^scale` with the sign of `powers`, or `None` if this needs more than one
/// rounding.
#[inline]
fn scaled(mantissa: u64, scale: i32, powers: &[f64; 32]) -> Option<f64> {
    let place = scale.unsigned_abs() as usize;
    if place > 22 {
        return None;
    }
    Some(if scale <= 0 { mantissa as f64 / powers[place] } else { mantissa as f64 * powers[place] })
}

/// Parses the exponent after `e`: an optional sign and one to four digits.
#[inline]
fn exponent(text: &[u8]) -> Option<i32> {
    let (negative, digits) = unsigned(text);
    if digits.is_empty() || digits.len() > 4 {
        return None;
    }
    let mut value = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = 10 * value + i32::from(digit);
    }
    Some(if negative { -value } else { value })
}

/// Returns the `f32` nearest to the text whose nearest double is `value`, or `None` if `value` does
/// not determine it.
///
/// The midpoint between two neighbouring `f32` is a double, and rounding is monotonic. So the text
/// and `value` are on the same side of each midpoint, unless `value` is the midpoint itself.
/// Subnormal `f32` have other midpoints, so the result for them is `None`.
#[inline(always)]
fn narrow(value: f64) -> Option<f32> {
    const BELOW: u64 = (1 << 29) - 1;
    const MIDDLE: u64 = 1 << 28;
    let magnitude = value.abs();
    let decided = value.to_bits() & BELOW != MIDDLE
        && (magnitude >= f64::from(f32::MIN_POSITIVE) || magnitude == 0.0);
    decided.then_some(value as f32)
}

fn unsigned(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

/// Returns whether the text is C's `nan(n-char-sequence)`. The sequence is ignored.
fn is_nan_with_payload(text: &[u8]) -> bool {
    match text.split_at_checked(4) {
        Some((head, [payload @ .., b')'])) => {
            head.eq_ignore_ascii_case(b"nan(")
                && payload.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        }
        _ => false,
    }
}
