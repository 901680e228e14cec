//! Text of a segment that is decoded.

use crate::digits::{Long, SHORT as STEP, Short};
use crate::texts::Texts;
use crate::value::{Kind, Value};

/// Numbers below this are copied from a table.
const FEW: u64 = 1000;

/// Numbers below this have at most seven digits.
const SHORTER: u64 = 10_000_000;

/// Digits of the numbers, and how many they are.
static TEXTS: [[u8; 4]; FEW as usize] = {
    let mut texts = [[0; 4]; FEW as usize];
    let mut number = 0;
    while number < texts.len() {
        let digits = [number / 100, number / 10 % 10, number % 10];
        let mut place = if number < 10 {
            2
        } else if number < 100 {
            1
        } else {
            0
        };
        let mut len = 0;
        while place < 3 {
            texts[number][len] = b'0' + digits[place] as u8;
            place += 1;
            len += 1;
        }
        texts[number][3] = len as u8;
        number += 1;
    }
    texts
};

/// The numbers with three digits each.
static PADDED: [[u8; 4]; FEW as usize] = {
    let mut texts = [[0; 4]; FEW as usize];
    let mut number = 0;
    while number < texts.len() {
        let digits = [number / 100, number / 10 % 10, number % 10];
        let mut place = 0;
        while place < 3 {
            texts[number][place] = b'0' + digits[place] as u8;
            place += 1;
        }
        number += 1;
    }
    texts
};

/// Returns the digits of a number, the first one lowest, and how many they are. Returns `None` if there are more than seven.
#[inline(always)]
pub(crate) fn digits(number: u64) -> Option<(u64, usize)> {
    if let Some(text) = TEXTS.get(number as usize) {
        let text = u32::from_le_bytes(*text);
        return Some((u64::from(text & 0x00ff_ffff), (text >> 24) as usize));
    }
    if number < SHORTER { Some(more_digits(number)) } else { None }
}

/// Returns the digits of a number from [`FEW`] on.
#[inline]
fn more_digits(number: u64) -> (u64, usize) {
    let (before, last) = (number / FEW, number % FEW);
    let (text, len) = match before {
        0..FEW => {
            let text = u32::from_le_bytes(TEXTS[before as usize]);
            (u64::from(text & 0x00ff_ffff), (text >> 24) as usize)
        }
        _ => more_digits_before(before),
    };
    let last = u32::from_le_bytes(PADDED[last as usize]);
    (text | u64::from(last) << (8 * len), len + 3)
}

/// Returns four digits.
#[cold]
fn more_digits_before(number: u64) -> (u64, usize) {
    let last = u32::from_le_bytes(PADDED[(number % FEW) as usize]);
    let first = number / FEW + u64::from(b'0');
    (first | u64::from(last) << 8, 4)
}

/// Text of a known length, with room behind it: short pieces are copied with a fixed number of bytes.
#[derive(Default)]
pub(crate) struct Out {
    bytes: Vec<u8>,
    len: usize,
    full: bool,
}

impl Out {
    /// Creates a text with room for this many bytes.
    pub(crate) fn new(length: usize) -> Out {
        Out { bytes: vec![0; length + STEP], len: 0, full: false }
    }

    /// Creates a text in place of another. Bytes that are passed over keep their old values.
    pub(crate) fn within(mut bytes: Vec<u8>, length: usize) -> Out {
        bytes.resize(bytes.len().max(length + STEP), 0);
        Out { bytes, len: 0, full: false }
    }

    /// Returns the bytes, including those behind the text.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Passes over this many bytes.
    #[inline]
    pub(crate) const fn pass(&mut self, bytes: usize) {
        self.len += bytes;
    }

    /// Moves to this byte.
    #[inline]
    pub(crate) const fn move_to(&mut self, len: usize) {
        self.len = len;
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there was too little room.
    pub(crate) const fn is_full(&self) -> bool {
        self.full
    }

    /// Returns the bytes from `from` on.
    #[inline]
    pub(crate) fn since(&self, from: usize) -> &[u8] {
        self.bytes.get(from..self.len).unwrap_or_default()
    }

    /// Returns the bytes between two places.
    #[inline]
    pub(crate) fn between(&self, (from, to): (u32, u32)) -> &[u8] {
        self.bytes.get(from as usize..to as usize).unwrap_or_default()
    }

    /// Returns the first `length` bytes.
    pub(crate) fn finish(mut self, length: usize) -> Vec<u8> {
        self.bytes.truncate(length);
        self.bytes
    }

    #[inline]
    pub(crate) fn push(&mut self, byte: u8) {
        match self.bytes.get_mut(self.len) {
            Some(place) => {
                *place = byte;
                self.len += 1;
            }
            None => self.full = true,
        }
    }

    #[inline]
    pub(crate) fn put(&mut self, text: &[u8]) {
        self.put_of(text, 0, text.len());
    }

    /// Appends `len` bytes of `bytes`, from byte `from` on.
    #[inline]
    pub(crate) fn put_of(&mut self, bytes: &[u8], from: usize, len: usize) {
        let piece = bytes.get(from..).and_then(|bytes| bytes.first_chunk::<STEP>());
        let place = self.bytes.get_mut(self.len..).and_then(|to| to.first_chunk_mut::<STEP>());
        if len <= STEP
            && let (Some(piece), Some(place)) = (piece, place)
        {
            *place = *piece;
            self.len += len;
            return;
        }
        self.copy(&bytes[from..from + len]);
    }

    /// Appends the bytes from `from` to `to` again, if they begin before `end`. Otherwise they have just been appended.
    #[inline]
    pub(crate) fn repeat_before(&mut self, end: usize, (from, to): (u32, u32)) {
        let (from, to) = (from as usize, to as usize);
        if from >= end {
            return;
        }
        let len = to.saturating_sub(from);
        let piece = self.bytes.get(from..).and_then(|bytes| bytes.first_chunk::<STEP>()).copied();
        let place = self.bytes.get_mut(self.len..).and_then(|to| to.first_chunk_mut::<STEP>());
        if len <= STEP
            && let (Some(piece), Some(place)) = (piece, place)
        {
            *place = piece;
            self.len += len;
        } else if self.len.saturating_add(len) <= self.bytes.len() {
            self.bytes.copy_within(from..to, self.len);
            self.len += len;
        } else {
            self.full = true;
        }
    }

    fn copy(&mut self, text: &[u8]) {
        match self.bytes.get_mut(self.len..self.len + text.len()) {
            Some(place) => {
                place.copy_from_slice(text);
                self.len += text.len();
            }
            None => self.full = true,
        }
    }

    /// Appends a short text.
    #[inline]
    pub(crate) fn put_short(&mut self, text: Short) {
        match self.bytes.get_mut(self.len..).and_then(|to| to.first_chunk_mut::<STEP>()) {
            Some(place) => {
                *place = text.bytes();
                self.len += text.len();
            }
            None => self.copy(&text.bytes()[..text.len()]),
        }
    }

    /// Appends the text of a value, given all texts.
    #[inline]
    pub(crate) fn put_value(&mut self, value: Value, texts: &Texts) {
        match value.kind {
            Kind::Decimal(0) if value.bits < FEW => self.put_few(value.bits as usize),
            _ => self.put_any(value, texts),
        }
    }

    /// Returns the room behind the text.
    #[inline]
    pub(crate) fn room(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.len..).unwrap_or_default()
    }

    /// Appends a number below [`FEW`].
    #[inline]
    fn put_few(&mut self, number: usize) {
        let [a, b, c, len] = TEXTS[number];
        match self.bytes.get_mut(self.len..).and_then(|to| to.first_chunk_mut::<4>()) {
            Some(place) => {
                *place = TEXTS[number];
                self.len += usize::from(len);
            }
            None => self.copy(&[a, b, c][..usize::from(len)]),
        }
    }

    fn put_any(&mut self, value: Value, texts: &Texts) {
        match value.kind {
            Kind::Text => self.put(texts.get(value.bits as u32)),
            Kind::Decimal(after) => match Short::decimal(value.bits as i64, after) {
                Some(short) => self.put_short(short),
                None => self.put(Long::decimal(value.bits as i64, after).text()),
            },
            Kind::Hex => self.put_short(Short::hex(value.bits)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of all lengths are appended from all places, until there is no more room.
    #[test]
    fn pieces_stand_one_behind_the_other() {
        let bytes: Vec<u8> = (0..60).collect();
        for length in 0..60 {
            let (mut out, mut expected) = (Out::new(length), Vec::new());
            for piece in (0..=length).filter(|piece| expected_len(*piece) <= length) {
                let from = bytes.len() - piece - piece % 3;
                out.put_of(&bytes, from, piece);
                expected.extend_from_slice(&bytes[from..from + piece]);
            }
            assert!(!out.is_full());
            assert_eq!(out.since(0), expected);
            (0..length + 2 * STEP).for_each(|_| out.put(&bytes[..20]));
            assert!(out.is_full() && out.len() <= length + STEP);
            assert_eq!(out.finish(expected.len()), expected);
        }
    }

    #[test]
    fn numbers_of_few_digits_are_spelt() {
        let all = (0..20_000).chain((0..).step_by(997).take_while(|number| *number < SHORTER));
        for number in all.chain([999_999, 1_000_000, SHORTER - 1]) {
            let (text, len) = digits(number).unwrap();
            assert_eq!(text.to_le_bytes()[..len], *number.to_string().as_bytes());
            assert_eq!(text >> (8 * len), 0);
        }
        assert_eq!(digits(SHORTER), None);
    }

    /// Returns the sum of the lengths up to `piece`.
    const fn expected_len(piece: usize) -> usize {
        piece * (piece + 1) / 2
    }
}
