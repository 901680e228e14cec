//! Writer of the protocol-buffer wire format.

/// Wire type of numbers of variable length.
const VARINT: u32 = 0;
/// Wire type of doubles.
const FIXED: u32 = 1;
/// Wire type of strings, bytes and messages.
const LENGTH: u32 = 2;

#[inline]
fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline]
fn put_tag(field: u32, wire_type: u32, out: &mut Vec<u8>) {
    put_varint(u64::from(field << 3 | wire_type), out);
}

#[inline]
pub(super) fn put_uint(field: u32, value: u64, out: &mut Vec<u8>) {
    put_tag(field, VARINT, out);
    put_varint(value, out);
}

#[inline]
pub(super) fn put_double(field: u32, value: f64, out: &mut Vec<u8>) {
    put_tag(field, FIXED, out);
    out.extend_from_slice(&value.to_le_bytes());
}

pub(super) fn put_bytes(field: u32, bytes: &[u8], out: &mut Vec<u8>) {
    put_tag(field, LENGTH, out);
    put_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

pub(super) fn put_text_field(field: u32, text: &[u8], out: &mut Vec<u8>) {
    // Invalid UTF-8 becomes U+FFFD.
    put_bytes(field, String::from_utf8_lossy(text).as_bytes(), out);
}

#[inline]
pub(super) fn put_message(field: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    put_tag(field, LENGTH, out);
    let start = out.len();
    out.push(0);
    write(out);
    let length = out.len() - start - 1;
    if length < 0x80 {
        out[start] = length as u8;
    } else {
        put_long_length(length, start, out);
    }
}

/// Replaces the byte at `start` with a length of several bytes.
#[cold]
fn put_long_length(length: usize, start: usize, out: &mut Vec<u8>) {
    let mut bytes = Vec::new();
    put_varint(length as u64, &mut bytes);
    out.splice(start..start + 1, bytes);
}
