//! Histogram of the durations of a value.

use std::collections::BTreeMap;

use paje_analysis::quantiles::{Durations, EXACT};
use paje_parser::TypeNature;
use paje_sim::{TimeRange, TypeId, ValueId};
use serde_json::{Value, json};

use crate::best::Best;
use crate::view::View;

/// Number of bins per doubling of the duration, at the finest.
const PER_DOUBLING: f64 = 8.0;

const MOST_BINS: i64 = 48;

/// Number of listed outliers.
const LONGEST: usize = 20;

/// Returns the durations of the states or links of a value that begin in a closed window: counts in
/// logarithmic bins, quantiles, and the longest rows.
pub(crate) fn of(view: &View, type_: TypeId, value: ValueId, window: TimeRange) -> Value {
    let clock = view.pyramid.clock();
    let mut durations = Durations::default();
    let mut longest = Best::new(LONGEST);
    let mut bins: BTreeMap<i64, u64> = BTreeMap::new();
    let (mut count, mut zero, mut sum) = (0u64, 0u64, 0.0);
    let has_durations = |nature| matches!(nature, TypeNature::State | TypeNature::Link);
    let lanes = view.lanes().filter(|lane| lane.type_id() == type_);
    for lane in lanes.filter(|lane| has_durations(lane.nature())) {
        let (low, high) = (clock.ticks(window.from), clock.ticks(window.to));
        view.pyramid.near(lane, low, high, |row| {
            if row.value != value || !(window.from <= row.start && row.start <= window.to) {
                return;
            }
            // The difference of two times may exceed all doubles.
            let duration = (row.end - row.start).clamp(0.0, f64::MAX);
            count += 1;
            sum += duration;
            durations.push(duration);
            longest.push((-duration, lane.id(), row.number));
            match duration > 0.0 {
                true => *bins.entry(bin(duration)).or_default() += 1,
                false => zero += 1,
            }
        });
    }
    let [median, high, last] = durations.quantiles([0.5, 0.95, 1.0]);
    let longest =
        longest.sorted().into_iter().map(|(duration, lane, row)| json!([lane.0, row, -duration]));
    let width = width(&bins);
    let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
    for (bin, count) in bins {
        *counts.entry(bin.div_euclid(width)).or_default() += count;
    }
    let ends = counts.first_key_value().zip(counts.last_key_value());
    let all = ends.map_or(0..0, |((first, _), (last, _))| *first..*last + 1);
    let edges: Vec<f64> = match all.is_empty() {
        true => Vec::new(),
        false => (all.start..=all.end).map(|at| edge(at * width)).collect(),
    };
    json!({
        "count": count, "zero": zero, "mean": (count > 0).then(|| sum / count as f64),
        "median": median, "high": high, "max": last, "isExact": count <= EXACT as u64,
        "edges": edges, "counts": all.map(|at| counts.get(&at).copied().unwrap_or(0)).collect::<Value>(),
        "longest": longest.collect::<Value>(),
    })
}

fn edge(bin: i64) -> f64 {
    (bin as f64 / PER_DOUBLING).exp2()
}

/// Returns the bin of a positive duration. Its edges include the duration, whatever the rounding of
/// the logarithm.
fn bin(duration: f64) -> i64 {
    let about = (duration.log2() * PER_DOUBLING).floor() as i64;
    let shift = i64::from(duration >= edge(about + 1)) - i64::from(duration < edge(about));
    about + shift
}

/// Returns the number of fine bins to merge into one.
fn width(bins: &BTreeMap<i64, u64>) -> i64 {
    let Some(((first, _), (last, _))) = bins.first_key_value().zip(bins.last_key_value()) else {
        return 1;
    };
    let mut width = 1;
    while last.div_euclid(width) - first.div_euclid(width) >= MOST_BINS {
        width *= 2;
    }
    width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_contain_their_durations() {
        for i in -400..400 {
            let power = (f64::from(i) / PER_DOUBLING).exp2();
            for duration in [power, power.next_up(), power.next_down(), power * 1.03] {
                let bin = bin(duration);
                assert!(edge(bin) <= duration && duration < edge(bin + 1), "{duration}");
            }
        }
    }
}
