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
use crate::transfers::{
    Assumed, FURTHEST, Least, MOMENT, Received, Transfer, Transfers, received, transfers,
};
use crate::walk::{Act, Acts, Of, Step, Walk};

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
            || Messages::by_receiver(&tracks, &settings.map, settings.bytes.as_deref()),
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
    /// By number of [`Act::Await`].
    pub(crate) awaited: Vec<Awaited>,
    /// By number of [`Act::Wait`]: how much longer a container was in a call than it has to be, by itself.
    pub(crate) waits: Vec<Vec<f64>>,
    least: Least,
}

/// A message that its sender waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Awaited {
    pub(crate) message: u32,
    /// Time from the arrival until the sender was free, in seconds.
    pub(crate) slack: f64,
}

impl<'t> Graph<'t> {
    /// Number of states, or of messages, that no graph can have.
    pub const MOST: u64 = 1 << Of::BITS;

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
            + 3 * size_of::<Of>();
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
            awaited: Vec::new(),
            waits: Vec::new(),
            least,
        };
        let linked = graph.add_messages(received);
        let in_link = |track: usize, state: u32| linked[track].binary_search(&state).is_ok();
        graph.shapes = shapes(&graph.tracks, &graph.collectives, &in_link, settings);
        graph.add_operations();
        graph.acts.par_iter_mut().for_each(Acts::sort);
        graph.add_frees();
        graph.acts.par_iter_mut().for_each(Acts::sort);
        let mut acts = std::mem::take(&mut graph.acts);
        let waits = acts.par_iter_mut().enumerate().map(|(track, acts)| {
            let (mut times, closing, within) = graph.waits_of(track, acts);
            acts.add(closing, within);
            acts.finish();
            times.shrink_to_fit();
            times
        });
        graph.waits = waits.collect();
        graph.acts = acts;
        graph
    }

    /// The same, but that transfers of so many bytes or more are a rendezvous, and no others.
    #[must_use]
    pub fn with_eager(mut self, eager: f64) -> Self {
        let count = self.tracks.list().len();
        let all = (0..count).into_par_iter();
        let all: Vec<_> = all.map(|at| received(&self.tracks, &self.messages, at)).collect();
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
                    self.acts[to].opening.push(Of::new(post, Act::Post(number)));
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
                let later = (send + 1..track.len()).take(FURTHEST);
                let mut waits = later.filter(|s| self.tracks.class(from, *s) == Class::Wait);
                let free = if is_begun { waits.next() } else { Some(send) };
                if let Some(free) = free {
                    let slack = (track.end[free] - self.transfers[at].arrival()).min(0.0);
                    let act = Act::Await(self.awaited.len() as u32);
                    self.acts[from].closing.push(Of::new(free as u32, act));
                    self.awaited.push(Awaited { message: number, slack });
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
            let (start, of) = (list[*number as usize].start, Of::new(send, Act::Send(*number)));
            if start <= track.start[send as usize] {
                acts.opening.push(of);
            } else {
                acts.within.push((start, of));
            }
        }
        for it in received.iter().filter(|it| it.is_used) {
            let Received { message, recv, post, end, posted, .. } = *it;
            linked.extend(Some(recv).filter(|recv| is_group(*recv)));
            // In an operation of a group, what is sent at its end comes behind what is received there.
            if end >= track.end[recv as usize] && !is_group(recv) {
                acts.closing.push(Of::new(recv, Act::Receive(message)));
            } else {
                acts.within.push((end, Of::new(recv, Act::Receive(message))));
            }
            if posted <= track.start[post as usize] {
                acts.opening.push(Of::new(post, Act::Post(message)));
            } else if !posted.is_nan() {
                acts.within.push((posted, Of::new(post, Act::Post(message))));
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
                    self.acts[*track as usize].opening.push(Of::new(*state, Act::Enter(seat)));
                    self.acts[*track as usize].closing.push(Of::new(*state, Act::Leave(seat)));
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
            let act = Act::Await(self.awaited.len() as u32);
            let mut wait_for = |slack| self.awaited.push(Awaited { message: at as u32, slack });
            if track.end[send] >= arrival - MOMENT && track.end[send] > message.start {
                // The next message sent in the same call had to wait.
                let acts = &mut self.acts[from];
                let next = acts.within.partition_point(|(time, ..)| *time < arrival - MOMENT);
                let next = acts.within[next..].iter();
                let mut next = next.take_while(|(time, ..)| *time <= track.end[send]);
                let next = next.find(|(time, of)| {
                    let is_sent = of.state() == send as u32 && matches!(of.act(), Act::Send(_));
                    is_sent && *time > message.start
                });
                let until = match next.copied() {
                    Some((time, ..)) => {
                        within[from].push((time, Of::new(send as u32, act)));
                        time
                    }
                    None => {
                        acts.closing.push(Of::new(send as u32, act));
                        track.end[send]
                    }
                };
                wait_for(slack_of(until, arrival));
                continue;
            }
            let later = (send + 1..track.len()).take(FURTHEST);
            let mut waits = later.filter(|state| self.tracks.class(from, *state) == Class::Wait);
            if let Some(wait) = waits.find(|state| track.end[*state] >= arrival - MOMENT) {
                self.acts[from].closing.push(Of::new(wait as u32, act));
                wait_for(slack_of(track.end[wait], arrival));
            }
        }
        for (acts, within) in self.acts.iter_mut().zip(within) {
            acts.within.extend(within);
        }
    }

    /// Excess times of a container in calls that wait, in seconds, where something else ended the waiting.
    fn waits_of(&self, at: usize, acts: &Acts) -> (Vec<f64>, Vec<Of>, Vec<(f64, Of)>) {
        let track = &self.tracks.list()[at];
        let (mut times, mut closing, mut within) = (Vec::new(), Vec::new(), Vec::new());
        let mut walk = Walk::new();
        let last = Cell::new(f64::INFINITY);
        // True if the act ended the waiting at this time.
        let ends = |act: Act| match act {
            Act::Receive(message) => {
                let transfer = &self.transfers[message as usize];
                transfer.is_awaited && transfer.slack <= MOMENT
            }
            Act::Await(number) => self.awaited[number as usize].slack <= MOMENT,
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
                    let same = acts.same(place);
                    let state = same[0].1.state();
                    if time > last.get() && same.iter().any(|(_, of)| ends(of.act())) {
                        within.push((time, Of::new(state, wait(time, state))));
                    }
                }
                Step::Close(state) => {
                    let range = acts.closing_of(state, walk.closed as usize);
                    walk.closed = range.end as u32;
                    let acts = &acts.closing[range];
                    let leaves = |of: &Of| matches!(of.act(), Act::Leave(_));
                    if acts.iter().any(|of| ends(of.act())) && !acts.iter().any(leaves) {
                        closing.push(Of::new(state, wait(time, state)));
                    }
                }
            }
            last.set(time);
            walk.take(step, track);
        }
        (times, closing, within)
    }
}

/// Time from the arrival of what a sender sent until the sender goes on, in seconds.
fn slack_of(until: f64, arrival: f64) -> f64 {
    let slack = until - arrival;
    if slack <= MOMENT { 0.0 } else { slack }
}
