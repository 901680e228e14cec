//! Transfers, which are the times that messages take in the network. They are derived from when the
//! messages were sent and received.
//!
//! Traces do not record when messages arrive. A link ends when the receiving call returns.
//! Therefore, a transfer takes at most the time from when it could start until the link ends. Only
//! the message for which a call waited last took exactly that time. Any other message is assumed to
//! take the typical time of its size, or the upper bound of its transfer if that is less.

mod votes;

use paje_comm::{Act, Received, Run, Step, TIME_TOLERANCE};
use rustc_hash::FxHashMap;

use crate::settings::{EagerStart, Progress, Settings};
use votes::{Known, exact_votes, is_local_linked, known, progress_votes, votes};

/// Data about the transfer of a message that re-timing needs.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Start in seconds. This is when the message was sent, or when both sides were ready. NaN if
    /// nothing waits for the message because its sending or receiving state is unknown.
    pub start: f64,
    /// Duration in seconds.
    pub seconds: f64,
    /// Whether a call is known to have waited for this message.
    pub is_awaited: bool,
    /// Whether sender and receiver both wait until the message has arrived.
    pub is_rendezvous: bool,
}

impl Transfer {
    const UNUSED: Transfer =
        Transfer { start: f64::NAN, seconds: 0.0, is_awaited: false, is_rendezvous: false };

    /// Returns whether any call waits for the message.
    #[must_use]
    pub fn is_used(&self) -> bool {
        !self.start.is_nan()
    }
}

/// Assumptions about messages.
#[derive(Clone, Debug, Default)]
pub struct Assumptions {
    /// Time at which eager transfers start.
    pub start: EagerStart,
    /// Number of waits that indicate that eager transfers start when sent, and number of waits that
    /// indicate that they start when posted. `None` if the user chose the start.
    pub votes: Option<(u64, u64)>,
    /// When messages travel.
    pub progress: Progress,
    /// Number of waits that indicate that messages travel while ranks compute, and number of waits
    /// that indicate that they travel only in calls. `None` if the user chose.
    pub progress_votes: Option<(u64, u64)>,
    /// Number of messages whose transfers are measured, because a call waited for them last.
    pub measured: u64,
    /// Number of messages whose transfer time is estimated.
    pub estimated: u64,
    /// Whether messages between ranks of one host use the links of this host, if messages show it.
    pub is_local_linked: Option<bool>,
}

impl Assumptions {
    /// Returns whether no message shows when eager transfers start, or when messages travel.
    pub(crate) fn is_open(&self) -> bool {
        [self.votes, self.progress_votes].contains(&Some((0, 0)))
    }
}

/// Transfers under one assumption about when they start.
struct Measured {
    /// For each message, the start, the upper bound and the seconds, and whether a call waited for
    /// the message last.
    begin: Vec<f64>,
    bound: Vec<f64>,
    is_last: Vec<bool>,
    typical: FxHashMap<Sort, f64>,
}

/// Estimates the transfers of all messages.
pub(crate) fn measure(run: &Run<'_>, settings: &Settings) -> (Vec<Transfer>, Assumptions) {
    if settings.is_identity {
        return Default::default();
    }
    if settings.is_ideal {
        return (immediate(run), Assumptions::default());
    }
    let is_simulated = run.facts.is_simulated();
    let mut sent = Measured::new(run, |it| it.begin(false), &Usual::default());
    let mut posted = Measured::new(run, |it| it.begin(true), &Usual::default());
    let mut assumed = Assumptions::default();
    let known = known(run, &sent, &posted);
    // In a simulation, calls that need not wait take no time.
    let usual = if is_simulated { Usual::default() } else { Usual::new(&known) };
    if !is_simulated {
        sent = Measured::new(run, |it| it.begin(false), &usual);
        posted = Measured::new(run, |it| it.begin(true), &usual);
    }
    let in_calls = progress_votes(run, &known);
    (assumed.progress, assumed.progress_votes) = match settings.progress {
        Some(progress) => (progress, None),
        None if in_calls.1 > in_calls.0 => (Progress::Calls, Some(in_calls)),
        None => (Progress::Async, Some(in_calls)),
    };
    let exact = if is_simulated { exact_votes(run, &known) } else { (0, 0) };
    let (votes, certain) = match exact.0 != exact.1 {
        true => (exact, 1),
        false => (votes(run, &known, &posted), if is_simulated { 10 } else { 1 }),
    };
    (assumed.start, assumed.votes) = match settings.eager_start {
        Some(start) => (start, None),
        // A message that arrives too early is proof in a simulation. One that arrives late may have shared a link.
        None if votes.0 * certain > votes.1 => (EagerStart::Sent, Some(votes)),
        None if votes.1 > 0 || is_simulated => (EagerStart::Posted, Some(votes)),
        None => (EagerStart::Sent, Some(votes)),
    };
    let measured = match (assumed.progress, assumed.start) {
        (Progress::Calls, _) => Measured::new(run, |it| it.begin(true).max(it.since), &usual),
        (_, EagerStart::Posted) => posted,
        (_, EagerStart::Sent) => sent,
    };
    let mut measured = measured;
    for (size, seconds) in measured.tested(run, settings.tested) {
        measured.typical.entry(size).or_insert(seconds);
    }
    let shortest = shortest(run, &measured);
    assumed.is_local_linked = settings.is_local_linked.or(is_local_linked(&shortest));
    let mut list = vec![Transfer::UNUSED; run.facts.messages.list().len()];
    for it in run.received.iter().flatten() {
        let at = it.message as usize;
        list[at].is_rendezvous = it.is_rendezvous;
        if !it.is_used {
            continue;
        }
        let sort = sort_of(run, it.message);
        let is_fast = sort.1 && assumed.is_local_linked == Some(false);
        // Nothing slows down messages within a host. If no call waited for a message of this sort last, the
        // best estimate is the shortest upper bound.
        let typical = measured.typical.get(&sort).filter(|_| !is_fast).or(shortest.get(&sort));
        let is_awaited = measured.is_last[at] && !is_fast;
        let bound = measured.bound[at].max(0.0);
        let seconds = if is_awaited { bound } else { typical.map_or(bound, |it| bound.min(*it)) };
        list[at] = Transfer { start: measured.begin[at], seconds, is_awaited, ..list[at] };
        assumed.measured += u64::from(is_awaited);
        assumed.estimated += u64::from(!is_awaited);
    }
    (list, assumed)
}

/// Returns transfers that take no time.
fn immediate(run: &Run<'_>) -> Vec<Transfer> {
    let mut list = vec![Transfer::UNUSED; run.facts.messages.list().len()];
    for it in run.received.iter().flatten() {
        let transfer = &mut list[it.message as usize];
        transfer.is_rendezvous = it.is_rendezvous;
        if it.is_used {
            transfer.start = 0.0;
        }
    }
    list
}

/// Messages of one sort take the same time: they have the same size, or unknown sizes, and all stay on a
/// host or none does.
type Sort = (u64, bool);

fn sort_of(run: &Run<'_>, message: u32) -> Sort {
    let message = &run.facts.messages.list()[message as usize];
    let is_local = run.facts.hosts.is_same(message.from, message.to);
    (message.bytes().unwrap_or(-1.0).to_bits(), is_local)
}

/// Returns the shortest upper bound of each sort.
fn shortest(run: &Run<'_>, measured: &Measured) -> FxHashMap<Sort, f64> {
    let mut shortest: FxHashMap<Sort, f64> = FxHashMap::default();
    for it in run.received.iter().flatten().filter(|it| it.is_used) {
        let least = shortest.entry(sort_of(run, it.message)).or_insert(f64::INFINITY);
        *least = least.min(measured.bound[it.message as usize].max(0.0));
    }
    shortest
}

/// Calls `visit` with each step in which a rank waits for messages, and with the time at which the
/// wait began.
pub(crate) fn each_wait(run: &Run<'_>, mut visit: impl FnMut(&Step<'_>, f64)) {
    for steps in &run.steps {
        let mut last = f64::NEG_INFINITY;
        for step in steps.iter() {
            if step.acts.iter().any(|act| message_of(act).is_some()) {
                visit(&step, last);
            }
            last = step.time;
        }
    }
}

impl Measured {
    /// Measures the transfers, given when each message starts. No call waits for a message that
    /// has [usually](Usual) arrived before.
    fn new(run: &Run<'_>, begin: impl Fn(&Received) -> f64, usual: &Usual) -> Self {
        let count = run.facts.messages.list().len();
        let mut measured = Measured {
            begin: vec![f64::NAN; count],
            bound: vec![f64::INFINITY; count],
            is_last: vec![false; count],
            typical: FxHashMap::default(),
        };
        let mut rendezvous = vec![false; count];
        for it in run.received.iter().flatten().filter(|it| it.is_used) {
            measured.begin[it.message as usize] = begin(it);
            rendezvous[it.message as usize] = it.is_rendezvous;
        }
        let counts = |act: Act| match act {
            Act::Receive(_) => true,
            Act::Complete(message) => rendezvous[message as usize],
            _ => false,
        };
        each_wait(run, |step, _| {
            for message in step.acts.iter().filter(|act| counts(*act)).filter_map(message_of) {
                let seconds = step.time - measured.begin[message as usize];
                let bound = &mut measured.bound[message as usize];
                *bound = bound.min(seconds);
            }
        });
        // In the second iteration, the typical times show which message came last.
        for _ in 0..2 {
            let mut samples: FxHashMap<Sort, Vec<f64>> = FxHashMap::default();
            measured.is_last.fill(false);
            let (begin, bound, typical) = (&measured.begin, &measured.bound, &measured.typical);
            let is_last = &mut measured.is_last;
            each_wait(run, |step, since| {
                if step.time - since <= TIME_TOLERANCE || step.acts.poll().is_some() {
                    return;
                }
                let expected = |it: &u32| {
                    let typical = typical.get(&sort_of(run, *it)).copied().unwrap_or(0.0);
                    begin[*it as usize] + typical.min(bound[*it as usize])
                };
                let all = step.acts.iter().filter(|act| counts(*act)).filter_map(message_of);
                let last = all.max_by(|a, b| expected(a).total_cmp(&expected(b)));
                let Some(last) = last else { return };
                if usual.is_there(sort_of(run, last), since - begin[last as usize]) {
                    return;
                }
                let seconds = step.time - begin[last as usize];
                // Another call may have shown that the message arrived earlier.
                if seconds <= bound[last as usize] + TIME_TOLERANCE {
                    is_last[last as usize] = true;
                    samples.entry(sort_of(run, last)).or_default().push(seconds.max(0.0));
                }
            });
            let median = |(size, mut all): (Sort, Vec<f64>)| {
                let at = all.len() / 2;
                (size, *all.select_nth_unstable_by(at, f64::total_cmp).1)
            };
            measured.typical = samples.into_iter().map(median).collect();
        }
        measured
    }

    /// Returns the transfers that explain which tests failed, by size.
    fn tested(&self, run: &Run<'_>, tested: f64) -> FxHashMap<Sort, f64> {
        let mut limits: FxHashMap<Sort, (f64, f64)> = FxHashMap::default();
        for poll in &run.polls {
            let [message] = poll.messages[..] else { continue };
            let track =
                &run.facts.tracks.list()[run.facts.messages.list()[message as usize].to as usize];
            let end = |test: &u32| track.end[*test as usize] - self.begin[message as usize];
            let (last, failed) =
                (poll.tests.last().map(end), poll.tests.iter().nth_back(1).map(end));
            let (low, high) = limits.entry(sort_of(run, message)).or_insert((0.0, f64::INFINITY));
            (*low, *high) = (low.max(failed.unwrap_or(0.0)), high.min(last.unwrap_or(*high)));
        }
        let consistent = limits.into_iter().filter(|(_, (low, high))| low <= high);
        consistent.map(|(size, (low, high))| (size, low + tested * (high - low))).collect()
    }
}

/// Returns the message for which a rank waits.
pub(crate) fn message_of(act: Act) -> Option<u32> {
    match act {
        Act::Receive(message) | Act::Complete(message) => Some(message),
        _ => None,
    }
}

/// Usual transfers by size.
#[derive(Debug, Default)]
struct Usual(FxHashMap<Sort, f64>);

impl Usual {
    fn new(known: &Known) -> Self {
        let half = |(size, all): (&Sort, &Vec<f64>)| (*size, all[all.len() / 2]);
        Usual(known.iter().map(half).collect())
    }

    /// Returns whether a message that began some seconds ago has long arrived.
    fn is_there(&self, sort: Sort, ago: f64) -> bool {
        self.0.get(&sort).is_some_and(|usual| ago >= 3.0 * usual)
    }
}
