//! A hash for tests.

/// Returns the 64-bit FNV-1a hash. It never changes, so tests can compare the hash of an output
/// with a recorded hash.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
