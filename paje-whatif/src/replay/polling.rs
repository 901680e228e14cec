//! Loops of tests. A rank repeats such a loop until its messages have arrived, so the number of
//! tests may change.
//!
//! In SMPI, a test takes the longer, the more tests have failed since the last test that succeeded,
//! counted over all ranks. Elsewhere, tests take their recorded times, and further tests take the
//! time of the last ones.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use paje_comm::Poll;
use paje_comm::classes::Class;

use super::Run;
use crate::graph::Graph;

/// How a loop proceeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Tested {
    /// A test ends at this time. The messages may have arrived.
    Ends(f64, bool),
    /// It is not known yet.
    Pending,
}

#[derive(Clone, Copy, Debug, Default)]
struct Rank {
    poll: u32,
    test: u32,
    /// Whether a test has begun that has not ended.
    is_pending: bool,
    /// Begin of the next test, if the rank waits until its messages have arrived.
    sleeps: Option<f64>,
    /// End of the test, and whether the messages have arrived.
    ended: Option<(f64, bool)>,
}

#[derive(Debug)]
pub(super) struct Polling {
    ranks: Vec<Rank>,
    /// Begins and ends of tests, which come later at the same time. Of several ends at the same
    /// time, SMPI takes the test that began last.
    events: BinaryHeap<Reverse<(i64, bool, i64, u32)>>,
    begun: i64,
    /// SMPI's time for one failed test, if tests take a multiple of it.
    unit: Option<f64>,
    failed: u32,
    /// Resolution of times, in the trace's unit.
    pub(super) tick: f64,
    /// Typical time between two tests.
    gap: f64,
    /// Typical time of a test.
    test: f64,
    /// Number of tests since anything else happened.
    idle: usize,
    /// Number of another order of simultaneous tests, or 0.
    order: u32,
}

/// Times are multiples of another one up to this fraction.
const FRACTION: f64 = 1e-3;

impl Polling {
    pub(super) fn new(graph: &Graph<'_>, order: u32) -> Self {
        let tracks = graph.tracks().list();
        let (mut seconds, mut gaps) = (Vec::new(), Vec::new());
        for poll in &graph.run.polls {
            let track = &tracks[rank_of(graph, poll)];
            seconds.extend(
                poll.tests.iter().map(|it| track.end[*it as usize] - track.start[*it as usize]),
            );
            gaps.extend(gaps_of(graph, poll));
        }
        let unit = seconds.iter().copied().filter(|it| *it > 0.0).fold(f64::INFINITY, f64::min);
        let is_multiple = |it: &f64| (it / unit - (it / unit).round()).abs() < FRACTION;
        let is_counted = graph.run.facts.is_simulated()
            && seconds.iter().all(is_multiple)
            && seconds.iter().any(|it| *it > 1.5 * unit);
        let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len().max(1) as f64;
        let (begin, end) = graph.span().unwrap_or((0.0, 0.0));
        let tick = begin.abs().max(end.abs()) * 1e-14;
        Polling {
            ranks: vec![Rank::default(); tracks.len()],
            events: BinaryHeap::new(),
            begun: 0,
            unit: is_counted.then_some(unit),
            failed: 0,
            tick: if is_counted { unit * 1e-6 } else { tick.max(f64::MIN_POSITIVE) },
            gap: mean(&gaps),
            test: mean(&seconds),
            idle: 0,
            order,
        }
    }

    pub(super) fn next_time(&self) -> Option<f64> {
        self.events.peek().map(|Reverse((time, ..))| *time as f64 * self.tick)
    }

    fn add(&mut self, time: f64, is_end: bool, rank: usize) {
        self.begun += 1;
        let order = match self.order {
            0 if is_end => -self.begun,
            0 => self.begun,
            number => shuffled(self.begun, number),
        };
        let time = (time / self.tick).round() as i64;
        self.events.push(Reverse((time, is_end, order, rank as u32)));
    }
}

/// Returns a place in an arbitrary order.
fn shuffled(place: i64, order: u32) -> i64 {
    let mixed = (place as u64 ^ u64::from(order).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    (mixed >> 8) as i64
}

impl Graph<'_> {
    /// Returns the mean time from one test of a loop to the next, in seconds. Returns `None` if there are no loops.
    #[must_use]
    pub fn test_period(&self) -> Option<f64> {
        let polling = || Polling::new(self, 0);
        (!self.run.polls.is_empty()).then(polling).map(|it| it.test + it.gap)
    }
}

fn rank_of(graph: &Graph<'_>, poll: &Poll) -> usize {
    graph.messages().list()[poll.messages[0] as usize].to as usize
}

/// Returns the times between the tests of a loop.
fn gaps_of<'g>(graph: &'g Graph<'_>, poll: &'g Poll) -> impl Iterator<Item = f64> + 'g {
    let track = &graph.tracks().list()[rank_of(graph, poll)];
    let gap = |both: &[u32]| track.start[both[1] as usize] - track.end[both[0] as usize];
    poll.tests.windows(2).map(gap)
}

impl Run<'_> {
    /// Returns when a test of a loop ends. `begin` is when it begins.
    pub(super) fn tested(&mut self, at: usize, poll: u32, state: u32, begin: f64) -> Tested {
        let graph = self.graph;
        let it = &graph.run.polls[poll as usize];
        if let Some((time, is_done)) = self.polling.ranks[at].ended.take() {
            self.polling.ranks[at].is_pending = false;
            self.polling.idle = 0;
            return Tested::Ends(time, is_done);
        }
        let rank = self.polling.ranks[at];
        if !rank.is_pending {
            let test = it.tests.partition_point(|test| *test < state) as u32;
            self.polling.ranks[at] = Rank { poll, test, is_pending: true, ..Rank::default() };
            self.polling.add(begin, false, at);
        } else if let Some(next) = rank.sleeps {
            let arrival = self.arrival(it);
            if !arrival.is_nan() {
                let (state, gap) = self.gap(at, it);
                let test = self.seconds(at, it, it.tests.len());
                let between = gap * self.plan.factor(graph, at, state, gap);
                let period = test + between;
                let more = ((arrival - next - test) / period).ceil().max(0.0);
                let end = if period > 0.0 { next + test + more * period } else { arrival };
                self.polling.ranks[at].is_pending = false;
                return Tested::Ends(end.max(next), true);
            }
        }
        Tested::Pending
    }

    /// Begins or ends the next test.
    pub(super) fn test(&mut self) {
        let Some(Reverse((time, is_end, _, at))) = self.polling.events.pop() else { return };
        let (time, at) = (time as f64 * self.polling.tick, at as usize);
        let Rank { poll, test, .. } = self.polling.ranks[at];
        let poll = &self.graph.run.polls[poll as usize];
        if !is_end {
            let seconds = self.seconds(at, poll, test as usize);
            return self.polling.add(time + seconds, true, at);
        }
        let is_done = self.arrival(poll) <= time + self.polling.tick;
        self.polling.failed = if is_done { 0 } else { self.polling.failed + 1 };
        self.polling.ranks[at].test += 1;
        let is_recorded = (test as usize) + 1 < poll.tests.len();
        if is_done || is_recorded {
            self.polling.ranks[at].ended = Some((time, is_done));
            self.cursors[at].is_blocked = false;
            return self.ready.push(at as u32);
        }
        let (state, gap) = self.gap(at, poll);
        let next = time + gap * self.plan.factor(self.graph, at, state, gap);
        self.polling.idle += 1;
        if self.polling.unit.is_some() && !self.is_stuck() {
            self.polling.add(next, false, at);
        } else {
            self.polling.ranks[at].sleeps = Some(next);
        }
    }

    /// Returns whether tests can no longer succeed, because no message is under way and no rank can
    /// send one.
    fn is_stuck(&mut self) -> bool {
        self.polling.idle > 2 * self.cursors.len() && self.traffic.is_idle()
    }

    /// Returns when all messages of a loop have arrived, or NaN.
    fn arrival(&self, poll: &Poll) -> f64 {
        let all = poll.messages.iter().map(|it| self.traffic.arrived[*it as usize]);
        all.fold(f64::NEG_INFINITY, |last, it| if it.is_nan() || it > last { it } else { last })
    }

    /// Returns the duration of a test, counted from 0.
    fn seconds(&self, at: usize, poll: &Poll, test: usize) -> f64 {
        let track = &self.graph.tracks().list()[at];
        let count = poll.tests.len();
        // The last recorded test ended when the messages had arrived.
        let state = poll.tests[if test < count { test } else { count.saturating_sub(2) }];
        let recorded = track.end[state as usize] - track.start[state as usize];
        let seconds = match self.polling.unit {
            Some(unit) => unit * f64::from(self.polling.failed + 1),
            None => recorded,
        };
        seconds * self.plan.factor(self.graph, at, Some(state), seconds)
    }

    /// Returns the time between two tests of a loop, and the state in which the rank is then.
    fn gap(&self, at: usize, poll: &Poll) -> (Option<u32>, f64) {
        let track = &self.graph.tracks().list()[at];
        let last = poll.tests[poll.tests.len() - 1];
        let parent = track.parent(last as usize).map(|state| state as u32);
        let is_computing = |state: &u32| {
            self.graph.tracks().class(at, *state as usize) == Class::Compute
                && Some(*state) != parent
        };
        // Without a second test, the time between tests is assumed to be of the same kind as the
        // time before the first test.
        let state = last.checked_sub(1).filter(is_computing).or(parent);
        let gaps = gaps_of(self.graph, poll);
        let (sum, count) = gaps.fold((0.0, 0.0), |(sum, count), gap| (sum + gap, count + 1.0));
        (state, if count > 0.0 { sum / count } else { self.polling.gap })
    }
}
