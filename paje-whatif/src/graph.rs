//! The graph of a run: what each container does, in order, and what it waits for.
//!
//! It is kept as arrays of numbers: the times of the states, what is known of each message, and for each container which
//! of these come where.

use std::cell::Cell;
use std::sync::Arc;

use paje_analysis::classes::{Class, Classes};
use paje_analysis::collectives::Collectives;
use paje_analysis::messages::{Message, Messages};
use paje_analysis::tracks::Tracks;
use paje_sim::Trace;
use rayon::prelude::*;

use crate::settings::{EagerStart, Settings};
use crate::shapes::{Shaped, shapes};
use crate::transfers::{Assumed, Least, MOMENT, NONE, Received, Transfer, Transfers, transfers};
use crate::walk::{Act, Acts, Step, Walk};

/// Facts that a trace tells of a run: who did what, and between whom.
#[derive(Clone, Debug)]
pub struct Told<'t> {
    /// The states.
    pub tracks: Arc<Tracks<'t>>,
    /// The messages.
    pub messages: Arc<Messages>,
    /// The operations of groups.
    pub collectives: Arc<Collectives>,
}

impl<'t> Told<'t> {
    /// Those of a trace that was replayed.
    #[must_use]
    pub fn new(trace: &'t Trace, settings: &Settings) -> Self {
        let tracks = Tracks::new(trace, Classes::new(trace, &settings.map));
        let (messages, collectives) = rayon::join(
            || Messages::new(&tracks, &settings.map, settings.bytes.as_deref()),
            || Collectives::new(&tracks, &settings.grouping),
        );
        Told {
            tracks: Arc::new(tracks),
            messages: Arc::new(messages),
            collectives: Arc::new(collectives),
        }
    }
}

/// The graph of a run.
#[derive(Clone, Debug)]
pub struct Graph<'t> {
    /// The states.
    pub tracks: Arc<Tracks<'t>>,
    /// The messages.
    pub messages: Arc<Messages>,
    /// Transfers of these messages, in the same order.
    pub transfers: Vec<Transfer>,
    /// Assumptions about them.
    pub assumed: Assumed,
    /// The operations of groups.
    pub collectives: Arc<Collectives>,
    /// Who waits for whom in those, series by series.
    pub shapes: Vec<Shaped>,
    /// By track.
    pub(crate) acts: Vec<Acts>,
    /// By number of [`Act::Wait`]: how much longer a container was in a call than it has to be, by itself.
    pub(crate) waits: Vec<Vec<f64>>,
    least: Least,
}

impl<'t> Graph<'t> {
    /// The graph of a trace that was replayed.
    #[must_use]
    pub fn new(trace: &'t Trace, settings: &Settings) -> Self {
        Graph::of(Told::new(trace, settings), settings)
    }

    /// About how many bytes of memory the graph of a trace takes, beside the trace: what is kept of each state and each
    /// message, if all of them count.
    #[must_use]
    pub fn bytes(trace: &Trace) -> u64 {
        // The message and its places in two lists, its transfer and where that comes from, and three acts.
        const MESSAGE: usize = size_of::<Message>()
            + 2 * size_of::<u32>()
            + size_of::<Transfer>()
            + size_of::<Received>()
            + 3 * size_of::<(u32, Act)>();
        let counts = trace.counts();
        counts.states * Tracks::STATE as u64 + counts.links * MESSAGE as u64
    }

    /// The graph of what a trace tells.
    #[must_use]
    pub fn of(told: Told<'t>, settings: &Settings) -> Self {
        let Told { tracks, messages, collectives } = told;
        let Transfers { list, assumed, least, received } = transfers(&tracks, &messages, settings);
        let mut graph = Graph {
            tracks,
            messages,
            transfers: list,
            assumed,
            collectives,
            shapes: Vec::new(),
            acts: Vec::new(),
            waits: Vec::new(),
            least,
        };
        let count = graph.tracks.list().len();
        let linked = graph.add_messages(received);
        let in_link = |track: usize, state: u32| linked[track].binary_search(&state).is_ok();
        graph.shapes = shapes(&graph.tracks, &graph.collectives, &in_link, settings);
        graph.add_operations();
        graph.acts.par_iter_mut().for_each(Acts::sort);
        graph.add_frees();
        graph.acts.par_iter_mut().for_each(Acts::sort);
        let waits: Vec<_> = (0..count).into_par_iter().map(|track| graph.waits_of(track)).collect();
        for (track, (times, closing, within)) in waits.into_iter().enumerate() {
            graph.waits.push(times);
            graph.acts[track].closing.extend(closing);
            graph.acts[track].within.extend(within);
        }
        graph.acts.par_iter_mut().for_each(Acts::finish);
        graph
    }

    /// The same, but that transfers of so many bytes or more are a rendezvous, and no others.
    #[must_use]
    pub fn with_eager(mut self, eager: f64) -> Self {
        for at in 0..self.transfers.len() {
            let (message, transfer) = (self.messages.list()[at], self.transfers[at]);
            let (Some(bytes), Some(send)) = (message.bytes, message.send()) else { continue };
            let is_rendezvous = bytes >= eager;
            if !transfer.is_used() || is_rendezvous == transfer.is_rendezvous {
                continue;
            }
            let waits_for_post = is_rendezvous || self.assumed.start == EagerStart::Posted;
            let (from, to) = (message.from as usize, message.to as usize);
            let number = at as u32;
            let post = Some(transfer.post).filter(|post| *post != NONE && waits_for_post);
            if let Some(post) = post {
                let posted = self.tracks.list()[to].start[post as usize].min(message.end);
                if transfer.posted.is_nan() {
                    self.acts[to].opening.push((post, Act::Post(number)));
                }
                self.transfers[at].posted = posted;
                self.transfers[at].start = message.start.max(posted);
            }
            if !waits_for_post {
                (self.transfers[at].posted, self.transfers[at].start) = (f64::NAN, message.start);
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
                let later = (send + 1..track.len()).take(FURTHEST);
                let mut waits = later.filter(|s| self.tracks.class(from, *s) == Class::Wait);
                let free = if is_begun { waits.next() } else { Some(send) };
                if let Some(free) = free {
                    self.acts[from].closing.push((free as u32, Act::Await(number)));
                    self.transfers[at].free_slack =
                        (track.end[free] - self.transfers[at].arrival()).min(0.0);
                }
            }
        }
        self.acts.par_iter_mut().for_each(Acts::sort);
        self
    }

    /// Facts that the trace tells of the run, shared with the graph.
    #[must_use]
    pub fn told(&self) -> Told<'t> {
        Told {
            tracks: Arc::clone(&self.tracks),
            messages: Arc::clone(&self.messages),
            collectives: Arc::clone(&self.collectives),
        }
    }

    /// When the first state was entered and the last one left, in seconds; `None` if there are no states.
    #[must_use]
    pub fn span(&self) -> Option<(f64, f64)> {
        self.tracks.span()
    }

    /// The name of a track's container.
    #[must_use]
    pub fn name(&self, track: u32) -> String {
        let container = self.tracks.list()[track as usize].container;
        self.tracks.trace().containers().name(container).to_string()
    }

    /// Puts the messages where they start and end; returns, by track, the states of operations of groups that have any.
    fn add_messages(&mut self, received: Vec<Vec<Received>>) -> Vec<Vec<u32>> {
        let all = received.into_par_iter().enumerate();
        let found: Vec<_> = all.map(|(track, all)| self.messages_of(track, &all)).collect();
        let (acts, linked) = found.into_iter().unzip();
        self.acts = acts;
        linked
    }

    /// Those that a track sends, and those that it receives: each mostly in the order of its states, so that little is
    /// left to sort.
    fn messages_of(&self, at: usize, received: &[Received]) -> (Acts, Vec<u32>) {
        let (mut acts, mut linked) = (Acts::default(), Vec::new());
        let (track, list) = (&self.tracks.list()[at], self.messages.list());
        let is_group =
            |state: u32| matches!(self.tracks.class(at, state as usize), Class::Collective(_));
        for number in self.messages.sent(at) {
            let send = list[*number as usize].send().map(|send| send as u32);
            let transfer = &self.transfers[*number as usize];
            let Some(send) = send.filter(|_| transfer.is_used()) else { continue };
            linked.extend(Some(send).filter(|send| is_group(*send)));
            let start = transfer.sent;
            if start <= track.start[send as usize] {
                acts.opening.push((send, Act::Send(*number)));
            } else {
                acts.within.push((start, send, Act::Send(*number)));
            }
        }
        for Received { message, recv, post, end, .. } in received.iter().copied() {
            let transfer = &self.transfers[message as usize];
            if !transfer.is_used() {
                continue;
            }
            linked.extend(Some(recv).filter(|recv| is_group(*recv)));
            // In an operation of a group, what is sent at its end comes behind what is received there.
            if end >= track.end[recv as usize] && !is_group(recv) {
                acts.closing.push((recv, Act::Receive(message)));
            } else {
                acts.within.push((end, recv, Act::Receive(message)));
            }
            let posted = transfer.posted;
            if posted <= track.start[post as usize] {
                acts.opening.push((post, Act::Post(message)));
            } else if !posted.is_nan() {
                acts.within.push((posted, post, Act::Post(message)));
            }
        }
        linked.sort_unstable();
        linked.dedup();
        (acts, linked)
    }

    /// Puts the operations of groups where they are entered and left.
    fn add_operations(&mut self) {
        for shaped in &self.shapes {
            if shaped.has_links || shaped.shape == crate::Shape::Local {
                continue;
            }
            let series = &self.collectives.series[shaped.series];
            let group = self.collectives.members(series);
            let mut seat = shaped.first_seat;
            for instance in 0..series.len() {
                for (track, state) in group.iter().zip(series.operation(instance)) {
                    self.acts[*track as usize].opening.push((*state, Act::Enter(seat)));
                    self.acts[*track as usize].closing.push((*state, Act::Leave(seat)));
                    seat += 1;
                }
            }
        }
    }

    /// Puts what a rendezvous makes its sender wait for where it does: at the end of the call that sends, or of one
    /// that waits.
    fn add_frees(&mut self) {
        let mut within = vec![Vec::new(); self.acts.len()];
        for at in 0..self.transfers.len() {
            let transfer = self.transfers[at];
            if !transfer.is_used() || !transfer.is_rendezvous {
                continue;
            }
            let message = self.messages.list()[at];
            let (from, arrival) = (message.from as usize, transfer.arrival());
            let Some(send) = message.send() else { continue };
            let track = &self.tracks.list()[from];
            let number = at as u32;
            if track.end[send] >= arrival - MOMENT && track.end[send] > message.start {
                // The next message sent in the same call had to wait.
                let acts = &mut self.acts[from];
                let next = acts.within.partition_point(|(time, ..)| *time < arrival - MOMENT);
                let next = acts.within[next..].iter();
                let mut next = next.take_while(|(time, ..)| *time <= track.end[send]);
                let next = next.find(|(time, state, act)| {
                    *state == send as u32 && *time > message.start && matches!(act, Act::Send(_))
                });
                let until = match next.copied() {
                    Some((time, ..)) => {
                        within[from].push((time, send as u32, Act::Await(number)));
                        time
                    }
                    None => {
                        acts.closing.push((send as u32, Act::Await(number)));
                        track.end[send]
                    }
                };
                self.transfers[at].free_slack = slack_of(until, arrival);
                continue;
            }
            let later = (send + 1..track.len()).take(FURTHEST);
            let mut waits = later.filter(|state| self.tracks.class(from, *state) == Class::Wait);
            if let Some(wait) = waits.find(|state| track.end[*state] >= arrival - MOMENT) {
                self.acts[from].closing.push((wait as u32, Act::Await(number)));
                self.transfers[at].free_slack = slack_of(track.end[wait], arrival);
            }
        }
        for (acts, within) in self.acts.iter_mut().zip(within) {
            acts.within.extend(within);
        }
    }

    /// Excess times of a container in calls that wait, in seconds, where something else ended the waiting.
    #[allow(clippy::type_complexity)]
    fn waits_of(&self, at: usize) -> (Vec<f64>, Vec<(u32, Act)>, Vec<(f64, u32, Act)>) {
        let (track, acts) = (&self.tracks.list()[at], &self.acts[at]);
        let (mut times, mut closing, mut within) = (Vec::new(), Vec::new(), Vec::new());
        let mut walk = Walk::new();
        let last = Cell::new(f64::INFINITY);
        // True if the act ended the waiting at this time.
        let ends = |act: Act| match act {
            Act::Receive(message) => {
                let transfer = &self.transfers[message as usize];
                transfer.is_awaited && transfer.slack <= MOMENT
            }
            Act::Await(message) => self.transfers[message as usize].free_slack <= MOMENT,
            _ => false,
        };
        let mut wait = |time: f64, state: u32| {
            let least = self.least.get(&(track.type_.0, track.value[state as usize].0));
            times.push((time - last.get() - least.copied().unwrap_or(0.0)).max(0.0));
            Act::Wait(times.len() as u32 - 1)
        };
        loop {
            let (step, time) = walk.peek(track, acts);
            match step {
                Step::End => break,
                Step::Open(_) => {}
                Step::Within(place) => {
                    let (time, state, _) = acts.within[place as usize];
                    let same = acts.within[place as usize..].iter();
                    let mut same = same.take_while(|(at, of, _)| (*at, *of) == (time, state));
                    if time > last.get() && same.any(|(.., act)| ends(*act)) {
                        within.push((time, state, wait(time, state)));
                    }
                }
                Step::Close(state) => {
                    let range = acts.closing_of(state, walk.closed as usize);
                    walk.closed = range.end as u32;
                    let leaves = |(_, act): &(u32, Act)| matches!(act, Act::Leave(_));
                    let acts = &acts.closing[range];
                    if acts.iter().any(|(_, act)| ends(*act)) && !acts.iter().any(leaves) {
                        closing.push((state, wait(time, state)));
                    }
                }
            }
            last.set(time);
            walk.take(step, track);
        }
        (times, closing, within)
    }
}

/// Within how many states after one that sends the one is that waits for it.
const FURTHEST: usize = 10_000;

/// Time from the arrival of what a sender sent until the sender goes on, in seconds.
fn slack_of(until: f64, arrival: f64) -> f64 {
    let slack = until - arrival;
    if slack <= MOMENT { 0.0 } else { slack }
}
