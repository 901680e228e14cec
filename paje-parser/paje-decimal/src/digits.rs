//! Digits of integers, in groups of three.

/// For each integer below 1000, its three ASCII digits and their number of leading zeros (at most
/// two).
pub(crate) static THREES: [[u8; 4]; 1000] = {
    let mut threes = [[0; 4]; 1000];
    let mut n = 0;
    while n < 1000 {
        let digits = [n / 100, n / 10 % 10, n % 10];
        let mut place = 0;
        while place < 3 {
            threes[n][place] = b'0' + digits[place] as u8;
            place += 1;
        }
        threes[n][3] = (n < 100) as u8 + (n < 10) as u8;
        n += 1;
    }
    threes
};

/// Integer powers of ten up to 10^16. A constant rather than a static, so that code in other crates
/// can divide by constants.
#[rustfmt::skip]
pub(crate) const TENS: [u64; 17] = [
    1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
    10_000_000_000, 100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000,
    1_000_000_000_000_000, 10_000_000_000_000_000,
];

/// Size of the buffer of the fast path: a sign, 20 digits, a point and 16 digits, rounded up.
pub(crate) const SHORT: usize = 48;

/// Writes the `precision` digits of a fraction (1 to 16 digits), and up to three more bytes.
#[inline(always)]
pub(crate) fn put_groups(buffer: &mut [u8], fraction: u64, precision: usize) {
    // Fills the last group with zeros.
    let count = precision.div_ceil(3);
    let mut rest = fraction * TENS[3 * count - precision];
    let mut groups = [0; 6];
    for group in groups[..count].iter_mut().rev() {
        *group = rest % 1000;
        rest /= 1000;
    }
    // Each copy writes one byte too many, which the next copy overwrites.
    for (place, group) in groups[..count].iter().enumerate() {
        buffer[3 * place..3 * place + 4].copy_from_slice(&THREES[*group as usize]);
    }
}

/// Writes an integer at `at`, and up to three more bytes. Returns the position after the integer.
#[inline(always)]
pub(crate) fn put_integer(buffer: &mut [u8; SHORT], at: usize, integer: u64) -> usize {
    if integer < 1000 {
        put_head(buffer, at, integer)
    } else if integer < 1_000_000 {
        let at = put_head(buffer, at, integer / 1000);
        buffer[at..at + 4].copy_from_slice(&THREES[(integer % 1000) as usize]);
        at + 3
    } else {
        put_large_integer(buffer, at, integer)
    }
}

#[inline(never)]
fn put_large_integer(buffer: &mut [u8; SHORT], mut at: usize, integer: u64) -> usize {
    let mut groups = [0; 7];
    let mut rest = integer;
    for group in groups.iter_mut().rev() {
        *group = rest % 1000;
        rest /= 1000;
    }
    let zeros = groups.iter().take_while(|group| **group == 0).count().min(6);
    at = put_head(buffer, at, groups[zeros]);
    for group in &groups[zeros + 1..] {
        buffer[at..at + 4].copy_from_slice(&THREES[*group as usize]);
        at += 3;
    }
    at
}

/// Writes an integer below 1000 without leading zeros.
#[inline(always)]
pub(crate) fn put_head(buffer: &mut [u8; SHORT], at: usize, integer: u64) -> usize {
    let text = u32::from_le_bytes(THREES[integer as usize]);
    let zeros = text >> 24;
    buffer[at..at + 4].copy_from_slice(&(text >> (8 * zeros)).to_le_bytes());
    at + 3 - zeros as usize
}
