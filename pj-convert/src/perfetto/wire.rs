//! The wire format of protocol buffers, as much of it as is written here.

use crate::texts::put_text;

/// A number as it is written.
#[inline]
fn write_varint(mut value: u64, bytes: &mut [u8], at: usize) -> usize {
    let mut at = at;
    while value >= 0x80 {
        bytes[at] = value as u8 | 0x80;
        at += 1;
        value >>= 7;
    }
    bytes[at] = value as u8;
    at + 1
}

/// A packet with one message in it, whose fields take no more than a hundred bytes, without a place in the heap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    bytes: [u8; ROOM],
    len: usize,
    /// Start of the message in `bytes`.
    message: usize,
}

/// So much fits into a packet whose lengths take one byte each.
const ROOM: usize = 128;

impl Packet {
    /// A packet, of which neither the tag nor the length is written yet.
    #[inline]
    pub(super) fn new() -> Self {
        Packet { bytes: [0; ROOM], len: 2, message: 2 }
    }

    #[inline]
    fn varint(&mut self, value: u64) {
        self.len = write_varint(value, &mut self.bytes, self.len);
    }

    /// A number.
    #[inline]
    pub(super) fn uint(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field << 3));
        self.varint(value);
    }

    /// A floating-point number.
    #[inline]
    pub(super) fn double(&mut self, field: u32, value: f64) {
        self.varint(u64::from(field << 3 | 1));
        self.bytes[self.len..self.len + 8].copy_from_slice(&value.to_le_bytes());
        self.len += 8;
    }

    /// Begins a message, which ends with the packet; fields that follow are in it.
    #[inline]
    pub(super) fn begin(&mut self, field: u32) {
        self.varint(u64::from(field << 3 | 2));
        // There is room for its length.
        self.len += 1;
        self.message = self.len;
    }

    /// A message in that one.
    #[inline]
    pub(super) fn inner(&mut self, field: u32, write: impl FnOnce(&mut Self)) {
        self.varint(u64::from(field << 3 | 2));
        self.len += 1;
        let start = self.len;
        write(self);
        self.bytes[start - 1] = (self.len - start) as u8;
    }

    /// Appends the packet, with more fields of the message.
    #[inline]
    pub(super) fn finish(mut self, more: &[u8], out: &mut Vec<u8>) {
        self.bytes[0] = 1 << 3 | 2;
        if more.is_empty() {
            self.bytes[1] = (self.len - 2) as u8;
            self.bytes[self.message - 1] = (self.len - self.message) as u8;
            return out.extend_from_slice(&self.bytes[..self.len]);
        }
        let (head, message) =
            (&self.bytes[2..self.message - 1], &self.bytes[self.message..self.len]);
        let mut inner = [0; 10];
        let length = write_varint((message.len() + more.len()) as u64, &mut inner, 0);
        let inner = &inner[..length];
        out.push(1 << 3 | 2);
        put_varint((head.len() + inner.len() + message.len() + more.len()) as u64, out);
        for part in [head, inner, message, more] {
            out.extend_from_slice(part);
        }
    }
}

fn put_varint(value: u64, out: &mut Vec<u8>) {
    let mut bytes = [0; 10];
    let len = write_varint(value, &mut bytes, 0);
    out.extend_from_slice(&bytes[..len]);
}

pub(super) fn put_uint(field: u32, value: u64, out: &mut Vec<u8>) {
    put_varint(u64::from(field << 3), out);
    put_varint(value, out);
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
    let mut length = [0; 10];
    let digits = write_varint(len as u64, &mut length, 0);
    out[start] = length[0];
    // Few messages are so long that their length needs more room.
    out.splice(start + 1..start + 1, length[1..digits].iter().copied());
}
