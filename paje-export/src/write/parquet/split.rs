//! BYTE_STREAM_SPLIT: the first bytes of all numbers, then the second ones, and so on, so that bytes that are alike
//! are together.

/// Bytes of a number.
pub(super) const BYTES: usize = 8;

/// Numbers that are transposed at once: as many as each has bytes.
const BLOCK: usize = 8;

/// Splits numbers (little-endian) in streams, one behind the other.
pub(super) fn split(numbers: &[f64], out: &mut Vec<u8>) {
    // Of pages of the same length, nothing needs to be cleared: all is written over.
    out.resize(BYTES * numbers.len(), 0);
    if numbers.is_empty() {
        return;
    }
    let mut streams = out.chunks_exact_mut(numbers.len());
    let mut streams: [&mut [u8]; BYTES] =
        std::array::from_fn(|_| streams.next().unwrap_or_default());
    let blocks = numbers.chunks_exact(BLOCK);
    let rest = blocks.remainder();
    for (number, block) in blocks.enumerate() {
        let words = transposed(std::array::from_fn(|i| block[i].to_bits()));
        for (stream, word) in streams.iter_mut().zip(words) {
            stream[BLOCK * number..][..BLOCK].copy_from_slice(&word.to_le_bytes());
        }
    }
    let done = numbers.len() - rest.len();
    for (i, number) in rest.iter().enumerate() {
        for (stream, byte) in streams.iter_mut().zip(number.to_bits().to_le_bytes()) {
            stream[done + i] = byte;
        }
    }
}

/// Eight words of eight bytes, transposed: quarters of the matrix change places, then theirs, then theirs.
fn transposed(mut words: [u64; 8]) -> [u64; 8] {
    for i in 0..4 {
        exchange(&mut words, i, i + 4, 32, 0x0000_0000_ffff_ffff);
    }
    for i in [0, 1, 4, 5] {
        exchange(&mut words, i, i + 2, 16, 0x0000_ffff_0000_ffff);
    }
    for i in [0, 2, 4, 6] {
        exchange(&mut words, i, i + 1, 8, 0x00ff_00ff_00ff_00ff);
    }
    words
}

/// Exchanges the upper parts of one word with the lower ones of another.
#[inline(always)]
fn exchange(words: &mut [u64; 8], one: usize, other: usize, bits: u32, lower: u64) {
    let different = ((words[one] >> bits) ^ words[other]) & lower;
    words[other] ^= different;
    words[one] ^= different << bits;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_stream_has_one_byte_of_each_number(numbers: Vec<f64>) {
            let mut out = vec![1, 2, 3];
            split(&numbers, &mut out);
            let wanted: Vec<u8> = (0..BYTES)
                .flat_map(|byte| numbers.iter().map(move |number| number.to_le_bytes()[byte]))
                .collect();
            prop_assert_eq!(out, wanted);
        }
    }
}
