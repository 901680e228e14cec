//! A row of sixteen digits in an SSE2 register.
//!
//! Safe code reads memory as integers, which compiles to single loads; only arithmetic uses
//! intrinsics. These are `unsafe` because they need SSE2. Every x86-64 processor has it, and this
//! file is compiled for x86-64 only. The `SAFETY` comments below refer to this.

#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_cvtsi128_si64, _mm_madd_epi16,
    _mm_min_epu8, _mm_movemask_epi8, _mm_mullo_epi16, _mm_or_si128, _mm_packs_epi32, _mm_set_epi16,
    _mm_set_epi64x, _mm_set1_epi8, _mm_set1_epi16, _mm_srli_epi16, _mm_sub_epi8, _mm_xor_si128,
};

use super::shape::{ENDING, Rows};
use super::{LAST, LINE_START, LineWindow, Window};

#[inline(always)]
fn load<const LEN: usize>(bytes: &[u8; LEN], at: usize) -> __m128i {
    let row: [u8; 16] = *bytes[at..].first_chunk().expect("in the window");
    let row = u128::from_le_bytes(row);
    // SAFETY: on values, and x86-64 has SSE2; see the head of this file.
    unsafe { _mm_set_epi64x((row >> 64) as i64, row as i64) }
}

/// Returns one bit per byte from `at` on, set for bytes that are no ASCII digits.
#[inline(always)]
pub(super) fn non_digits(window: &Window, at: usize) -> u32 {
    non_digits_of(load(window, at))
}

#[inline(always)]
fn non_digits_of(row: __m128i) -> u32 {
    // SAFETY: on values, and x86-64 has SSE2; see the head of this file.
    let valid = unsafe {
        let digits = _mm_xor_si128(row, _mm_set1_epi8(b'0' as i8));
        _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits))
    };
    valid as u32 ^ 0xffff
}

/// Returns the integer of the last `count` digits before `stop`. All but the last `after` digits
/// are `gap` bytes further left.
#[inline(always)]
pub(super) fn digits(window: &Window, stop: usize, count: usize, after: usize, gap: usize) -> u64 {
    let behind = load(window, stop - 16);
    let ahead = load(window, stop - 16 - gap);
    let behind_mask = load(&LAST.0, after & 31);
    let row_mask = load(&LAST.0, count & 31);
    // SAFETY: on values, and x86-64 has SSE2; see the head of this file.
    let ones = unsafe {
        let row =
            _mm_or_si128(_mm_and_si128(behind, behind_mask), _mm_andnot_si128(behind_mask, ahead));
        _mm_and_si128(row, row_mask)
    };
    integer(ones)
}

/// Returns the digits of a number in a line as an integer, and the number of decimals. Returns
/// `None` for other texts, and for more than sixteen bytes.
#[inline(always)]
pub(super) fn plain(window: &LineWindow, start: usize, end: usize) -> Option<(u64, usize)> {
    let len = end.wrapping_sub(start);
    if len.wrapping_sub(1) >= 16 {
        return None;
    }
    let end = end & 63;
    let behind = load(window, LINE_START - 16 + end);
    // The lowest bit is for the first byte of the text.
    let others = non_digits_of(behind) >> (16 - len);
    let (ones, after);
    if others == 0 {
        after = 0;
        let row_mask = load(&LAST.0, len & 31);
        // SAFETY: on values, and x86-64 has SSE2; see the head of this file.
        ones = unsafe { _mm_and_si128(behind, row_mask) };
    } else {
        let before = others.trailing_zeros() as usize;
        let point = window[LINE_START + ((start + before) & 63)];
        if others & (others - 1) != 0 || before == 0 || point != b'.' {
            return None;
        }
        after = len - 1 - before;
        let ahead = load(window, LINE_START - 17 + end);
        let behind_mask = load(&LAST.0, after & 31);
        let row_mask = load(&LAST.0, (len - 1) & 31);
        // SAFETY: on values, and x86-64 has SSE2; see the head of this file.
        ones = unsafe {
            let ahead = _mm_and_si128(_mm_andnot_si128(behind_mask, ahead), row_mask);
            _mm_or_si128(_mm_and_si128(behind, behind_mask), ahead)
        };
    }
    Some((integer(ones), after))
}

/// Returns the integer of the digits at the end, if the bytes match the shape's rows.
#[inline(always)]
pub(super) fn shaped(ending: &[u8; ENDING], rows: &Rows) -> Option<u64> {
    let (ahead, behind) = (load(ending, 0), load(ending, 1));
    let (least, more) = (load(&rows.least, 0), load(&rows.more, 0));
    let (is_ahead, is_behind) = (load(&rows.ahead, 0), load(&rows.behind, 0));
    // SAFETY: on values, and x86-64 has SSE2; see the head of this file.
    let (valid, ones) = unsafe {
        let above = _mm_sub_epi8(behind, least);
        let valid = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(above, more), above));
        (valid, _mm_or_si128(_mm_and_si128(behind, is_behind), _mm_and_si128(ahead, is_ahead)))
    };
    (valid == 0xffff).then(|| integer(ones))
}

/// Converts sixteen digits to an integer. Their values are in the low halves of the bytes.
#[inline(always)]
fn integer(ones: __m128i) -> u64 {
    // SAFETY: on values, and x86-64 has SSE2; see the head of this file.
    let eights = unsafe {
        // Pairs, fours, eights. In a pair (a, b), a + 256 b times 2560 + 1 is 256 (10 a + b) + a,
        // modulo 2^16.
        let pairs = _mm_srli_epi16::<8>(_mm_mullo_epi16(ones, _mm_set1_epi16(2561)));
        let fours = _mm_madd_epi16(pairs, _mm_set_epi16(1, 100, 1, 100, 1, 100, 1, 100));
        let fours = _mm_packs_epi32(fours, fours);
        let by_10_000 = _mm_set_epi16(1, 10_000, 1, 10_000, 1, 10_000, 1, 10_000);
        _mm_cvtsi128_si64(_mm_madd_epi16(fours, by_10_000)) as u64
    };
    (eights & 0xffff_ffff) * 100_000_000 + (eights >> 32)
}
