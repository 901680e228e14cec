use std::hint::black_box;
use std::ops::BitXor;

/// Reads independent numbers, which the processor then fetches from memory at the same time. Later
/// reads no longer wait for memory.
#[inline(always)]
pub fn prefetch<T: Default + BitXor<Output = T>>(reads: impl Iterator<Item = T>) {
    black_box(reads.fold(T::default(), |all, read| all ^ read));
}
