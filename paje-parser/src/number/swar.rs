//! A row of sixteen digits in two 64-bit words, for all architectures. The tests compare the
//! results with those of SSE2.

use super::shape::{ENDING, Rows};
use super::{LAST, Window};

const ONES: u64 = 0x0101_0101_0101_0101;

#[inline(always)]
fn load<const LEN: usize>(bytes: &[u8; LEN], at: usize) -> u128 {
    u128::from_le_bytes(*bytes[at..].first_chunk().expect("in the window"))
}

#[inline(always)]
pub(super) fn non_digits(window: &Window, at: usize) -> u32 {
    let row = load(window, at);
    non_digits8(row as u64) | (non_digits8((row >> 64) as u64) << 8)
}

#[inline(always)]
fn non_digits8(word: u64) -> u32 {
    let digits = word ^ (ONES * u64::from(b'0'));
    // Adding 0x76 to a value above 9 sets the top bit. In bytes from 128 on, the top bit is already
    // set.
    let odd = (((digits & (ONES * 0x7f)) + ONES * 0x76) | digits) & (ONES * 0x80);
    // Gathers the eight top bits, lowest byte first.
    ((odd >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
}

#[inline(always)]
pub(super) fn digits(window: &Window, stop: usize, count: usize, after: usize, gap: usize) -> u64 {
    let behind = load(window, stop - 16);
    let ahead = load(window, stop - 16 - gap);
    let behind_mask = load(&LAST.0, after & 31);
    let row_mask = load(&LAST.0, count & 31);
    let ones = ((behind & behind_mask) | (ahead & !behind_mask)) & row_mask;
    eight(ones as u64) * 100_000_000 + eight((ones >> 64) as u64)
}

#[inline(always)]
pub(super) fn shaped(ending: &[u8; ENDING], rows: &Rows) -> Option<u64> {
    let Rows { least, more, behind, ahead } = rows;
    let valid = (0..16).all(|at| ending[at + 1].wrapping_sub(least[at]) <= more[at]);
    let ones = load(ending, 1) & load(behind, 0) | load(ending, 0) & load(ahead, 0);
    valid.then(|| eight(ones as u64) * 100_000_000 + eight((ones >> 64) as u64))
}

/// Converts eight digits by combining them into pairs, then into groups of four. The digits are
/// values, not ASCII, and the first digit is in the lowest byte.
#[inline(always)]
fn eight(digits: u64) -> u64 {
    let pairs = (digits.wrapping_mul(2561) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul((100 << 16) + 1) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul((10_000 << 32) + 1) >> 32
}
