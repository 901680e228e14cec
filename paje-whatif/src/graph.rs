//! The graph of a run: the activities of each container in order, and the dependencies between
//! them.
//!
//! The graph consists of arrays: the times of states, facts about messages, and the order of both.

use std::sync::Arc;

use paje_analysis::classes::{Class, Classes};
use paje_analysis::collectives::Collectives;
use paje_analysis::messages::{Message, Messages};
use paje_analysis::tracks::Tracks;
use paje_sim::Trace;
use rayon::prelude::*;

use crate::settings::{EagerStart, Settings};
use crate::shapes::{CollectiveModel, shapes};
use crate::steps::{Kind, Steps};
use crate::transfers::{
    Assumptions, Least, Received, TIME_TOLERANCE, Transfer, Transfers, WAIT_SEARCH_LIMIT, received,
    transfers,
};
use crate::walk::{Act, Acts, StateAct, Step, Walk};

/// States, messages and collectives of a recorded run.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct RunFacts<'t> {
    pub tracks: Arc<Tracks<'t>>,
    pub messages: Arc<Messages>,
    pub collectives: Arc<Collectives>,
}

impl<'t> RunFacts<'t> {
    /// Reads the states, messages and collectives from a trace.
    #[must_use]
    pub fn new(trace: &'t Trace, settings: &Settings) -> Self {
        let tracks = Tracks::new(trace, Classes::new(trace, &settings.map));
        let (messages, collectives) = rayon::join(
            || Messages::by_receiver(&tracks, &settings.map, settings.bytes.as_deref()),
            || Collectives::new(&tracks, &settings.grouping),
        );
        RunFacts {
            tracks: Arc::new(tracks),
            messages: Arc::new(messages),
            collectives: Arc::new(collectives),
        }
    }
}

/// The graph of a run.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Graph<'t> {
    pub tracks: Arc<Tracks<'t>>,
    pub messages: Arc<Messages>,
    /// Transfers of the messages, in the same order.
    pub transfers: Vec<Transfer>,
    /// Assumptions about the transfers.
    pub assumed: Assumptions,
    pub collectives: Arc<Collectives>,
    /// Models of the collectives, one for each series.
    pub shapes: Vec<CollectiveModel>,
    pub(crate) steps: Vec<Steps>,
    /// Sent messages for which containers wait, indexed by the number in [`Act::Await`].
    pub(crate) awaited: Vec<Awaited>,
    /// Seconds beyond the minimum cost of a call, for each track. Indexed by the number in
    /// [`Act::Wait`].
    pub(crate) waits: Vec<Vec<f64>>,
    least: Least,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Awaited {
    pub(crate) message: u32,
    /// Seconds from the arrival until the sender continues.
    pub(crate) slack: f64,
}

impl<'t> Graph<'t> {
    /// Limit for the number of states and for the number of messages. Both must be lower.
    pub const MAX: u64 = 1 << StateAct::BITS;

    /// Builds the graph of a trace.
    #[must_use]
    pub fn new(trace: &'t Trace, settings: &Settings) -> Self {
        Graph::of(RunFacts::new(trace, settings), settings)
    }

    /// Estimates the memory of the graph of a trace in bytes. The memory of the trace is not
    /// included.
    #[must_use]
    pub fn bytes(trace: &Trace) -> u64 {
        // The message with its index in two lists, its transfer and origin, and three acts.
        const MESSAGE: usize = size_of::<Message>()
            + 2 * size_of::<u32>()
            + size_of::<Transfer>()
            + size_of::<Received>()
            + 3 * size_of::<StateAct>();
        let counts = trace.counts();
        let state = Tracks::STATE + 2 * Steps::STEP;
        counts.states * state as u64 + counts.links * MESSAGE as u64
    }

    /// Builds the graph of recorded facts.
    #[must_use]
    pub fn of(facts: RunFacts<'t>, settings: &Settings) -> Self {
        let RunFacts { tracks, messages, collectives } = facts;
        let Transfers { list, assumed, least, received } = transfers(&tracks, &messages, settings);
        let mut graph = Graph {
            tracks,
            messages,
            transfers: list,
            assumed,
            collectives,
            shapes: Vec::new(),
            steps: Vec::new(),
            awaited: Vec::new(),
            waits: Vec::new(),
            least,
        };
        let all = received.into_par_iter().enumerate();
        let found: Vec<_> = all.map(|(track, all)| graph.messages_of(track, &all)).collect();
        let (mut acts, linked): (Vec<Acts>, Vec<Vec<u32>>) = found.into_iter().unzip();
        let in_link = |track: usize, state: u32| linked[track].binary_search(&state).is_ok();
        let eager = graph.assumed.eager;
        graph.shapes = shapes(&graph.tracks, &graph.collectives, &in_link, settings, eager);
        graph.add_operations(&mut acts);
        acts.par_iter_mut().for_each(Acts::sort);
        graph.add_frees(&mut acts);
        if !graph.awaited.is_empty() {
            acts.par_iter_mut().for_each(Acts::sort);
        }
        let all = acts.into_par_iter().enumerate();
        let all = all.map(|(track, acts)| graph.steps_of(track, &acts)).collect::<Vec<_>>();
        (graph.waits, graph.steps) = all.into_iter().unzip();
        graph
    }

    /// Sets the rendezvous threshold to `eager` bytes.
    #[must_use]
    pub fn with_eager(mut self, eager: f64) -> Self {
        let count = self.tracks.list().len();
        let all = (0..count).into_par_iter();
        let all: Vec<_> = all.map(|at| received(&self.tracks, &self.messages, at)).collect();
        let mut more = vec![Vec::new(); count];
        for it in all.into_iter().flatten() {
            let (at, post) = (it.message as usize, it.post);
            let (message, transfer) = (self.messages.list()[at], self.transfers[at]);
            let (Some(bytes), Some(send)) = (message.bytes(), message.send()) else { continue };
            let is_rendezvous = bytes >= eager;
            if !transfer.is_used() || is_rendezvous == transfer.is_rendezvous {
                continue;
            }
            let waits_for_post = is_rendezvous || self.assumed.start == EagerStart::Posted;
            let (from, to) = (message.from as usize, message.to as usize);
            let number = at as u32;
            if waits_for_post {
                let posted = self.tracks.list()[to].start[post as usize].min(message.end);
                if transfer.lag.is_nan() {
                    more[to].push((Kind::Open, StateAct::new(post, Act::Post(number))));
                }
                self.transfers[at].lag = posted - message.start;
                self.transfers[at].start = message.start.max(posted);
            } else {
                (self.transfers[at].lag, self.transfers[at].start) = (f64::NAN, message.start);
            }
            self.transfers[at].slack = transfer.slack + transfer.start - self.transfers[at].start;
            self.transfers[at].is_rendezvous = is_rendezvous;
            if is_rendezvous {
                let track = &self.tracks.list()[from];
                let name = self.tracks.trace().types().value_name(track.type_, track.value[send]);
                let name = name.text.to_ascii_lowercase();
                let is_begun = [&b"isend"[..], b"issend", b"ibsend", b"irsend"]
                    .iter()
                    .any(|word| name.windows(word.len()).any(|part| part == *word));
                let later = (send + 1..track.len()).take(WAIT_SEARCH_LIMIT);
                let mut waits = later.filter(|s| self.tracks.class(from, *s) == Class::Wait);
                let free = if is_begun { waits.next() } else { Some(send) };
                if let Some(free) = free {
                    let slack = (track.end[free] - self.transfers[at].arrival()).min(0.0);
                    let act = Act::Await(self.awaited.len() as u32);
                    more[from].push((Kind::Close, StateAct::new(free as u32, act)));
                    self.awaited.push(Awaited { message: number, slack });
                }
            }
        }
        let all = self.steps.par_iter_mut().zip(more).filter(|(_, more)| !more.is_empty());
        all.for_each(|(steps, more)| *steps = steps.with(more));
        self
    }

    /// Returns the recorded facts. They are shared with the graph.
    #[must_use]
    pub fn facts(&self) -> RunFacts<'t> {
        RunFacts {
            tracks: Arc::clone(&self.tracks),
            messages: Arc::clone(&self.messages),
            collectives: Arc::clone(&self.collectives),
        }
    }

    /// Returns the times of the first enter and of the last exit, in seconds.
    #[must_use]
    pub fn span(&self) -> Option<(f64, f64)> {
        self.tracks.span()
    }

    /// Returns the name of a track's container.
    #[must_use]
    pub fn name(&self, track: u32) -> String {
        let container = self.tracks.list()[track as usize].container;
        self.tracks.trace().containers().name(container).to_string()
    }

    /// Returns the messages that a track sends and receives, and its states that belong to
    /// collectives with links. Both lists are nearly sorted by state.
    fn messages_of(&self, at: usize, received: &[Received]) -> (Acts, Vec<u32>) {
        let (mut acts, mut linked) = (Acts::default(), Vec::new());
        let (track, list) = (&self.tracks.list()[at], self.messages.list());
        let posts = received.iter().filter(|it| it.is_used && !it.posted.is_nan()).count();
        acts.opening.reserve_exact(self.messages.sent(at).len() + posts);
        acts.closing.reserve_exact(received.len());
        let is_group =
            |state: u32| matches!(self.tracks.class(at, state as usize), Class::Collective(_));
        for number in self.messages.sent(at) {
            let send = list[*number as usize].send().map(|send| send as u32);
            let is_used = self.transfers[*number as usize].is_used();
            let Some(send) = send.filter(|_| is_used) else { continue };
            linked.extend(Some(send).filter(|send| is_group(*send)));
            let (start, of) =
                (list[*number as usize].start, StateAct::new(send, Act::Send(*number)));
            if start <= track.start[send as usize] {
                acts.opening.push(of);
            } else {
                acts.within.push((start, of));
            }
        }
        for it in received.iter().filter(|it| it.is_used) {
            let Received { message, recv, post, end, posted, .. } = *it;
            linked.extend(Some(recv).filter(|recv| is_group(*recv)));
            // In a collective, a send at the end comes after a receive at the same time.
            if end >= track.end[recv as usize] && !is_group(recv) {
                acts.closing.push(StateAct::new(recv, Act::Receive(message)));
            } else {
                acts.within.push((end, StateAct::new(recv, Act::Receive(message))));
            }
            if posted <= track.start[post as usize] {
                acts.opening.push(StateAct::new(post, Act::Post(message)));
            } else if !posted.is_nan() {
                acts.within.push((posted, StateAct::new(post, Act::Post(message))));
            }
        }
        linked.sort_unstable();
        linked.dedup();
        (acts, linked)
    }

    fn add_operations(&self, acts: &mut [Acts]) {
        for shaped in &self.shapes {
            if shaped.has_links || shaped.shape == crate::Shape::Local {
                continue;
            }
            let series = &self.collectives.series[shaped.series];
            let group = self.collectives.members(series);
            let mut seat = shaped.first_seat;
            for instance in 0..series.len() {
                for (track, state) in group.iter().zip(series.operation(instance)) {
                    acts[*track as usize].opening.push(StateAct::new(*state, Act::Enter(seat)));
                    acts[*track as usize].closing.push(StateAct::new(*state, Act::Leave(seat)));
                    seat += 1;
                }
            }
        }
    }

    /// Adds the waits of rendezvous senders. They are at the end of the sending call, or of a call
    /// that waits.
    fn add_frees(&mut self, all: &mut [Acts]) {
        let mut within = vec![Vec::new(); all.len()];
        for at in 0..self.transfers.len() {
            let transfer = self.transfers[at];
            if !transfer.is_used() || !transfer.is_rendezvous {
                continue;
            }
            let message = self.messages.list()[at];
            let (from, arrival) = (message.from as usize, transfer.arrival());
            let Some(send) = message.send() else { continue };
            let track = &self.tracks.list()[from];
            let act = Act::Await(self.awaited.len() as u32);
            let mut wait_for = |slack| self.awaited.push(Awaited { message: at as u32, slack });
            if track.end[send] >= arrival - TIME_TOLERANCE && track.end[send] > message.start {
                // The wait must have ended before the next message in the same call was sent.
                let acts = &mut all[from];
                let next =
                    acts.within.partition_point(|(time, ..)| *time < arrival - TIME_TOLERANCE);
                let next = acts.within[next..].iter();
                let mut next = next.take_while(|(time, ..)| *time <= track.end[send]);
                let next = next.find(|(time, of)| {
                    let is_sent = of.state() == send as u32 && matches!(of.act(), Act::Send(_));
                    is_sent && *time > message.start
                });
                let until = match next.copied() {
                    Some((time, ..)) => {
                        within[from].push((time, StateAct::new(send as u32, act)));
                        time
                    }
                    None => {
                        acts.closing.push(StateAct::new(send as u32, act));
                        track.end[send]
                    }
                };
                wait_for(slack_of(until, arrival));
                continue;
            }
            let later = (send + 1..track.len()).take(WAIT_SEARCH_LIMIT);
            let mut waits = later.filter(|state| self.tracks.class(from, *state) == Class::Wait);
            if let Some(wait) = waits.find(|state| track.end[*state] >= arrival - TIME_TOLERANCE) {
                all[from].closing.push(StateAct::new(wait as u32, act));
                wait_for(slack_of(track.end[wait], arrival));
            }
        }
        for (acts, within) in all.iter_mut().zip(within) {
            acts.within.extend(within);
        }
    }

    /// Returns the steps of a container. Also returns the excess seconds of calls that something
    /// else ended.
    fn steps_of(&self, at: usize, acts: &Acts) -> (Vec<f64>, Steps) {
        let track = &self.tracks.list()[at];
        let count = acts.opening.len() + acts.within.len() + acts.closing.len();
        let (mut times, mut steps) = (Vec::new(), Steps::with_capacity(track.len(), count));
        let (mut walk, mut last) = (Walk::new(), f64::INFINITY);
        // Returns whether the act ended the wait at this time.
        let ends = |act: Act| match act {
            Act::Receive(message) => {
                let transfer = &self.transfers[message as usize];
                transfer.is_awaited && transfer.slack <= TIME_TOLERANCE
            }
            Act::Await(number) => self.awaited[number as usize].slack <= TIME_TOLERANCE,
            _ => false,
        };
        let mut wait = |seconds: f64, state: u32| {
            let least = self.least.get(&(track.type_.0, track.value[state as usize].0));
            times.push((seconds - least.copied().unwrap_or(0.0)).max(0.0));
            Some(Act::Wait(times.len() as u32 - 1))
        };
        loop {
            let (step, time) = walk.peek(track, acts);
            walk.take(step, track);
            match step {
                Step::End => break,
                Step::Open(state) => {
                    let all = &acts.opening[walk.opened as usize..];
                    let all = all.iter().take_while(|of| of.state() == state).map(|of| of.act());
                    steps.push(Kind::Open, state, time, all.inspect(|_| walk.opened += 1));
                }
                Step::Within(place) => {
                    let same = acts.same(place);
                    let state = same[0].1.state();
                    // The first one has already been taken.
                    for behind in 1..same.len() as u32 {
                        walk.take(Step::Within(place + behind), track);
                    }
                    let all = || same.iter().map(|(_, of)| of.act());
                    let is_ended = time > last && all().any(ends);
                    let waits = if is_ended { wait(time - last, state) } else { None };
                    steps.push(Kind::Within, state, time, waits.into_iter().chain(all()));
                }
                Step::Close(state) => {
                    let range = acts.closing_of(state, walk.closed as usize);
                    walk.closed = range.end as u32;
                    let all = || acts.closing[range.clone()].iter().map(|of| of.act());
                    let is_left = all().any(|act| matches!(act, Act::Leave(_)));
                    let is_ended = !is_left && all().any(ends);
                    let waits = if is_ended { wait(time - last, state) } else { None };
                    steps.push(Kind::Close, state, time, waits.into_iter().chain(all()));
                }
            }
            last = time;
        }
        times.shrink_to_fit();
        steps.shrink();
        (times, steps)
    }
}

fn slack_of(until: f64, arrival: f64) -> f64 {
    let slack = until - arrival;
    if slack <= TIME_TOLERANCE { 0.0 } else { slack }
}
