//! Short texts as words, and hashes of texts.
//!
//! All parts of the engine use the same hashes, so that no text is hashed twice. Hashes differ between processes.
//! Otherwise, a hostile trace could contain thousands of names with the same hash, and each lookup would search all of
//! them. The seed is the program's address in memory, which the system randomises. No result may depend on the order of
//! hashes.

use std::collections::{HashMap, HashSet};

use paje_parser::Span;

/// Map with texts of a trace as keys, for code where speed does not matter.
pub type TextMap<K, V> = HashMap<K, V>;

/// Set of texts of a trace, for code where speed does not matter.
pub type TextSet<K> = HashSet<K>;

/// Static variable whose address seeds the hashes, because the system randomises it.
static SOMEWHERE: u8 = 0;

/// Returns the seed: the bits of an address that the system randomises. This is as fast as reading a constant. Valgrind
/// always loads programs at the same address, so the hashes are the same in each run there.
#[inline(always)]
fn seed() -> u64 {
    (&raw const SOMEWHERE).addr() as u64 >> 24
}

/// A text of up to 16 bytes, padded with zeros.
pub type Word = [u64; 2];

#[inline]
pub fn bare(padded: &[u8], span: Span) -> (usize, usize) {
    let (start, end) = (span.start as usize, span.end as usize);
    if padded[start] != b'"' {
        return (start, end);
    }
    let closed = end - start > 1 && padded[end - 1] == b'"';
    (start + 1, end - usize::from(closed))
}

/// Returns the `len` bytes from `start` on, if `len` is at most 16 and 16 bytes can be read.
#[inline(always)]
pub fn word(padded: &[u8], start: usize, len: usize) -> Option<Word> {
    let mask = KEPT.get(len)?;
    let bytes = padded.get(start..)?.first_chunk::<16>()?;
    let whole = u128::from_le_bytes(*bytes);
    Some([whole as u64 & mask[0], (whole >> 64) as u64 & mask[1]])
}

/// A text of up to 16 bytes, which can be compared directly, or a mark that stands for a longer text.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed)]
pub struct ShortText {
    word: Word,
    len: u8,
}

impl ShortText {
    pub const LONG: ShortText = ShortText { word: [0; 2], len: u8::MAX };

    #[inline(always)]
    pub fn new(padded: &[u8], start: usize, end: usize) -> Self {
        match word(padded, start, end - start) {
            Some(word) => ShortText { word, len: (end - start) as u8 },
            None => ShortText::LONG,
        }
    }

    #[inline(always)]
    pub fn hashed(padded: &[u8], start: usize, end: usize) -> (Self, u64) {
        let len = end - start;
        match if len < 16 { word(padded, start, len) } else { None } {
            Some(word) => (ShortText { word, len: len as u8 }, hash_word(word, len as u64)),
            None => (ShortText::new(padded, start, end), hash_bytes(&padded[start..end])),
        }
    }

    /// Returns whether two texts are equal. All long texts count as equal.
    #[inline(always)]
    pub const fn is(self, other: Self) -> bool {
        let differs = self.word[0] ^ other.word[0] | self.word[1] ^ other.word[1];
        differs | (self.len ^ other.len) as u64 == 0
    }

    #[inline(always)]
    pub const fn is_long(self) -> bool {
        self.len == u8::MAX
    }

    /// Returns the 16 bytes of the text, padded with zeros, and its length. The text must be short.
    #[inline(always)]
    pub fn bytes(self) -> ([u8; 16], usize) {
        let word = u128::from(self.word[0]) | u128::from(self.word[1]) << 64;
        (word.to_le_bytes(), usize::from(self.len))
    }
}

/// Masks that keep the first bytes of a word, indexed by the number of bytes.
static KEPT: [[u64; 2]; 17] = {
    let mut masks = [[0; 2]; 17];
    let mut len = 1;
    while len <= 16 {
        let kept = u128::MAX >> (128 - 8 * len);
        masks[len] = [kept as u64, (kept >> 64) as u64];
        len += 1;
    }
    masks
};

const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xe703_7ed1_a0b4_28db;

/// Folds both halves of a product, so that every bit of the input reaches the low bits of the result.
#[inline(always)]
const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
pub fn hash_word(word: Word, context: u64) -> u64 {
    word_by(seed(), word, context)
}

/// Hashes a word and a small number. This takes fewer instructions than [`hash_word`].
#[inline(always)]
pub fn hash_salted(word: Word, salt: u64) -> u64 {
    salted_by(seed(), word, salt)
}

/// Computes [`hash_word`] with this seed, which may have only a few random bits. A factor must not be zero for the same
/// word in every process, because the product would then be zero whatever the other factor is.
#[inline(always)]
const fn word_by(seed: u64, word: Word, context: u64) -> u64 {
    fold(word[0] ^ FIRST ^ seed, word[1] ^ SECOND ^ seed ^ context.rotate_left(29))
}

#[inline(always)]
const fn salted_by(seed: u64, word: Word, salt: u64) -> u64 {
    fold(word[0] ^ seed, word[1] ^ SECOND ^ seed ^ salt << 40)
}

pub fn hash_bytes(text: &[u8]) -> u64 {
    let (chunks, tail) = text.as_chunks::<16>();
    let halves = |chunk: &[u8; 16]| {
        let whole = u128::from_le_bytes(*chunk);
        [whole as u64, (whole >> 64) as u64]
    };
    let before = chunks.iter().fold(0, |hash, chunk| hash_word(halves(chunk), hash));
    hash_word(short_word(tail), before ^ text.len() as u64)
}

/// Returns the word of a text of less than 16 bytes. Reads nothing after the text. Combines overlapping pieces, because
/// copying the text would be a function call.
#[inline(always)]
pub(super) fn short_word(text: &[u8]) -> Word {
    let len = text.len();
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        let last = u64::from_le_bytes(*last).unbounded_shr(8 * (16 - len) as u32);
        return [u64::from_le_bytes(*first), last];
    }
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        let last = u64::from(u32::from_le_bytes(*last)) << (8 * (len - 4));
        return [u64::from(u32::from_le_bytes(*first)) | last, 0];
    }
    let bytes = text.iter().zip([0, 8, 16]).map(|(byte, shift)| u64::from(*byte) << shift);
    [bytes.fold(0, |word, byte| word | byte), 0]
}

/// Hashes the text at `start..end` like [`hash_bytes`], but without a loop if the text is short.
#[inline(always)]
pub fn hash_text(padded: &[u8], start: usize, end: usize) -> u64 {
    match word(padded, start, end - start) {
        Some(word) if end - start < 16 => hash_word(word, (end - start) as u64),
        _ => hash_bytes(&padded[start..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collisions_cannot_be_prepared() {
        for (half, is_first) in [(FIRST, true), (SECOND, false)] {
            let texts = (0..1000u64).map(|i| {
                let words = if is_first { [half, i] } else { [i, half] };
                words.map(u64::to_le_bytes).concat()
            });
            let hashes: TextSet<u64> = texts.map(|text| hash_bytes(&text)).collect();
            assert_eq!(hashes.len(), 1000, "{half:x}");
        }
    }

    /// Names must differ in both ends of their hashes, because hash tables use both ends.
    #[test]
    fn names_are_spread_by_any_seed() {
        let names = (0..1000).map(|i| format!("S w{i}"));
        let words: Vec<Word> = names.map(|name| short_word(name.as_bytes())).collect();
        for seed in [0, 1, 0x0055_5555, 0x0056_1234, 0x007f_fff7, 0x5555_5555_4000, seed()] {
            let spread = |hash: fn(u64, Word, u64) -> u64, shift: u32| {
                let ends = words.iter().map(|word| hash(seed, *word, 0) >> shift & 0xfff);
                ends.collect::<TextSet<u64>>().len()
            };
            // Random hashes would use 887 of 4096 places for 1000 names.
            for shift in [0, 52] {
                assert!(spread(word_by, shift) > 300, "seed {seed:x}, from bit {shift}");
                assert!(spread(salted_by, shift) > 300, "seed {seed:x}, from bit {shift}");
            }
        }
    }

    #[test]
    fn both_hashes_agree() {
        let padded: Vec<u8> = (0..100).map(|byte| byte ^ 0xa5).collect();
        for end in 5..80 {
            assert_eq!(hash_text(&padded, 5, end), hash_bytes(&padded[5..end]), "{end}");
        }
    }
}
