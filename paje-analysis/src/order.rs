//! The happened-before order of message passing.
//!
//! The ends of messages and the collectives of a track form *steps*. All ends in one state (a call)
//! form one step, and an end without a state is a separate step. A step begins when the preceding
//! step of its track is complete. It is complete when the messages that it receives have been sent.
//! The receives of a step do not delay the sends of the same step. Collectives delay their members
//! according to their class. The sender of a rendezvous waits for the receiver.
//!
//! A step is *known* to another step if it is complete when the other step begins. The known steps
//! of a track are always a prefix of the track's steps. [`Order::known`] returns the length of this
//! prefix, which is one component of a vector clock.
//!
//! # Cost
//! For n ends of messages and members of collectives, building the index takes time O(n log n),
//! because nearly sorted times are sorted. The index takes about 40 · n bytes. Queries are answered
//! in batches. For every [`LANES`] tracks in the queries, there is one sweep through all steps.
//! Sweeps run in parallel and take time O(n · ⌈tracks/32⌉) in total. A sweep reads memory
//! sequentially. It needs 4 bytes per step, and 128 bytes per distinct clock of the messages in
//! flight.

mod posts;
mod schedule;
mod sequence;
mod steps;
mod sweep;

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use paje_comm::Facts;

use schedule::Schedule;

pub use posts::posts;
pub use sweep::LANES;

/// Happened-before order of steps.
#[derive(Clone, Debug, Default)]
pub struct Order {
    tracks: usize,
    /// First step of each line, then the total number of steps. The first lines are the tracks, the
    /// others are the collectives.
    first: Vec<u32>,
    time: Vec<f64>,
    /// Edges, which are used only in an unordered run.
    edges: Edges,
    send: Vec<Step>,
    recv: Vec<Step>,
    /// Schedule. Empty if the run is unordered.
    schedule: Schedule,
    operations: Vec<Operation>,
    left_out: u64,
}

#[derive(Clone, Debug, Default)]
struct Edges {
    /// First edge of each step.
    first: Vec<u32>,
    /// For each edge, the step that causes the delay. The delay ends when that step begins or, with
    /// [`TAKEN`], when its messages are taken.
    from: Vec<u32>,
}

impl Edges {
    fn to(&self, step: usize) -> Range<usize> {
        self.first[step] as usize..self.first[step + 1] as usize
    }
}

/// Number of a step. Steps are numbered consecutively through all tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step(u32);

/// A collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Index in [`Collectives::series`](paje_comm::collectives::Collectives::series).
    pub series: usize,
    /// Index in the series.
    pub instance: usize,
    /// Line of the operation, or [`NONE`] if its members do not wait for others to enter.
    line: u32,
}

const NONE: u32 = u32::MAX;

/// Flag of an edge whose delay ends when the messages of its step are taken.
const TAKEN: u32 = 1 << 31;

/// Messages that delay their senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rendezvous<'a> {
    /// No messages.
    No,
    /// Messages marked `true`. The sender is delayed until the receiving step begins and takes the
    /// message.
    Taken(&'a [bool]),
    /// Messages for which this has a step, as computed by [`posts()`]. The sender is delayed until
    /// this step begins. Only for [`Order::circles`].
    Posted(&'a [Option<Step>]),
}

/// Query: how many steps of a track are known to a step?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Step that may know steps of the track.
    pub step: Step,
    /// Track whose steps may be known.
    pub track: u32,
}

impl Order {
    /// Orders the steps of the tracks.
    ///
    /// A trace may contradict itself, for example if clocks differ. Edges that would block a track
    /// forever are [left out](Order::left_out), starting with the first track that is stuck.
    #[must_use]
    pub fn new(facts: &Facts<'_>, rendezvous: Rendezvous<'_>) -> Self {
        let mut order = steps::of(facts, rendezvous);
        order.left_out = sequence::find(&mut order);
        order
    }

    /// Collects the steps without ordering them, for [`Order::circles`].
    #[must_use]
    pub fn unordered(facts: &Facts<'_>, rendezvous: Rendezvous<'_>) -> Self {
        steps::of(facts, rendezvous)
    }

    /// Returns the number of delays by messages and collectives that were left out because the
    /// trace contradicts itself.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the step that sends a message.
    #[must_use]
    pub fn send(&self, message: usize) -> Step {
        self.send[message]
    }

    /// Returns the step that receives a message.
    #[must_use]
    pub fn recv(&self, message: usize) -> Step {
        self.recv[message]
    }

    /// Returns the track of a step and its index in the track.
    #[must_use]
    pub fn place(&self, step: Step) -> (usize, u32) {
        let track = self.first.partition_point(|first| *first <= step.0) - 1;
        (track, step.0 - self.first[track])
    }

    /// Returns the index of a step in its track, which must be `track`.
    #[must_use]
    pub fn index(&self, track: usize, step: Step) -> u32 {
        step.0 - self.first[track]
    }

    /// Returns the number of steps of a track.
    pub(crate) fn len(&self, track: usize) -> u32 {
        self.first[track + 1] - self.first[track]
    }

    /// Returns the first step of a track at or after `time`, in seconds.
    pub(crate) fn at(&self, track: usize, time: f64) -> Option<Step> {
        let (first, end) = (self.first[track] as usize, self.first[track + 1] as usize);
        let step = first + self.time[first..end].partition_point(|at| *at < time);
        (step < end).then_some(Step(step as u32))
    }

    /// Returns the collectives that block any member.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }
}

/// Part of a run. Everything before it is known to everything in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    range: Range<usize>,
    /// Current step of each line at the start and at the end of the range.
    begin: Arc<[u32]>,
    end: Arc<[u32]>,
}

impl Stretch {
    /// Returns the steps of a track that begin in the stretch.
    #[must_use]
    pub fn steps(&self, track: usize) -> RangeInclusive<Step> {
        Step(self.begin[track])..=Step(self.end[track])
    }
}
