//! Computes masks of 64 bytes.

use super::Masks;
use super::quotes::Quotes;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) newlines: u64,
    pub(super) special: bool,
}

pub(super) fn lines_of(
    chunks: &[[u8; 64]],
    white: &mut [[u8; 8]],
    newline: &mut [[u8; 8]],
) -> Found {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        #[allow(unsafe_code)]
        // SAFETY: the processor has AVX2 and POPCNT, and the function requires no other features.
        return unsafe { avx2::lines_of(chunks, white, newline) };
    }
    portable::lines_of(chunks, white, newline)
}

/// Removes bytes inside quotes from the white-space masks and adds bytes of comments, up to the
/// first chunk with a quote at an unusual place. Returns the number of chunks before that chunk.
pub(super) fn settle(
    quotes: &mut Quotes,
    chunks: &[[u8; 64]],
    white: &mut [[u8; 8]],
    newline: &[[u8; 8]],
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        #[allow(unsafe_code)]
        // SAFETY: the processor has AVX2 and POPCNT, and the function requires no other features.
        return unsafe { avx2::settle(quotes, chunks, white, newline) };
    }
    portable::settle(quotes, chunks, white, newline)
}

const fn masks(white: [u8; 8], newline: [u8; 8], quote: u64, hash: u64) -> Masks {
    Masks { white: u64::from_le_bytes(white), newline: u64::from_le_bytes(newline), quote, hash }
}

/// Computes the masks of quotes and comment signs, which few traces need.
pub(super) fn signs_of(chunks: &[[u8; 64]], quote: &mut [[u8; 8]], hash: &mut [[u8; 8]]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        #[allow(unsafe_code)]
        // SAFETY: the processor has AVX2 and POPCNT, and the function requires no other features.
        return unsafe { avx2::signs_of(chunks, quote, hash) };
    }
    portable::signs_of(chunks, quote, hash);
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt")
}

/// Returns the mask of a class, without special instructions.
pub(super) fn gather(chunk: &[u8; 64], class: fn(u8) -> bool) -> u64 {
    chunk.as_chunks::<8>().0.iter().enumerate().fold(0u64, |mask, (i, bytes)| {
        let flags = u64::from_le_bytes(bytes.map(|b| u8::from(class(b))));
        // Collects the lowest bit of each of the eight bytes into the top byte.
        mask | (flags.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i)
    })
}

/// The same functions for processors without AVX2.
pub(super) mod portable {
    use super::{Found, gather, masks};
    use crate::scan::quotes::Quotes;

    pub(in crate::scan) fn lines_of(
        chunks: &[[u8; 64]],
        white: &mut [[u8; 8]],
        newline: &mut [[u8; 8]],
    ) -> Found {
        let mut found = Found::default();
        for ((chunk, white), newline) in chunks.iter().zip(white).zip(newline) {
            let newlines = gather(chunk, |byte| byte == b'\n');
            *white = gather(chunk, |byte| byte == b' ' || byte.wrapping_sub(9) < 5).to_le_bytes();
            *newline = newlines.to_le_bytes();
            found.newlines += u64::from(newlines.count_ones());
            found.special |= chunk.iter().any(|byte| byte | 1 == b'#');
        }
        found
    }

    pub(in crate::scan) fn settle(
        quotes: &mut Quotes,
        chunks: &[[u8; 64]],
        white: &mut [[u8; 8]],
        newline: &[[u8; 8]],
    ) -> usize {
        for (number, ((chunk, white), newline)) in chunks.iter().zip(white).zip(newline).enumerate()
        {
            let (quote, hash) =
                (gather(chunk, |byte| byte == b'"'), gather(chunk, |byte| byte == b'#'));
            let Some(outside) = quotes.outside(masks(*white, *newline, quote, hash)) else {
                return number;
            };
            *white = outside.to_le_bytes();
        }
        chunks.len()
    }

    pub(in crate::scan) fn signs_of(
        chunks: &[[u8; 64]],
        quote: &mut [[u8; 8]],
        hash: &mut [[u8; 8]],
    ) {
        for ((chunk, quote), hash) in chunks.iter().zip(quote).zip(hash) {
            *quote = gather(chunk, |byte| byte == b'"').to_le_bytes();
            *hash = gather(chunk, |byte| byte == b'#').to_le_bytes();
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Found, masks};
    use crate::scan::quotes::Quotes;
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set_epi64x,
        _mm256_set1_epi8, _mm256_setr_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
    };

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn lines_of(
        chunks: &[[u8; 64]],
        white: &mut [[u8; 8]],
        newline: &mut [[u8; 8]],
    ) -> Found {
        // This table is indexed by the low nibble of a byte. The entry equals the byte if and only
        // if the byte is white space. For bytes from 0x80 on, the entry is zero.
        let whites = _mm256_setr_epi8(
            32, -1, -1, -1, -1, -1, -1, -1, -1, 9, 10, 11, 12, 13, -1, -1, //
            32, -1, -1, -1, -1, -1, -1, -1, -1, 9, 10, 11, 12, 13, -1, -1,
        );
        let newlines = _mm256_set1_epi8(b'\n' as i8);
        // A quote and a comment sign differ only in the lowest bit.
        let (lowest, sign) = (_mm256_set1_epi8(1), _mm256_set1_epi8(b'#' as i8));
        let mut signs = _mm256_setzero_si256();
        let mut found = Found::default();
        // This is a loop, because a closure would not be inlined.
        for ((chunk, white), newline) in chunks.iter().zip(white).zip(newline) {
            let (low, high) = (load(chunk, 0), load(chunk, 32));
            let is_white = |half| _mm256_cmpeq_epi8(half, _mm256_shuffle_epi8(whites, half));
            *white = mask(is_white(low), is_white(high)).to_le_bytes();
            let ends = mask(_mm256_cmpeq_epi8(low, newlines), _mm256_cmpeq_epi8(high, newlines));
            *newline = ends.to_le_bytes();
            found.newlines += u64::from(ends.count_ones());
            for half in [low, high] {
                let is_sign = _mm256_cmpeq_epi8(_mm256_or_si256(half, lowest), sign);
                signs = _mm256_or_si256(signs, is_sign);
            }
        }
        found.special = _mm256_movemask_epi8(signs) != 0;
        found
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn signs_of(chunks: &[[u8; 64]], quote: &mut [[u8; 8]], hash: &mut [[u8; 8]]) {
        let (quotes, hashes) = (_mm256_set1_epi8(b'"' as i8), _mm256_set1_epi8(b'#' as i8));
        for ((chunk, quote), hash) in chunks.iter().zip(quote).zip(hash) {
            let (low, high) = (load(chunk, 0), load(chunk, 32));
            let equal = |to| mask(_mm256_cmpeq_epi8(low, to), _mm256_cmpeq_epi8(high, to));
            *quote = equal(quotes).to_le_bytes();
            *hash = equal(hashes).to_le_bytes();
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn settle(
        quotes: &mut Quotes,
        chunks: &[[u8; 64]],
        white: &mut [[u8; 8]],
        newline: &[[u8; 8]],
    ) -> usize {
        let (signs, hashes) = (_mm256_set1_epi8(b'"' as i8), _mm256_set1_epi8(b'#' as i8));
        // A local copy stays in registers.
        let mut before = *quotes;
        let lines = white.iter_mut().zip(newline);
        for (number, (chunk, (white, newline))) in chunks.iter().zip(lines).enumerate() {
            let (low, high) = (load(chunk, 0), load(chunk, 32));
            let quote = mask(_mm256_cmpeq_epi8(low, signs), _mm256_cmpeq_epi8(high, signs));
            let hash = mask(_mm256_cmpeq_epi8(low, hashes), _mm256_cmpeq_epi8(high, hashes));
            let Some(outside) = before.outside(masks(*white, *newline, quote, hash)) else {
                return number;
            };
            *white = outside.to_le_bytes();
        }
        *quotes = before;
        chunks.len()
    }

    #[target_feature(enable = "avx2")]
    fn mask(low: __m256i, high: __m256i) -> u64 {
        let half = |bytes| u64::from(_mm256_movemask_epi8(bytes) as u32);
        half(low) | half(high) << 32
    }

    #[target_feature(enable = "avx2")]
    fn load(chunk: &[u8; 64], at: usize) -> __m256i {
        let word = |i: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&chunk[at + 8 * i..at + 8 * i + 8]);
            i64::from_le_bytes(bytes)
        };
        _mm256_set_epi64x(word(3), word(2), word(1), word(0))
    }
}
