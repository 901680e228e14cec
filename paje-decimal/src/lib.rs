//! Decimals: numbers to bytes, digit for digit what C prints.
//!
//! A CSV of a trace is mostly numbers with six digits after the point, so this file is about
//! `%.6f`. A double is an integer times a power of two, which makes its decimal expansion finite,
//! and rounding it a matter of integers:
//!
//! 1. Split at the point: the integer part, and the fraction as 64 bits after the point, exactly.
//! 2. Fraction times 10^precision, 128 bits: the high word is the digits, the low word is what is
//!    left of the fraction, compared with one half to round (ties to even, as glibc does).
//! 3. Three digits at a time from a table of 4 kB, small enough to stay in the nearest cache. Copies
//!    have a constant size and bring one byte too many, onto which the next copy goes. Words of
//!    eight digits, by multiplications in one integer or in an SSE2 register, were slower: 13 and
//!    10 ns per number where this takes 7, because their steps wait for each other.
//!
//! With six or nine digits, as most rows have, a smaller number takes a shorter way to the same digits: see
//! `units`. Numbers of 2^64 and more, and precisions above 16, are printed by the standard library, whose
//! `{:.*}` is exact and rounds ties to even as well; it only spells `inf` and `nan` otherwise. So
//! which path prints a number never shows in the output: change either freely, the tests compare
//! them. `cargo bench -p benches --bench decimal` measures it.

mod digits;
mod general;
mod word;

use std::io::Write as _;

use digits::{SHORT, TENS, THREES, put_groups, put_head, put_integer};
pub use general::write_general;
pub use word::Fixed6;

#[cfg(test)]
mod tests;

/// Largest precision the fast path knows: rounded up to groups of three, its digits fit 64 bits.
const MAX_SHORT_PRECISION: usize = 16;

/// Digits after the point beyond which every double has zeros only: the smallest subnormal is
/// 2^-1074.
const MAX_DIGITS: usize = 1074;

/// Bytes after `at` that [`put_fixed`] may write to: the digits before the point of the largest
/// double (309), a sign, a point, and the precision.
pub const fn fixed_room(precision: usize) -> usize {
    // More than the fast path's buffer.
    311 + precision
}

/// Appends `value` as C's `%.{precision}f` prints it, rounding half to even on the exact binary
/// value: `0.000000`, `-0.000000`, `inf`, `-inf`, `nan`, `-nan`.
///
/// Any double and any precision: digits beyond the 17 that matter are those of the exact decimal
/// expansion, as glibc prints them.
///
/// ```
/// # use paje_decimal::write_fixed;
/// let mut out = Vec::new();
/// write_fixed(&mut out, 618.727124, 6);
/// write_fixed(&mut out, -0.5, 0);
/// assert_eq!(out, b"618.727124-0");
/// ```
#[inline]
pub fn write_fixed(out: &mut Vec<u8>, value: f64, precision: usize) {
    // A branch that always goes the same way costs less than arithmetic on the precision.
    match precision {
        6 => write(out, value, 6),
        9 => write(out, value, 9),
        _ => write_other(out, value, precision),
    }
}

#[inline(never)]
fn write_other(out: &mut Vec<u8>, value: f64, precision: usize) {
    write(out, value, precision);
}

/// [`write_fixed`], compiled for the precision if that is a constant.
#[inline(always)]
fn write(out: &mut Vec<u8>, value: f64, precision: usize) {
    match in_place(out, |short| put_short(short, value, precision)) {
        Some(end) => out.truncate(end),
        None => write_long(out, value, precision),
    }
}

/// Lets `put` write after the end of a vector, which grows by [`SHORT`] bytes: a constant, so that it
/// takes no call. Returns the position after what was put, or gives everything back.
///
/// Not by way of a buffer: reading back as a whole what was just written in pieces stalls.
#[inline(always)]
fn in_place(
    out: &mut Vec<u8>,
    put: impl FnOnce(&mut [u8; SHORT]) -> Option<usize>,
) -> Option<usize> {
    let at = out.len();
    out.extend_from_slice(&[0; SHORT]);
    let end = match out[at..].first_chunk_mut() {
        Some(short) => put(short),
        None => None,
    };
    match end {
        Some(length) => Some(at + length),
        None => {
            out.truncate(at);
            None
        }
    }
}

/// Appends `value` as C's `%f` prints it, that is [`write_fixed`] with six digits.
#[inline]
pub fn write_fixed6(out: &mut Vec<u8>, value: f64) {
    write_fixed(out, value, 6);
}

/// Puts what [`write_fixed`] appends into `buffer` from `at` on; returns the position after it.
///
/// For writers that keep a buffer of constant length and a position in it, which takes two thirds of
/// the time of a growing vector. Bytes after the returned position may have been overwritten.
///
/// # Panics
///
/// When `buffer` has fewer than [`fixed_room`]`(precision)` bytes from `at` on, whatever the value.
#[inline]
pub fn put_fixed(buffer: &mut [u8], at: usize, value: f64, precision: usize) -> usize {
    // A branch that always goes the same way costs less than arithmetic on the precision.
    match precision {
        6 => put(buffer, at, value, 6),
        9 => put(buffer, at, value, 9),
        _ => put_other(buffer, at, value, precision),
    }
}

#[inline(never)]
fn put_other(buffer: &mut [u8], at: usize, value: f64, precision: usize) -> usize {
    put(buffer, at, value, precision)
}

/// [`put_fixed`], compiled for the precision if that is a constant.
#[inline(always)]
fn put(buffer: &mut [u8], at: usize, value: f64, precision: usize) -> usize {
    let room = &mut buffer[at..];
    assert!(room.len() >= fixed_room(precision), "room for a number");
    let end = match room.first_chunk_mut() {
        Some(short) => put_short(short, value, precision),
        None => None,
    };
    match end {
        Some(length) => at + length,
        None => at + put_long(room, value, precision),
    }
}

/// Appends an unsigned integer in decimal.
#[inline]
pub fn write_u64(out: &mut Vec<u8>, value: u64) {
    if let Some(end) = in_place(out, |short| Some(put_integer(short, 0, value))) {
        out.truncate(end);
    }
}

/// Spelling in C of a value that is not finite.
fn spell(value: f64) -> &'static [u8] {
    match (value.is_nan(), value.is_sign_negative()) {
        (true, false) => b"nan",
        (true, true) => b"-nan",
        (false, false) => b"inf",
        (false, true) => b"-inf",
    }
}

/// [`write_fixed`] for every value and precision, by the standard library.
#[cold]
fn write_long(out: &mut Vec<u8>, value: f64, precision: usize) {
    if !value.is_finite() {
        return out.extend_from_slice(spell(value));
    }
    // The library's precision is limited to 16 bits; beyond `MAX_DIGITS` there are only zeros.
    let digits = precision.min(MAX_DIGITS);
    write!(out, "{value:.digits$}").expect("vectors take everything");
    out.resize(out.len() + (precision - digits), b'0');
}

#[cold]
fn put_long(room: &mut [u8], value: f64, precision: usize) -> usize {
    let mut text = Vec::with_capacity(fixed_room(precision));
    write_long(&mut text, value, precision);
    room[..text.len()].copy_from_slice(&text);
    text.len()
}

/// Puts a number below 2^64 with at most sixteen digits after the point, and returns its length;
/// `None` for the others.
#[inline(always)]
fn put_short(buffer: &mut [u8; SHORT], value: f64, precision: usize) -> Option<usize> {
    if precision > MAX_SHORT_PRECISION {
        return None;
    }
    if matches!(precision, 6 | 9)
        && let Some(end) = put_scaled(buffer, value, precision)
    {
        return Some(end);
    }
    put_rounded(buffer, value, precision)
}

const SIGN: u64 = 1 << 63;

/// A number that is neither negative nor too large, times a power of ten, rounded as the exact product would be;
/// `None` for the others, and for the few that lie too near the middle of two integers for this to tell their sides.
/// The product, rounded to a double, is off by less than 2^-13, for it is below 2^40. Adding 2^52 rounds it to an
/// integer, and what that took away or added is exact. If it is less than one half by more than twice that
/// error, the exact product rounds to the same integer.
#[inline(always)]
fn units(magnitude: f64, power: u64) -> Option<u64> {
    units_if_few(magnitude, power).filter(|units| *units < MOST_UNITS)
}

/// [`units`] that are right only if they are below this.
const MOST_UNITS: u64 = 1 << 40;

/// The same for who asks whether the number is too large by what comes out: of such a number, [`MOST_UNITS`] or more.
#[inline(always)]
fn units_if_few(magnitude: f64, power: u64) -> Option<u64> {
    const SHIFT: f64 = (1u64 << 52) as f64;
    const UNDECIDED: f64 = 0.5 - 1.0 / (1u64 << 12) as f64;
    let scaled = magnitude * power as f64;
    // From 2^52 on, what is added to is not in the lower half of its bits any more: it stays large.
    let rounded = scaled + SHIFT;
    let off = (scaled - (rounded - SHIFT)).abs();
    // A NaN, and the difference of two infinities, is not below it.
    (off < UNDECIDED).then(|| rounded.to_bits().wrapping_sub(SHIFT.to_bits()))
}

/// The same for numbers that are not too large, with six or nine digits after the point; `None` for the others.
#[inline(always)]
fn put_scaled(buffer: &mut [u8; SHORT], value: f64, precision: usize) -> Option<usize> {
    let units = units(value.abs(), TENS[precision])?;
    let (integer, fraction) = (units / TENS[precision], units % TENS[precision]);
    buffer[0] = b'-';
    let at = usize::from(value.to_bits() & SIGN != 0);
    let at = if integer < 1000 {
        put_head(buffer, at, integer)
    } else {
        put_integer(buffer, at, integer)
    };
    // The point and the first six digits in one word, whose last byte is for what comes next.
    let three = |group: u64| u64::from(u32::from_le_bytes(THREES[(group % 1000) as usize]) << 8);
    let (high, low) = match precision {
        6 => (fraction / 1000, fraction % 1000),
        _ => (fraction / 1_000_000, fraction / 1000 % 1000),
    };
    let word = three(high) | three(low) << 24 | u64::from(b'.');
    // A sign and seven digits at most come before it.
    let at = at & 31;
    buffer[at..at + 8].copy_from_slice(&word.to_le_bytes());
    if precision == 9 {
        buffer[at + 7..at + 11].copy_from_slice(&THREES[(fraction % 1000) as usize]);
    }
    Some(at + 1 + precision)
}

/// The same for all numbers below 2^64 and all precisions up to sixteen, by integers only.
#[inline(never)]
fn put_rounded(buffer: &mut [u8; SHORT], value: f64, precision: usize) -> Option<usize> {
    let bits = value.to_bits();
    let (integer, fraction) = round(bits & !SIGN, precision)?;
    // Always written, kept if negative.
    buffer[0] = b'-';
    let at = usize::from(bits & SIGN != 0);
    let at = put_integer(buffer, at, integer);
    if precision == 0 {
        return Some(at);
    }
    buffer[at] = b'.';
    put_groups(&mut buffer[at + 1..], fraction, precision);
    Some(at + 1 + precision)
}

/// Rounds the magnitude with these bits (no sign) to `precision` digits, at most sixteen: the
/// integer part, and the digits after the point as an integer below 10^precision.
///
/// `None` from 2^64 on, for infinities and NaN.
#[inline(always)]
fn round(bits: u64, precision: usize) -> Option<(u64, u64)> {
    const IMPLICIT: u64 = 1 << 52;
    const HALF: u64 = 1 << 63;
    let field = (bits >> 52) as i32;
    let fraction = bits & (IMPLICIT - 1);
    let power = TENS[precision];
    // The magnitude is mantissa / 2^shift.
    let shift = 1075 - field;
    let (integer, digits, up);
    if (1..=64).contains(&shift) {
        let mantissa = fraction | IMPLICIT;
        // Bits of the integer part leave on the left. No shift by 64: from 53 on, the part is 0.
        integer = mantissa >> shift.min(63);
        let product = u128::from(mantissa << (64 - shift)) * u128::from(power);
        digits = (product >> 64) as u64;
        let rest = product as u64;
        // More than half, or half and odd. The last digit is that of the integer if it is alone;
        // other powers of ten are even.
        let last = digits ^ (integer & power);
        up = rest > HALF - (last & 1);
    } else if shift > 117 {
        // The mantissa times the power is below 2^53 * 2^54: less than half a unit. Zero and the
        // subnormals, whose shift and mantissa would be others, are among these.
        return Some((0, 0));
    } else if shift > 64 {
        integer = 0;
        let product = u128::from(fraction | IMPLICIT) * u128::from(power);
        digits = (product >> shift) as u64;
        let rest = product << (128 - shift);
        const WIDE_HALF: u128 = 1 << 127;
        up = rest > WIDE_HALF - u128::from(digits & 1);
    } else if shift >= -11 {
        return Some(((fraction | IMPLICIT) << -shift, 0));
    } else {
        return None;
    }
    let digits = digits + u64::from(up);
    // Rounding may reach the next integer.
    Some(if digits == power { (integer + 1, 0) } else { (integer, digits) })
}
