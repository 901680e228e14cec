//! Typical transfer times by message size, and collectives that receive concurrently.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::ends::Received;
use super::{Context, value_of};

/// Durations of transfers in seconds, by size.
pub(super) type Samples = FxHashMap<u64, Vec<f64>>;

pub(super) type TypicalTimes = FxHashMap<u64, f64>;

/// Returns the median for each size. Only awaited messages count, if there are any of this size.
pub(super) fn typical(mut late: Samples, mut other: Samples) -> TypicalTimes {
    other.retain(|size, _| !late.contains_key(size));
    late.extend(other);
    late.into_par_iter().map(|(size, mut all)| (size, part_of(&mut all, 0.5))).collect()
}

/// Returns the times of the fastest awaited transfers. Outliers are ignored.
pub(super) fn fastest(late: &mut Samples) -> TypicalTimes {
    late.par_iter_mut().map(|(size, all)| (*size, part_of(all, 0.01))).collect()
}

pub(super) fn part_of(all: &mut [f64], part: f64) -> f64 {
    let at = (all.len() as f64 * part) as usize;
    if all.is_empty() { f64::NAN } else { *all.select_nth_unstable_by(at, f64::total_cmp).1 }
}

/// Returns the types and values of collectives that receive their messages concurrently. If they
/// received one message after the other, some messages would take far less time than the fastest
/// ones of their size.
pub(super) fn concurrent(
    known: &Context<'_, '_>,
    all: &[Vec<Received>],
    fastest: &TypicalTimes,
) -> FxHashSet<(u32, u32)> {
    let is_any = |(at, all): (usize, &Vec<Received>)| all.iter().any(|it| known.is_behind(at, it));
    if !all.par_iter().enumerate().any(is_any) {
        return FxHashSet::default();
    }
    // For each type and value, the number of messages that followed others, and the number of those
    // that would be too fast.
    type Counts = FxHashMap<(u32, u32), (u64, u64)>;
    let of_track = |(at, all): (usize, &Vec<Received>)| {
        let mut counts = Counts::default();
        let behind = all.iter().filter(|it| it.since > it.start && known.is_behind(at, it));
        for it in behind.filter(|it| it.is_used) {
            let Some(fastest) = fastest.get(&it.size()) else { continue };
            let count = counts.entry(value_of(&known.tracks.list()[at], it)).or_default();
            let is_too_fast = it.end - it.since < 0.5 * fastest;
            (count.0, count.1) = (count.0 + 1, count.1 + u64::from(is_too_fast));
        }
        counts
    };
    let counts = all.par_iter().enumerate().map(of_track).reduce(Counts::default, |mut a, b| {
        for (value, (all, fast)) in b {
            let count = a.entry(value).or_default();
            (count.0, count.1) = (count.0 + all, count.1 + fast);
        }
        a
    });
    let is_concurrent = |(all, fast): &(u64, u64)| *fast > 1 && fast * 20 >= *all;
    counts.into_iter().filter(|(_, count)| is_concurrent(count)).map(|(value, _)| value).collect()
}
