//! DELTA_LENGTH_BYTE_ARRAY: the lengths of texts as differences (DELTA_BINARY_PACKED), then all texts.

use super::hybrid::{pack, varint, width};

/// Differences of a block, and of each of its miniblocks.
const BLOCK: usize = 128;
const MINI: usize = 32;

/// Writes texts, of which these are the ends in one.
pub(super) fn texts(bytes: &[u8], ends: &[i32], out: &mut Vec<u8>) {
    // Of each block: how long, in how many miniblocks. Of all: how many, and the first.
    varint(BLOCK as u64, out);
    varint((BLOCK / MINI) as u64, out);
    varint(ends.len() as u64, out);
    let mut before = ends.first().copied().unwrap_or(0);
    let mut length = i64::from(before);
    signed(length, out);
    let mut differences = [0; BLOCK];
    for ends in ends.get(1..).unwrap_or_default().chunks(BLOCK) {
        for (difference, end) in differences.iter_mut().zip(ends) {
            let next = i64::from(end - before);
            (*difference, length, before) = (next - length, next, *end);
        }
        block(&differences[..ends.len()], out);
    }
    out.extend_from_slice(bytes);
}

/// Writes a block of differences: how much each is above the least.
fn block(differences: &[i64], out: &mut Vec<u8>) {
    let least = differences.iter().copied().min().unwrap_or(0);
    signed(least, out);
    let widths = out.len();
    out.extend_from_slice(&[0; BLOCK / MINI]);
    for (mini, some) in differences.chunks(MINI).enumerate() {
        // Lengths are at most 2³¹: no difference of theirs is above this by 2³².
        let mut above = [0; MINI];
        above.iter_mut().zip(some).for_each(|(above, some)| *above = (some - least) as u32);
        let most = above.iter().fold(0, |most, above| most | above);
        let width = width(most as usize + 1);
        out[widths + mini] = width as u8;
        above.as_chunks().0.iter().for_each(|group| pack(group, width, out));
    }
}

/// Writes a number that may be negative: signs by turns ("zigzag").
fn signed(number: i64, out: &mut Vec<u8>) {
    varint((number << 1 ^ number >> 63) as u64, out);
}
