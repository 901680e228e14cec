//! Finds good starts for the estimate of a network, and accelerates it.

use rayon::prelude::*;

use super::observed::{Observed, arrivals};
use super::{Factors, Fit, LARGE_ERROR, ROUGH_MISFIT, fit_from};
use crate::graph::Graph;

/// Number of messages with which a start is searched for. Each one is simulated some 500 times.
const SEARCHED: usize = 500;

/// Searches for a start near the network that explains all transfers best. Where links are rarely
/// free, most transfers agree with many networks. The few transfers that distinguish the networks
/// then look like outliers.
pub(super) fn near(graph: &Graph<'_>, observed: &Observed<'_>, factors: &Factors) -> Option<Fit> {
    let found = starts(graph, observed, factors);
    found.into_iter().min_by(|a, b| a.off.total_cmp(&b.off))
}

/// Returns for several latencies, in ascending order, the network that explains the transfers best.
fn starts(graph: &Graph<'_>, observed: &Observed<'_>, factors: &Factors) -> Vec<Fit> {
    const STEPS: u32 = 40;
    let observed = &Observed::new(graph, &observed.all[..observed.all.len().min(SEARCHED)]);
    let (list, all) = (graph.messages().list(), observed.all);
    // The total time of a transfer is an upper bound for its latency, and also for the time of its
    // bytes.
    let most = |of: fn((f64, f64)) -> f64| {
        let all = all.iter().zip(&observed.likely).filter_map(|(at, seconds)| {
            let parts = factors.parts(graph.size(&list[*at]).unwrap_or(0.0));
            Some((*seconds)? / of(parts))
        });
        all.fold(f64::INFINITY, f64::min)
    };
    let (latencies, bytes) = (most(|parts| parts.0), most(|parts| parts.1));
    let offs = |fit: &Fit| -> Vec<f64> {
        let arrivals = arrivals(graph, all, fit);
        let last = observed.last(&arrivals);
        let both = all.iter().zip(arrivals).zip(last);
        both.filter_map(|((at, arrival), seconds)| {
            Some((arrival - graph.transfers()[*at].start) / seconds? - 1.0)
        })
        .collect()
    };
    let of_latency = |step: u32| {
        let latency = latencies * f64::from(step) / f64::from(STEPS);
        // Finds the bandwidth at which half of the transfers are shorter than predicted.
        let (mut low, mut high) = (0.0, bytes);
        for _ in 0..12 {
            let per_byte = f64::midpoint(low, high);
            let fit = Fit::new(latency, per_byte, factors);
            let mut offs = offs(&fit);
            let half = offs.len() / 2;
            if offs.is_empty() {
                break;
            }
            let middle = *offs.select_nth_unstable_by(half, f64::total_cmp).1;
            if middle > 0.0 { high = per_byte } else { low = per_byte }
        }
        let per_byte = f64::midpoint(low, high);
        let mut fit = Fit::new(latency, per_byte, factors);
        let offs = offs(&fit);
        let sum = offs.iter().map(|off| off.abs().min(LARGE_ERROR)).sum::<f64>();
        fit.off = sum / offs.len() as f64;
        fit
    };
    if !(latencies.is_finite() && bytes.is_finite()) {
        return Vec::new();
    }
    (0..STEPS).into_par_iter().map(of_latency).collect()
}

/// Returns other networks that explain the transfers as exactly as the graph's own network. There are none if the transfers have
/// several sizes. There are usually none either if transfers of one size share links in different ways.
pub(super) fn equal(graph: &Graph<'_>, own: &Fit) -> Vec<Fit> {
    let list = graph.messages().list();
    let known = |at: &usize| graph.size(&list[*at]).is_some() && graph.transfers()[*at].is_used();
    let all: Vec<usize> = (0..list.len()).filter(known).take(SEARCHED).collect();
    let size = |at: &usize| graph.size(&list[*at]).map(f64::to_bits);
    if own.off >= ROUGH_MISFIT || all.iter().any(|at| size(at) != size(&all[0])) {
        return Vec::new();
    }
    let observed = Observed::new(graph, &all);
    let starts = starts(graph, &observed, &own.factors);
    let off =
        |at: Option<usize>| at.and_then(|at| starts.get(at)).map_or(f64::INFINITY, |it| it.off);
    let is_least = |at: &usize| starts[*at].off <= off(at.checked_sub(1)).min(off(Some(at + 1)));
    let least = (0..starts.len()).filter(is_least).map(|at| starts[at].clone());
    let fits = least.filter_map(|near| fit_from(graph, &observed, true, &own.factors, Some(near)));
    fits.filter(|fit| fit.off < ROUGH_MISFIT).collect()
}

/// Accelerates the repeated estimate, which otherwise converges slowly where links are rarely free.
/// This is Anderson's method with one previous step, on logarithms.
#[derive(Debug, Default)]
pub(super) struct Acceleration {
    /// Change of the last step, and its result.
    before: Option<([f64; 2], [f64; 2])>,
}

impl Acceleration {
    /// Returns the next estimate, given the last one and the estimate that follows from it.
    pub(super) fn next(&mut self, last: (f64, f64), found: (f64, f64)) -> (f64, f64) {
        let logs = |(a, b): (f64, f64)| [a.ln(), b.ln()];
        let (last, result) = (logs(last), logs(found));
        let change = [result[0] - last[0], result[1] - last[1]];
        let before = self.before.replace((change, result));
        let Some((old, before)) = before.filter(|_| change.iter().all(|it| it.is_finite())) else {
            return found;
        };
        let turn = [change[0] - old[0], change[1] - old[1]];
        let length = turn[0] * turn[0] + turn[1] * turn[1];
        let part = (change[0] * turn[0] + change[1] * turn[1]) / length;
        let next = |at: usize| (part * (before[at] - result[at])).clamp(-1.0, 1.0).exp();
        match part.is_finite() {
            true => (found.0 * next(0), found.1 * next(1)),
            false => found,
        }
    }
}
