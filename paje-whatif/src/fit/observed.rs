//! What the waits of a run show about the arrivals of messages.

use paje_comm::{Act, TIME_TOLERANCE};

use super::Fit;
use crate::flows::{Flow, Flows};
use crate::graph::Graph;
use crate::measure::{each_wait, message_of};

const NONE: u32 = u32::MAX;

/// Messages of a recorded run, and the waits for them.
pub(super) struct Observed<'a> {
    /// The messages.
    pub(super) all: &'a [usize],
    /// The seconds that each message took, if it is likely to be the last one for which a call
    /// waited.
    pub(super) likely: Vec<Option<f64>>,
    /// Waits that took time, in a simulation. In real runs, calls take time for other reasons, too.
    waits: Vec<Wait>,
    is_simulated: bool,
    /// For each message, the start of its transfer, and the shortest time from then to the end of a
    /// call that waited for it, in seconds.
    bounds: Vec<(f64, f64)>,
}

struct Wait {
    end: f64,
    /// Indices of the awaited messages.
    messages: Vec<u32>,
    /// Estimated arrival of the last other message.
    others: f64,
}

impl<'a> Observed<'a> {
    pub(super) fn new(graph: &Graph<'_>, all: &'a [usize]) -> Self {
        let transfers = graph.transfers();
        let mut places = vec![NONE; transfers.len()];
        (0..).zip(all).for_each(|(place, at)| places[*at] = place);
        let mut bounds: Vec<(f64, f64)> =
            all.iter().map(|at| (transfers[*at].start, f64::INFINITY)).collect();
        let mut waits = Vec::new();
        let counts = |act: &Act| match *act {
            Act::Receive(message) => transfers[message as usize].is_used(),
            Act::Complete(message) => graph.is_rendezvous(message),
            _ => false,
        };
        let likely = all.iter().map(|at| &transfers[*at]);
        let likely = likely.map(|it| Some(it.seconds).filter(|s| it.is_awaited && *s > 0.0));
        let likely = likely.collect();
        let is_simulated = graph.run().facts.is_simulated();
        if !is_simulated {
            return Observed { all, likely, waits, bounds, is_simulated };
        }
        each_wait(graph.run(), |step, since| {
            let mut wait = Wait { end: step.time, messages: Vec::new(), others: f64::NEG_INFINITY };
            for message in step.acts.iter().filter(counts).filter_map(message_of) {
                let (at, transfer) = (message as usize, &transfers[message as usize]);
                match bounds.get_mut(places[at] as usize) {
                    Some((start, bound)) => {
                        *bound = bound.min(step.time - *start);
                        wait.messages.push(places[at]);
                    }
                    None => wait.others = wait.others.max(transfer.start + transfer.seconds),
                }
            }
            let took_time = step.time - since > TIME_TOLERANCE && step.acts.poll().is_none();
            if took_time && !wait.messages.is_empty() {
                waits.push(wait);
            }
        });
        Observed { all, likely, waits, bounds, is_simulated }
    }

    /// Returns the seconds that each message took, if it was the last one for which a call waited,
    /// given the arrivals of all messages.
    pub(super) fn last(&self, arrivals: &[f64]) -> Vec<Option<f64>> {
        if !self.is_simulated {
            return self.likely.clone();
        }
        let mut last = vec![None; self.all.len()];
        for wait in &self.waits {
            let arrival = |message: &u32| arrivals[*message as usize];
            let latest = wait.messages.iter().max_by(|a, b| arrival(a).total_cmp(&arrival(b)));
            let Some(latest) = latest.filter(|it| arrival(it) >= wait.others) else { continue };
            let (start, bound) = self.bounds[*latest as usize];
            let seconds = wait.end - start;
            // Another call may show that the message arrived earlier.
            if seconds > 0.0 && seconds <= bound + TIME_TOLERANCE {
                last[*latest as usize] = Some(seconds);
            }
        }
        last
    }
}

pub(super) fn arrivals(graph: &Graph<'_>, all: &[usize], fit: &Fit) -> Vec<f64> {
    let list = graph.messages().list();
    let times = |at: usize| fit.times(graph.size(&list[at]).unwrap_or(0.0));
    arrivals_with(graph, all, fit.factors.cross, &times)
}

/// Returns when messages arrive if they start at their recorded times.
pub(super) fn arrivals_with(
    graph: &Graph<'_>,
    all: &[usize],
    cross: f64,
    times: &dyn Fn(usize) -> (f64, f64),
) -> Vec<f64> {
    let list = graph.messages().list();
    let mut flows = Flows::new(true, cross, graph.tracks().list().len());
    for at in all {
        let (message, cost) = (&list[*at], times(*at));
        let [from, to] = [message.from, message.to].map(|rank| graph.run.facts.hosts.host(rank));
        let flow = Flow { id: *at as u64, from, to, cost };
        flows.start(flow, graph.transfers()[*at].start);
    }
    let (mut arrivals, mut arrived) = (vec![f64::NAN; list.len()], Vec::new());
    loop {
        flows.next_arrivals(f64::INFINITY, &mut arrived);
        if arrived.is_empty() {
            break;
        }
        arrived.iter().for_each(|(message, time)| arrivals[*message as usize] = *time);
    }
    all.iter().map(|at| arrivals[*at]).collect()
}

/// Computes the factor by which shared links slow down each message at the recorded times. Returns
/// the arrivals.
pub(super) fn stretch_of(
    graph: &Graph<'_>,
    all: &[usize],
    fit: &Fit,
    stretch: &mut [f64],
) -> Vec<f64> {
    let list = graph.messages().list();
    let arrivals = arrivals(graph, all, fit);
    for ((at, arrival), stretch) in all.iter().zip(&arrivals).zip(stretch) {
        let (latency, work) = fit.times(graph.size(&list[*at]).unwrap_or(0.0));
        let lasting = arrival - graph.transfers()[*at].start - latency;
        *stretch = if work > 0.0 && lasting.is_finite() { (lasting / work).max(1.0) } else { 1.0 };
    }
    arrivals
}
