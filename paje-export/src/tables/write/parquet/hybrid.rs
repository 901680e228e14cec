//! Parquet's "RLE/bit-packing hybrid" encoding of small numbers: runs of one number, and groups of
//! eight numbers with a fixed number of bits.

const GROUP: usize = 8;

/// Maximum number of groups after a header. The header then takes one byte.
const GROUPS: usize = 63;

/// Returns the number of bits for numbers below `count`.
pub(super) fn width(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

pub(super) fn encode(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    // Header position and number of groups of the bit-packed run that can still grow.
    let mut open: Option<(usize, usize)> = None;
    let mut at = 0;
    while let Some(group) = numbers[at..].first_chunk::<GROUP>() {
        let first = group[0];
        if group.iter().all(|number| *number == first) {
            let rest = &numbers[at + GROUP..];
            let more = rest.iter().position(|number| *number != first).unwrap_or(rest.len());
            encode_run(first, GROUP + more, width, out);
            at += GROUP + more;
            open = None;
        } else {
            encode_group(group, width, &mut open, out);
            at += GROUP;
        }
    }
    let rest = &numbers[at..];
    if !rest.is_empty() {
        let mut last = [0; GROUP];
        last[..rest.len()].copy_from_slice(rest);
        encode_group(&last, width, &mut open, out);
    }
}

fn encode_run(number: u32, count: usize, width: u32, out: &mut Vec<u8>) {
    let mut header = count << 1;
    while header >= 0x80 {
        out.push(header as u8 | 0x80);
        header >>= 7;
    }
    out.push(header as u8);
    out.extend_from_slice(&number.to_le_bytes()[..width.div_ceil(8) as usize]);
}

fn encode_group(
    group: &[u32; GROUP],
    width: u32,
    open: &mut Option<(usize, usize)>,
    out: &mut Vec<u8>,
) {
    let (header, groups) = match *open {
        Some((header, groups)) if groups < GROUPS => (header, groups + 1),
        _ => {
            out.push(0);
            (out.len() - 1, 1)
        }
    };
    out[header] = (groups << 1 | 1) as u8;
    *open = Some((header, groups));
    let (mut word, mut bits) = (0_u64, 0);
    for number in group {
        word |= u64::from(*number) << bits;
        bits += width;
        let bytes = bits / 8;
        out.extend_from_slice(&word.to_le_bytes()[..bytes as usize]);
        word = word.checked_shr(8 * bytes).unwrap_or(0);
        bits %= 8;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes numbers as the specification describes.
    fn read(bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
        let mut numbers = Vec::new();
        let mut at = 0;
        while numbers.len() < count {
            let (mut header, mut shift) = (0_usize, 0);
            loop {
                header |= usize::from(bytes[at] & 0x7f) << shift;
                shift += 7;
                at += 1;
                if bytes[at - 1] < 0x80 {
                    break;
                }
            }
            if header & 1 == 0 {
                let size = width.div_ceil(8) as usize;
                let number = (0..size).fold(0, |n, i| n | u32::from(bytes[at + i]) << (8 * i));
                numbers.extend(std::iter::repeat_n(number, header >> 1));
                at += size;
            } else {
                let bit = |bit: usize| u32::from(bytes[at + bit / 8] >> (bit % 8) & 1);
                let size = width as usize;
                for i in 0..8 * (header >> 1) {
                    numbers.push((0..size).fold(0, |n, b| n | bit(i * size + b) << b));
                }
                at += (header >> 1) * size;
            }
        }
        assert_eq!(at, bytes.len());
        assert!(numbers.len() < count + GROUP);
        numbers.truncate(count);
        numbers
    }

    #[test]
    fn widths_hold_all_numbers_below_a_count() {
        assert_eq!([0, 1, 2, 3, 4, 5, 256, 257].map(width), [0, 0, 1, 2, 2, 3, 8, 9]);
    }

    proptest! {
        #[test]
        fn decoding_returns_the_encoded_numbers(
            width in 0_u32..=32,
            pieces in prop::collection::vec((any::<u32>(), 1_usize..40, any::<bool>()), 0..60),
        ) {
            let mask = u32::MAX.checked_shr(32 - width).unwrap_or(0);
            let wanted: Vec<u32> = pieces
                .iter()
                .flat_map(|(number, count, run)| (0..*count as u32).map(move |i| match run {
                    true => number & mask,
                    false => number.wrapping_mul(2 * i + 1) & mask,
                }))
                .collect();
            let mut out = Vec::new();
            encode(&wanted, width, &mut out);
            prop_assert_eq!(read(&out, width, wanted.len()), wanted);
        }
    }

    #[test]
    fn runs_are_small() {
        let mut out = Vec::new();
        encode(&[5; 20_000], 3, &mut out);
        assert_eq!(out.len(), 4);
    }
}
