//! A row of sixteen digits in an SSE2 register.
//!
//! x86-64 always has SSE2, so `safe_arch` offers its instructions as safe functions.

use safe_arch::{
    bitandnot_m128i, cmp_eq_mask_i8_m128i, get_i64_from_m128i_s, m128i, min_u8_m128i,
    move_mask_i8_m128i, mul_i16_horizontal_add_m128i, mul_i16_keep_low_m128i,
    pack_i32_to_i16_m128i, set_i16_m128i, set_i64_m128i, set_splat_i8_m128i, set_splat_i16_m128i,
    shr_imm_u16_m128i, sub_i8_m128i,
};

use super::shape::{ENDING, Rows};
use super::{LAST, LINE_START, LineWindow, Window};

#[inline(always)]
fn load<const LEN: usize>(bytes: &[u8; LEN], at: usize) -> m128i {
    let row: [u8; 16] = *bytes[at..].first_chunk().expect("in the window");
    let row = u128::from_le_bytes(row);
    set_i64_m128i((row >> 64) as i64, row as i64)
}

/// Returns a mask of the bytes from `at` on. A bit is set if its byte is not an ASCII digit.
#[inline(always)]
pub(super) fn non_digits(window: &Window, at: usize) -> u32 {
    non_digits_of(load(window, at))
}

#[inline(always)]
fn non_digits_of(row: m128i) -> u32 {
    let digits = row ^ set_splat_i8_m128i(b'0' as i8);
    let is_digit = cmp_eq_mask_i8_m128i(min_u8_m128i(digits, set_splat_i8_m128i(9)), digits);
    move_mask_i8_m128i(is_digit) as u32 ^ 0xffff
}

/// Returns the integer of the last `count` digits before `stop`. All digits except the last `after`
/// digits are `gap` bytes further left.
#[inline(always)]
pub(super) fn digits(window: &Window, stop: usize, count: usize, after: usize, gap: usize) -> u64 {
    let behind = load(window, stop - 16);
    let ahead = load(window, stop - 16 - gap);
    let behind_mask = load(&LAST.0, after & 31);
    let row_mask = load(&LAST.0, count & 31);
    let row = (behind & behind_mask) | bitandnot_m128i(behind_mask, ahead);
    integer(row & row_mask)
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
    // The lowest bit belongs to the text's first byte.
    let others = non_digits_of(behind) >> (16 - len);
    let (ones, after);
    if others == 0 {
        after = 0;
        let row_mask = load(&LAST.0, len & 31);
        ones = behind & row_mask;
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
        ones = (behind & behind_mask) | (bitandnot_m128i(behind_mask, ahead) & row_mask);
    }
    Some((integer(ones), after))
}

/// Parses the digits at the end, if the bytes match the shape's rows.
#[inline(always)]
pub(super) fn shaped(ending: &[u8; ENDING], rows: &Rows) -> Option<u64> {
    let (ahead, behind) = (load(ending, 0), load(ending, 1));
    let (least, more) = (load(&rows.least, 0), load(&rows.more, 0));
    let (is_ahead, is_behind) = (load(&rows.ahead, 0), load(&rows.behind, 0));
    let above = sub_i8_m128i(behind, least);
    let valid = move_mask_i8_m128i(cmp_eq_mask_i8_m128i(min_u8_m128i(above, more), above));
    (valid == 0xffff).then(|| integer((behind & is_behind) | (ahead & is_ahead)))
}

/// Converts sixteen digits to an integer. Their values are in the low halves of the bytes.
#[inline(always)]
fn integer(ones: m128i) -> u64 {
    // Combine digits into pairs, then into groups of four and of eight. A pair (a, b) is the word
    // `a + 256 b`. Multiplied by 2561, it becomes `256 (10 a + b) + a`, modulo 2^16.
    let pairs = shr_imm_u16_m128i::<8>(mul_i16_keep_low_m128i(ones, set_splat_i16_m128i(2561)));
    let by_100 = set_i16_m128i(1, 100, 1, 100, 1, 100, 1, 100);
    let fours = mul_i16_horizontal_add_m128i(pairs, by_100);
    let fours = pack_i32_to_i16_m128i(fours, fours);
    let by_10_000 = set_i16_m128i(1, 10_000, 1, 10_000, 1, 10_000, 1, 10_000);
    let eights = get_i64_from_m128i_s(mul_i16_horizontal_add_m128i(fours, by_10_000)) as u64;
    (eights & 0xffff_ffff) * 100_000_000 + (eights >> 32)
}
