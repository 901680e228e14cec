//! The text that is made of a segment.

use crate::texts::Texts;
use crate::value::Kind;
use crate::value::{Digits, Value};

/// Bytes that short pieces are copied in.
const STEP: usize = 16;

/// Text of a known length, and room behind it: so short pieces are copied as a whole, whatever their lengths.
#[derive(Default)]
pub(crate) struct Out {
    bytes: Vec<u8>,
    len: usize,
    full: bool,
}

impl Out {
    /// Room for so many bytes.
    pub(crate) fn new(length: usize) -> Out {
        Out { bytes: vec![0; length + STEP], len: 0, full: false }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// More has come than there is room for.
    pub(crate) const fn is_full(&self) -> bool {
        self.full
    }

    /// What has come since there were `from` bytes.
    #[inline]
    pub(crate) fn since(&self, from: usize) -> &[u8] {
        self.bytes.get(from..self.len).unwrap_or_default()
    }

    /// The text.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.bytes.truncate(self.len);
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

    /// Appends `len` bytes of others, from byte `from` on.
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

    fn copy(&mut self, text: &[u8]) {
        match self.bytes.get_mut(self.len..self.len + text.len()) {
            Some(place) => {
                place.copy_from_slice(text);
                self.len += text.len();
            }
            None => self.full = true,
        }
    }

    /// Appends digits.
    #[inline]
    pub(crate) fn put_digits(&mut self, digits: &Digits) {
        let (bytes, from) = digits.place();
        self.put_of(bytes, from, digits.len());
    }

    /// Appends the text of a value, which texts are found in `texts`.
    pub(crate) fn put_value(&mut self, value: Value, texts: &Texts) {
        match value.kind {
            Kind::Text => self.put(texts.get(value.bits as u32)),
            Kind::Decimal(after) => self.put_digits(&Digits::decimal(value.bits as i64, after)),
            Kind::Hex => self.put_digits(&Digits::hex(value.bits)),
        }
    }
}
