//! Estimates latency and bandwidth from recorded transfers.
//!
//! Transfers of several sizes determine both values. Transfers of one size are also enough if they
//! sometimes share links. The sharing is found by repeated simulation at the recorded times.

mod observed;
mod search;
mod table;

use crate::costs::Costs;
use crate::graph::Graph;
use observed::{Observed, arrivals_with, stretch_of};
use search::{Acceleration, near};
pub use table::Table;

/// Factors for latency and bandwidth, which depend on the size. Each entry has the minimum bytes
/// and the factor. The largest size comes first.
#[derive(Clone, Debug, PartialEq)]
pub struct Factors {
    /// Name in reports.
    pub name: &'static str,
    latency: &'static [(f64, f64)],
    bandwidth: &'static [(f64, f64)],
    /// Fraction of the opposite link that a message uses.
    pub(crate) cross: f64,
}

impl Factors {
    /// Without factors, a message takes latency + bytes / bandwidth.
    pub const NONE: Factors = Factors { name: "none", latency: &[], bandwidth: &[], cross: 0.0 };

    /// Defaults of SimGrid's SMPI (options `smpi/lat-factor`, `smpi/bw-factor` and
    /// `network/crosstraffic`).
    pub const SMPI: Factors = Factors {
        name: "smpi",
        latency: &[
            (65_472.0, 11.6436),
            (15_424.0, 3.48845),
            (9_376.0, 2.59299),
            (5_776.0, 2.18796),
            (3_484.0, 1.88101),
            (1_426.0, 1.61075),
            (732.0, 1.9503),
            (257.0, 1.95341),
            (0.0, 2.01467),
        ],
        bandwidth: &[
            (65_472.0, 0.940_694),
            (15_424.0, 0.697_866),
            (9_376.0, 0.58729),
            (5_776.0, 1.08739),
            (3_484.0, 0.77493),
            (1_426.0, 0.608_902),
            (732.0, 0.341_987),
            (257.0, 0.338_112),
            (0.0, 0.812_084),
        ],
        cross: 0.05,
    };

    fn of(list: &[(f64, f64)], bytes: f64) -> f64 {
        list.iter().find(|(from, _)| bytes >= *from).map_or(1.0, |(_, factor)| *factor)
    }

    /// Returns the latency of a message and the time to transfer its bytes, on a network with
    /// latency 1 and bandwidth 1.
    fn parts(&self, bytes: f64) -> (f64, f64) {
        (Self::of(self.latency, bytes), bytes / Self::of(self.bandwidth, bytes))
    }
}

/// Latency and bandwidth of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Latency in seconds.
    pub latency: f64,
    /// Seconds per byte.
    pub per_byte: f64,
    /// Factors for latency and bandwidth that depend on the size.
    pub factors: Factors,
    /// 80th percentile of the relative errors of recorded transfers.
    pub misfit: f64,
    /// Mean of these errors, each of which counts as at most [`LARGE_ERROR`].
    off: f64,
}

/// Messages with a larger relative error count as outliers.
const LARGE_ERROR: f64 = 0.1;

impl Fit {
    fn new(latency: f64, per_byte: f64, factors: &Factors) -> Self {
        let (factors, unknown) = (factors.clone(), f64::INFINITY);
        Fit { latency, per_byte, factors, misfit: unknown, off: unknown }
    }

    /// Returns the latency of a message and the time to transfer its bytes, in seconds.
    #[must_use]
    pub fn times(&self, bytes: f64) -> (f64, f64) {
        let (latency, work) = self.factors.parts(bytes);
        (latency * self.latency, work * self.per_byte)
    }

    /// Returns the costs of the graph, but with this network's times for all messages of known
    /// size.
    pub(crate) fn costs(&self, graph: &Graph<'_>) -> Costs {
        let mut costs = graph.costs().clone();
        for (cost, message) in costs.messages.iter_mut().zip(graph.messages().list()) {
            *cost = graph.size(message).map_or(*cost, |bytes| self.times(bytes));
        }
        (costs.shares, costs.cross) = (true, self.factors.cross);
        costs
    }
}

/// Estimates the recorded network with shared links, to simulate contention in a changed run.
/// Returns `None` unless the network reproduces the recorded run almost exactly.
#[must_use]
pub fn own_network(graph: &Graph<'_>) -> Option<(Costs, Fit)> {
    let fit = fit(graph, true).filter(|fit| fit.misfit < EXACT_MISFIT)?;
    let costs = fit.costs(graph);
    (graph.misfit_of(&costs) < EXACT_MISFIT).then_some((costs, fit))
}

/// Returns other networks that explain the transfers of a simulated run as well as its own network does: if there are any, the
/// one of least latency and the one of largest latency.
#[must_use]
pub fn other_networks(graph: &Graph<'_>, own: &Fit) -> Vec<Costs> {
    let found = search::equal(graph, own);
    found.first().into_iter().chain(found.last()).map(|fit| fit.costs(graph)).collect()
}

/// Largest relative error of a network that explains the transfers, and of the times of waits in the recorded run.
pub(crate) const EXACT_MISFIT: f64 = 1e-2;

/// Returns the 80th percentile of the relative errors with which the graph's costs explain measured
/// transfers of known size. Returns `None` if there are no such transfers.
#[must_use]
pub fn misfit(graph: &Graph<'_>) -> Option<f64> {
    let (list, costs) = (graph.messages().list(), graph.costs());
    let used = |at: &usize| {
        graph.transfers()[*at].is_used() && !graph.is_local(list[*at].from, list[*at].to)
    };
    let all: Vec<usize> = (0..list.len()).filter(used).take(MAX_MESSAGES).collect();
    let observed = Observed::new(graph, &all);
    let arrivals = arrivals_with(graph, &all, costs.cross, &|at| costs.messages[at]);
    let last = observed.last(&arrivals);
    let measured = all.iter().zip(&arrivals).zip(last).filter_map(|((at, arrival), seconds)| {
        let off = ((arrival - graph.transfers()[*at].start) / seconds? - 1.0).abs();
        list[*at].bytes().map(|_| off)
    });
    let mut offs: Vec<f64> = measured.collect();
    let at = offs.len() * 4 / 5;
    (!offs.is_empty()).then(|| *offs.select_nth_unstable_by(at, f64::total_cmp).1)
}

/// Returns the error with which a table explains the transfers, or that of the estimated network.
pub(crate) fn misfit_of_network(graph: &Graph<'_>) -> f64 {
    let found = match graph.has_table() {
        true => misfit(graph),
        false => fit(graph, true).map(|fit| fit.misfit),
    };
    found.unwrap_or(f64::INFINITY)
}

/// Largest relative error of a network for which changes are predicted.
pub const WORST_MISFIT: f64 = 0.2;

/// Maximum number of messages that are used. The first messages are taken.
pub const MAX_MESSAGES: usize = 100_000;

/// Minimum number of refinements. If there are few messages, refinement continues as long as it has
/// an effect, because a single step improves little where links are rarely free.
const ROUNDS: usize = 16;

/// Total number of messages that are simulated in all rounds, and maximum number of rounds.
const FIT_BUDGET: usize = 100_000;
const MAX_ROUNDS: usize = 200;

/// Number of messages with which starts and factors are compared. The best estimate is then refined
/// with all messages.
const FEW_MESSAGES: usize = 2_000;

/// Estimates latency and bandwidth from the recorded transfers. Returns `None` if the transfers do
/// not determine both.
#[must_use]
pub fn fit(graph: &Graph<'_>, shares: bool) -> Option<Fit> {
    let list = graph.messages().list();
    let known = |at: &usize| graph.size(&list[*at]).is_some() && graph.transfers()[*at].is_used();
    let mut all: Vec<usize> = (0..list.len()).filter(known).collect();
    let in_trace = |at: &usize| (list[*at].lane, list[*at].row);
    if all.len() > MAX_MESSAGES {
        all.select_nth_unstable_by_key(MAX_MESSAGES, in_trace);
        all.truncate(MAX_MESSAGES);
    }
    all.sort_unstable_by_key(in_trace);
    let few = Observed::new(graph, &all[..all.len().min(FEW_MESSAGES)]);
    let found = fit_few(graph, &few, shares);
    if all.len() <= FEW_MESSAGES {
        return found;
    }
    let whole = Observed::new(graph, &all);
    match found {
        None => fit_few(graph, &whole, shares),
        Some(found) => {
            let factors = found.factors.clone();
            fit_from(graph, &whole, shares, &factors, Some(found))
        }
    }
}

fn fit_few(graph: &Graph<'_>, few: &Observed<'_>, shares: bool) -> Option<Fit> {
    if !graph.run().facts.is_simulated() {
        return fit_from(graph, few, shares, &Factors::NONE, None);
    }
    let smpi = fit_simulated(graph, few, shares, &Factors::SMPI);
    if smpi.as_ref().is_some_and(|smpi| smpi.misfit < EXACT_MISFIT) {
        return smpi;
    }
    match (fit_simulated(graph, few, shares, &Factors::NONE), smpi) {
        (Some(plain), Some(smpi)) if plain.misfit > 0.5 * smpi.misfit => Some(smpi),
        (plain, smpi) => plain.or(smpi),
    }
}

/// Fits a network of a simulation. Most of its messages agree with the network exactly. Otherwise,
/// the fit may have begun too far from the network.
fn fit_simulated(
    graph: &Graph<'_>,
    few: &Observed<'_>,
    shares: bool,
    factors: &Factors,
) -> Option<Fit> {
    let first = fit_from(graph, few, shares, factors, None);
    if !shares || first.as_ref().is_some_and(|fit| fit.off < ROUGH_MISFIT) {
        return first;
    }
    let near = near(graph, few, factors);
    let found = near.and_then(|near| fit_from(graph, few, shares, factors, Some(near)));
    let both = first.into_iter().chain(found);
    both.min_by(|a, b| a.off.total_cmp(&b.off))
}

/// If the mean relative error is less than this, no better start is searched for.
const ROUGH_MISFIT: f64 = 1e-4;

/// A measured transfer. `latency` and `work` are its latency and the time to transfer its bytes, on
/// a network with latency 1 and bandwidth 1, each divided by the measured time of the whole
/// transfer. Outliers have a low weight.
struct Measured {
    latency: f64,
    work: f64,
    weight: f64,
}

impl Measured {
    fn off(&self, latency: f64, per_byte: f64) -> f64 {
        self.latency * latency + self.work * per_byte - 1.0
    }
}

/// Fits the network, beginning at a start.
fn fit_from(
    graph: &Graph<'_>,
    observed: &Observed<'_>,
    shares: bool,
    factors: &Factors,
    near: Option<Fit>,
) -> Option<Fit> {
    let (list, all) = (graph.messages().list(), observed.all);
    let mut stretch = vec![1.0; all.len()];
    let mut last = observed.likely.clone();
    if let Some(near) = &near {
        last = observed.last(&stretch_of(graph, all, near, &mut stretch));
    }
    let mut found: Option<Fit> = near;
    let mut best = None;
    let mut steps = Acceleration::default();
    let rounds = (FIT_BUDGET / all.len().max(1)).clamp(ROUNDS, MAX_ROUNDS);
    for round in 0..rounds {
        let measured = all.iter().zip(&stretch).zip(&last).filter_map(|((at, stretch), last)| {
            let (seconds, bytes) = ((*last)?, graph.size(&list[*at])?);
            let (latency, work) = factors.parts(bytes);
            Some(Measured {
                latency: latency / seconds,
                work: work * stretch / seconds,
                weight: 1.0,
            })
        });
        let mut measured: Vec<Measured> = measured.collect();
        if let Some(fit) = &mut found {
            (fit.misfit, fit.off) = weigh(&mut measured, fit);
            if best.as_ref().is_none_or(|best: &Fit| fit.off < best.off) {
                best = Some(fit.clone());
            }
        }
        let sum = |of: &dyn Fn(&Measured) -> f64| -> f64 {
            measured.iter().map(|it| it.weight * of(it)).sum()
        };
        let count = sum(&|_| 1.0);
        let (a, b) = (sum(&|it| it.latency), sum(&|it| it.work));
        let [aa, ab, bb] = [
            sum(&|it| it.latency * it.latency),
            sum(&|it| it.latency * it.work),
            sum(&|it| it.work * it.work),
        ];
        let determinant = aa * bb - ab * ab;
        let is_determined = determinant > 1e-5 * aa * bb;
        if measured.len() < 2 || !is_determined && (round > 0 || !shares || a * b == 0.0) {
            return best;
        }
        // If all sizes are equal, start with half of the time for latency. Sharing may distinguish
        // the two later.
        let (latency, per_byte) = match is_determined {
            true => ((a * bb - b * ab) / determinant, (aa * b - ab * a) / determinant),
            false => (0.5 * count / a, 0.5 * count / b),
        };
        let is_possible = latency >= 0.0 && per_byte > 0.0;
        if !is_possible && round + 1 == rounds {
            break;
        }
        // A bad estimate of the sharing leads to an impossible result. The next estimate is better.
        let latency = if latency >= 0.0 { latency } else { count / (20.0 * a) };
        let per_byte = if per_byte > 0.0 { per_byte } else { count / (20.0 * b) };
        let is_same = |fit: &Fit| {
            let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b;
            same(fit.latency, latency) && same(fit.per_byte, per_byte)
        };
        if is_possible && found.as_ref().is_some_and(is_same) {
            break;
        }
        let (latency, per_byte) = match &found {
            Some(fit) => steps.next((fit.latency, fit.per_byte), (latency, per_byte)),
            None => (latency, per_byte),
        };
        let fit = Fit::new(latency, per_byte, factors);
        if shares {
            last = observed.last(&stretch_of(graph, all, &fit, &mut stretch));
        }
        found = Some(fit);
    }
    best
}

/// Sets the weight of each transfer by its error. Returns the 80th percentile of the errors, and
/// their mean.
fn weigh(measured: &mut [Measured], fit: &Fit) -> (f64, f64) {
    let off = |it: &Measured| it.off(fit.latency, fit.per_byte).abs();
    let mut offs: Vec<f64> = measured.iter().map(off).collect();
    let (at, half) = (offs.len() * 4 / 5, offs.len() / 2);
    if offs.is_empty() {
        return (f64::INFINITY, f64::INFINITY);
    }
    let mean = offs.iter().map(|off| off.min(LARGE_ERROR)).sum::<f64>() / offs.len() as f64;
    let misfit = *offs.select_nth_unstable_by(at, f64::total_cmp).1;
    let typical_misfit = *offs.select_nth_unstable_by(half, f64::total_cmp).1 * 3.0 + 1e-4;
    for it in measured {
        it.weight = 1.0 / (1.0 + (off(it) / typical_misfit).powi(2));
    }
    (misfit, mean)
}
