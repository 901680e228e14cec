//! Encoding of names and numbers as bytes. Numbers are little-endian.

use paje_sim::{Name, Quoting};

use crate::{Label, Seconds};

#[derive(Debug, Default)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Bytes {
    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn float(&mut self, number: f64) {
        self.number(number.to_bits());
    }

    pub(crate) fn seconds(&mut self, seconds: Seconds) {
        self.0.extend_from_slice(&seconds.to_le_bytes());
    }

    /// Appends a byte for the quotes, the length in 4 bytes, and the text.
    pub(crate) fn text(&mut self, quoting: u8, text: &[u8]) {
        self.0.push(quoting);
        self.0.extend_from_slice(&(text.len() as u32).to_le_bytes());
        self.0.extend_from_slice(text);
    }

    /// Appends a name. The byte is 0 for a bare name, 1 for a quoted one, and 2 if the second quote
    /// is missing.
    pub(crate) fn label(&mut self, name: Name<'_>) {
        let quoting = match name.quoting {
            Quoting::Bare => 0,
            Quoting::Quoted => 1,
            Quoting::Unclosed => 2,
        };
        self.text(quoting, name.text);
    }

    /// Appends 1 and the bytes, or 0 if there are none.
    pub(crate) fn maybe<const N: usize>(&mut self, bytes: Option<[u8; N]>) {
        self.0.push(bytes.is_some().into());
        self.0.extend(bytes.iter().flatten());
    }
}

/// Bytes that are still to be decoded. Methods return `None` if they are invalid.
pub(crate) struct Left<'b>(pub(crate) &'b [u8]);

impl<'b> Left<'b> {
    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(crate) fn index<I: TryFrom<u64>>(&mut self) -> Option<I> {
        self.number()?.try_into().ok()
    }

    pub(crate) fn float(&mut self) -> Option<f64> {
        self.number().map(f64::from_bits)
    }

    pub(crate) fn seconds(&mut self) -> Option<Seconds> {
        self.take().map(Seconds::from_le_bytes)
    }

    pub(crate) fn text(&mut self) -> Option<(u8, &'b [u8])> {
        let [quoting] = self.take()?;
        let length = u32::from_le_bytes(self.take()?);
        Some((quoting, self.0.split_off(..usize::try_from(length).ok()?)?))
    }

    pub(crate) fn label(&mut self) -> Option<Label> {
        let (quoting, text) = self.text()?;
        let quoting = match quoting {
            0 => Quoting::Bare,
            1 => Quoting::Quoted,
            2 => Quoting::Unclosed,
            _ => return None,
        };
        Some(Label::from(Name { text, quoting }))
    }
}
