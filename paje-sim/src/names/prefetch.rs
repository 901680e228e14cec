//! Prefetching of scattered memory.

use std::hint::black_box;
use std::ops::BitXor;

/// Reads some numbers that do not depend on one another, so that the processor fetches them at the same time. Reading them
/// one by one later no longer waits for memory.
#[inline(always)]
pub(crate) fn prefetch<T: Default + BitXor<Output = T>>(reads: impl Iterator<Item = T>) {
    black_box(reads.fold(T::default(), |all, read| all ^ read));
}
