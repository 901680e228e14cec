//! Usual transfers of messages of a size.

use rustc_hash::FxHashMap;

/// By size, durations of transfers in seconds.
pub(super) type Samples = FxHashMap<u64, Vec<f64>>;

/// By size, the usual transfer, in seconds.
pub(super) type Usual = FxHashMap<u64, f64>;

/// The usual transfers: of messages that the receiver waited for, and of the other ones where there are none.
pub(super) fn usual(mut late: Samples, mut other: Samples) -> Usual {
    other.retain(|size, _| !late.contains_key(size));
    late.extend(other);
    late.into_iter().map(|(size, mut all)| (size, part_of(&mut all, 0.5))).collect()
}

/// Time that so large a part of some does not exceed; of none, none is usual.
fn part_of(all: &mut [f64], part: f64) -> f64 {
    let at = (all.len() as f64 * part) as usize;
    if all.is_empty() { f64::NAN } else { *all.select_nth_unstable_by(at, f64::total_cmp).1 }
}
