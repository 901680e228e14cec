//! The text of a segment while it is being decoded.

use crate::digits::{Long, SHORT as STEP, Short};
use crate::texts::Texts;
use crate::value::{Kind, POWERS, Value};

/// A text of a known length, with spare room at its end. Thanks to this room, a fixed number of
/// bytes can be copied for each short piece.
#[derive(Default)]
pub(crate) struct Out {
    bytes: Vec<u8>,
    len: usize,
    full: bool,
}

impl Out {
    pub(crate) fn new(length: usize) -> Out {
        Out { bytes: vec![0; length + STEP], len: 0, full: false }
    }

    /// Creates a text in existing memory. Skipped bytes keep their old values.
    pub(crate) fn within(mut bytes: Vec<u8>, length: usize) -> Out {
        bytes.resize(bytes.len().max(length + STEP), 0);
        Out { bytes, len: 0, full: false }
    }

    /// Returns all bytes, including those after the text.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    #[inline]
    pub(crate) const fn move_to(&mut self, len: usize) {
        self.len = len;
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the text did not fit into its room.
    pub(crate) const fn is_full(&self) -> bool {
        self.full
    }

    #[inline]
    pub(crate) fn since(&self, from: usize) -> &[u8] {
        self.bytes.get(from..self.len).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn between(&self, (from, to): (u32, u32)) -> &[u8] {
        self.bytes.get(from as usize..to as usize).unwrap_or_default()
    }

    /// Returns the first `length` bytes of the text.
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

    /// Appends a copy of the bytes from `from` to `to` if they begin before `end`. Bytes after
    /// `end` have just been appended, so this does not copy them.
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

    pub(crate) fn put(&mut self, text: &[u8]) {
        match self.bytes.get_mut(self.len..self.len + text.len()) {
            Some(place) => {
                place.copy_from_slice(text);
                self.len += text.len();
            }
            None => self.full = true,
        }
    }

    #[inline]
    pub(crate) fn put_short(&mut self, text: Short) {
        match self.bytes.get_mut(self.len..).and_then(|to| to.first_chunk_mut::<STEP>()) {
            Some(place) => {
                *place = text.bytes();
                self.len += text.len();
            }
            None => self.put(&text.bytes()[..text.len()]),
        }
    }

    /// Appends a decimal number with `after` digits after the point.
    #[inline]
    pub(crate) fn put_decimal(&mut self, bits: i64, after: u8) {
        if after == 0 && (0..POWERS[8] as i64).contains(&bits) {
            return self.put_short(Short::whole(bits as u64));
        }
        match Short::decimal(bits, after) {
            Some(short) => self.put_short(short),
            None => self.put(Long::decimal(bits, after).text()),
        }
    }

    /// Appends the text of a value. `texts` contains the values that are texts.
    #[inline]
    pub(crate) fn put_value(&mut self, value: Value, texts: &Texts) {
        match value.kind {
            Kind::Text => self.put(texts.get(value.bits as u32)),
            Kind::Decimal(after) => self.put_decimal(value.bits as i64, after),
            Kind::Hex => self.put_short(Short::hex(value.bits)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends pieces of all lengths until there is no more room.
    #[test]
    fn pieces_follow_one_another() {
        let bytes: Vec<u8> = (0..60).collect();
        for length in 0..60 {
            let (mut out, mut expected) = (Out::new(length), Vec::new());
            for piece in (0..=length).filter(|piece| expected_len(*piece) <= length) {
                out.put(&bytes[..piece]);
                expected.extend_from_slice(&bytes[..piece]);
            }
            assert!(!out.is_full());
            assert_eq!(out.since(0), expected);
            (0..length + 2 * STEP).for_each(|_| out.put(&bytes[..20]));
            assert!(out.is_full() && out.len() <= length + STEP);
            assert_eq!(out.finish(expected.len()), expected);
        }
    }

    /// Returns the total length of all pieces up to `piece`.
    const fn expected_len(piece: usize) -> usize {
        piece * (piece + 1) / 2
    }
}
