//! The wire format of protocol buffers, as much of it as is written here.

use crate::texts::put_text;

/// A few fields of a message, without a place in the heap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Small {
    bytes: [u8; 64],
    len: usize,
}

impl Default for Small {
    #[inline]
    fn default() -> Self {
        Small { bytes: [0; 64], len: 0 }
    }
}

impl Small {
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes[self.len] = value as u8 | 0x80;
            self.len += 1;
            value >>= 7;
        }
        self.bytes[self.len] = value as u8;
        self.len += 1;
    }

    /// What comes before a field: its number, and how it is written.
    #[inline]
    pub(super) fn tag(&mut self, field: u32, wire: u32) {
        self.varint(u64::from(field << 3 | wire));
    }

    #[inline]
    pub(super) fn uint(&mut self, field: u32, value: u64) {
        self.tag(field, 0);
        self.varint(value);
    }

    #[inline]
    pub(super) fn double(&mut self, field: u32, value: f64) {
        self.tag(field, 1);
        self.bytes[self.len..self.len + 8].copy_from_slice(&value.to_le_bytes());
        self.len += 8;
    }
}

fn put_varint(value: u64, out: &mut Vec<u8>) {
    let mut small = Small::default();
    small.varint(value);
    out.extend_from_slice(small.bytes());
}

pub(super) fn put_uint(field: u32, value: u64, out: &mut Vec<u8>) {
    let mut small = Small::default();
    small.uint(field, value);
    out.extend_from_slice(small.bytes());
}

pub(super) fn put_bytes(field: u32, bytes: &[u8], out: &mut Vec<u8>) {
    put_varint(u64::from(field << 3 | 2), out);
    put_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// A string, which has to be UTF-8.
pub(super) fn put_text_field(field: u32, text: &[u8], out: &mut Vec<u8>) {
    put_message(field, out, |out| put_text(text, out));
}

/// A message within another.
pub(super) fn put_message(field: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    put_varint(u64::from(field << 3 | 2), out);
    let start = out.len();
    out.push(0);
    write(out);
    let len = out.len() - start - 1;
    let mut length = Small::default();
    length.varint(len as u64);
    let length = length.bytes();
    out[start] = length[0];
    // Few messages are so long that their length needs more room.
    out.splice(start + 1..start + 1, length[1..].iter().copied());
}
