//! Finds a phase of the run that takes longer than the rest.
//!
//! Each rank's states are divided into segments of equally many states, which take about equally
//! long in a run whose iterations are alike. A phase has most of the run's lost time in at most half
//! of its states or half of its time. Or it has at most half of the segments, which are much longer
//! than the median and contain most of the excess.

use std::ops::Range;

use super::LEAST;
use super::measures::{Measures, SEGMENTS, Segment};
use crate::quantiles::median;

/// A phase. Times are in the trace's unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phase {
    pub(super) window: (f64, f64),
    /// Share of the ranks' states.
    pub(super) states: f64,
    /// Time by which the phase is longer than as many states elsewhere.
    pub(super) excess: f64,
    /// Part of the excess that is computing.
    pub(super) computing: f64,
    /// Share of the lost time of the whole run.
    pub(super) lost: f64,
}

/// Smallest length of a segment of a phase, as a multiple of the median.
const LONGER: f64 = 1.5;

/// Smallest part of all excess that a phase has.
const MOST: f64 = 0.7;

/// Smallest part of all lost time that a phase has.
pub(super) const LOST: f64 = 0.85;

/// Finds the phase. Returns `None` if the run has no phase.
pub(super) fn find(measures: &Measures<'_, '_>) -> Option<Phase> {
    let ranks = measures.ranks.len() as f64;
    let mean = |of: fn(&Segment) -> f64| -> Vec<f64> {
        let sum = |k| measures.ranks.iter().map(|rank| of(&rank.segments[k])).sum::<f64>();
        (0..SEGMENTS).map(|k| sum(k) / ranks).collect()
    };
    let starts = mean(|it| it.start);
    // The start of the library and files take long, but are no phase of the program.
    let (times, lost) = (mean(|it| it.length - it.elsewhere), mean(|it| it.lost));
    let computing = mean(|it| it.computing);
    let lengths: Vec<f64> = lost.iter().zip(&computing).map(|(a, b)| a + b).collect();
    let sum = |all: &[f64], range: &Range<usize>| all[range.clone()].iter().sum::<f64>();
    let whole = 0..SEGMENTS;
    let all_lost = sum(&lost, &whole);
    let is_half = |range: &Range<usize>| {
        2 * range.len() <= SEGMENTS || 2.0 * sum(&times, range) <= sum(&times, &whole)
    };
    let phase = |range: Range<usize>| {
        let count = range.len() as f64;
        let end = starts.get(range.end).copied().unwrap_or(measures.window.1);
        Phase {
            window: (starts[range.start], end),
            states: count / SEGMENTS as f64,
            excess: sum(&lengths, &range) - count * median(&lengths),
            computing: sum(&computing, &range) - count * median(&computing),
            lost: sum(&lost, &range) / all_lost,
        }
    };
    let dense = (all_lost >= LEAST * measures.length)
        .then(|| [&vec![1.0; SEGMENTS], &times].map(|weights| shortest(&lost, weights)));
    let dense =
        dense.into_iter().flatten().flatten().find(|it| is_half(it) && is_spread(&lost, it));
    if let Some(range) = dense {
        let lost = sum(&lost, &range);
        let phase = phase(range);
        return Some(Phase { excess: phase.excess.max(lost), ..phase });
    }
    // Segments that are shorter than an iteration differ.
    [1, 2, 4].into_iter().find_map(|each| {
        let merged: Vec<f64> = lengths.chunks(each).map(|part| part.iter().sum()).collect();
        let range = longest(&merged)?;
        let range = range.start * each..range.end * each;
        is_spread(&lengths, &range).then(|| phase(range))
    })
}

/// Returns the range with the least weight that has most of the amounts.
fn shortest(amounts: &[f64], weights: &[f64]) -> Option<Range<usize>> {
    let all: f64 = amounts.iter().sum();
    let ranges = (0..amounts.len()).filter_map(|start| {
        let mut sum = 0.0;
        let end = (start..amounts.len()).find(|k| {
            sum += amounts[*k];
            sum >= LOST * all
        })?;
        Some(start..end + 1)
    });
    let weight = |range: &Range<usize>| weights[range.clone()].iter().sum::<f64>();
    ranges.min_by(|a, b| weight(a).total_cmp(&weight(b)))
}

/// Returns whether several segments contribute to a phase. One could be a single long call.
fn is_spread(amounts: &[f64], range: &Range<usize>) -> bool {
    let (sum, squares) = amounts[range.clone()]
        .iter()
        .fold((0.0, 0.0), |(sum, squares), it| (sum + it, squares + it * it));
    // If n segments contribute equally, the ratio is n.
    sum * sum >= 3.0 * squares
}

/// Returns the range of long segments with the largest excess. One shorter segment may interrupt
/// it.
fn longest(lengths: &[f64]) -> Option<Range<usize>> {
    let base = median(lengths);
    let excess = |k: usize| lengths[k] - base;
    let is_long = |k: usize| lengths[k] > LONGER * base;
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for k in (0..lengths.len()).filter(|k| is_long(*k)) {
        match ranges.last_mut() {
            Some(last) if k <= last.end + 1 => last.end = k + 1,
            _ => ranges.push(k..k + 1),
        }
    }
    let sum = |range: &Range<usize>| range.clone().map(excess).sum::<f64>();
    let all: f64 = (0..lengths.len()).map(|k| excess(k).max(0.0)).sum();
    let best = ranges.into_iter().max_by(|a, b| sum(a).total_cmp(&sum(b)))?;
    (2 * best.len() <= lengths.len() && sum(&best) >= MOST * all).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_a_minority_with_most_of_the_excess() {
        let mut lengths = vec![1.0; 40];
        assert_eq!(longest(&lengths), None);
        lengths[20..24].fill(5.0);
        lengths[22] = 1.2;
        assert_eq!(longest(&lengths), Some(20..24));
        lengths[2..5].fill(4.0);
        assert_eq!(longest(&lengths), None, "two phases");
        lengths[..30].fill(5.0);
        assert_eq!(longest(&lengths), None, "most of the run");
        assert_eq!(shortest(&[0.0, 1.0, 9.0, 1.0], &[1.0; 4]), Some(1..3));
        assert_eq!(shortest(&[0.0, 1.0, 9.0, 1.0], &[1.0, 9.0, 1.0, 1.0]), Some(2..4));
    }
}
