//! Happened-before order, where messages are passed: an index of reachability.
//!
//! The ends of messages and the operations of groups make *steps* of a track: what is in one state (a call) is one
//! step, and what has no state is a step of its own. A step begins when the one before it is complete, and is
//! complete when its messages have been sent: sends are not kept back by what their own step receives. Operations
//! of groups keep their members back as their class says; the sender of a rendezvous waits for the receiver.
//!
//! A step is *known* to another if it is complete when the other begins. Of a track, these are always the first so
//! many, which is all that [`Order::known`] tells: a component of a vector clock.
//!
//! # Cost
//! For n ends of messages and members of operations, the index is made in n log n (sorting by time, which they nearly
//! are) and takes about 40 bytes for each. Questions are answered together, in a sweep through all steps for each
//! [`LANES`] tracks that are asked about, side by side: n · ⌈tracks/32⌉ in all. What a sweep reads lies in the order in which
//! it reads it. It holds 4 bytes for each step and 128 for each different clock whose messages are on their way; who
//! knows nothing of the 32 tracks has no clock.

mod posts;
mod schedule;
mod sequence;
mod steps;
mod sweep;

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use crate::collectives::Collectives;
use crate::messages::Messages;
use crate::tracks::Tracks;
use schedule::Schedule;

pub use posts::posts;
pub use sweep::LANES;

/// Happened-before order of steps.
#[derive(Clone, Debug, Default)]
pub struct Order {
    tracks: usize,
    /// First step of each line, and the total: lines are the tracks, then those of operations.
    first: Vec<u32>,
    /// By step of a track, in seconds.
    time: Vec<f64>,
    /// Only in an unordered run.
    edges: Edges,
    /// By message.
    send: Vec<Step>,
    recv: Vec<Step>,
    /// Empty in an unordered run.
    schedule: Schedule,
    operations: Vec<Operation>,
    left_out: u64,
}

#[derive(Clone, Debug, Default)]
struct Edges {
    /// First edge of each step.
    first: Vec<u32>,
    /// Steps that delay each step: until they begin, or, with [`TAKEN`], until their messages are taken.
    from: Vec<u32>,
}

impl Edges {
    /// Returns the edges that delay a step.
    fn to(&self, step: usize) -> Range<usize> {
        self.first[step] as usize..self.first[step + 1] as usize
    }
}

/// A step: a number that counts through the steps of all tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step(u32);

/// An operation of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its place among [`Collectives::series`].
    pub series: usize,
    /// Its number in the series, from 0.
    pub instance: usize,
    /// Its line, if all members, or all before each, have to enter first.
    line: u32,
}

const NONE: u32 = u32::MAX;

/// Marks an edge that also waits for the messages of its step.
const TAKEN: u32 = 1 << 31;

/// Messages that keep their senders back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rendezvous<'a> {
    /// None.
    No,
    /// Those with `true`, until the receiving step begins and takes them.
    Taken(&'a [bool]),
    /// Those with a step here, until it begins; see [`posts`]. For [`Order::circles`] only.
    Posted(&'a [Option<Step>]),
}

/// A question: how many steps of a track are known to a step?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The step that may know something.
    pub step: Step,
    /// The track that it may know something of.
    pub track: u32,
}

impl Order {
    /// Orders the steps of the tracks.
    ///
    /// A trace may contradict itself, for example by clocks that differ. What would block steps for ever is [left
    /// out](Order::left_out) where the first track is stuck.
    #[must_use]
    pub fn new(
        tracks: &Tracks<'_>,
        messages: &Messages,
        collectives: &Collectives,
        rendezvous: Rendezvous<'_>,
    ) -> Self {
        let mut order = steps::of(tracks, messages, collectives, rendezvous);
        order.left_out = sequence::find(&mut order);
        order
    }

    /// Collects the steps without ordering them, for [`Order::circles`].
    #[must_use]
    pub fn unordered(
        tracks: &Tracks<'_>,
        messages: &Messages,
        collectives: &Collectives,
        rendezvous: Rendezvous<'_>,
    ) -> Self {
        steps::of(tracks, messages, collectives, rendezvous)
    }

    /// Returns cycles of steps that block one another for ever, a sender among them: a step of each track, where the
    /// first waits for the second, and so on, and the last for the first. Each cycle found is broken at its first
    /// step. At most `limit` are returned, with the number of all.
    #[must_use]
    pub fn circles(&self, limit: usize) -> (Vec<Vec<Step>>, u64) {
        sequence::circles(self, limit)
    }

    /// Returns the number of messages and members of operations that are ignored since the trace contradicts itself.
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

    /// Returns the track of a step, and the number of its steps before.
    #[must_use]
    pub fn place(&self, step: Step) -> (usize, u32) {
        let track = self.first.partition_point(|first| *first <= step.0) - 1;
        (track, step.0 - self.first[track])
    }

    /// Number of steps that are before a step in its track, which is this.
    #[must_use]
    pub fn index(&self, track: usize, step: Step) -> u32 {
        step.0 - self.first[track]
    }

    /// Number of steps of a track.
    #[must_use]
    pub fn len(&self, track: usize) -> u32 {
        self.first[track + 1] - self.first[track]
    }

    /// Whether there are no steps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }

    /// Returns the first step of a track at `time` or later, in seconds.
    #[must_use]
    pub fn at(&self, track: usize, time: f64) -> Option<Step> {
        let (first, end) = (self.first[track] as usize, self.first[track + 1] as usize);
        let step = first + self.time[first..end].partition_point(|at| *at < time);
        (step < end).then_some(Step(step as u32))
    }

    /// Returns the time of a step, in seconds.
    #[must_use]
    pub fn time(&self, step: Step) -> f64 {
        self.time[step.0 as usize]
    }

    /// Returns the operations that block anybody.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Number of steps of each question's track that are complete when its step begins.
    #[must_use]
    pub fn known(&self, questions: &[Question]) -> Vec<u32> {
        sweep::all(self, questions)
    }

    /// Answers the same as if operation `skipped` (an index in [`Order::operations`]) blocked nobody, for steps of
    /// the stretch around it.
    #[must_use]
    pub fn known_without(
        &self,
        skipped: usize,
        stretch: &Stretch,
        questions: &[Question],
    ) -> Vec<u32> {
        sweep::without(self, self.operations[skipped].line, stretch, questions)
    }

    /// Returns the part of the run that each operation can make a difference to.
    ///
    /// It is between the operations before and after it that all tracks with steps take part in and that all enter
    /// before anybody leaves: everything before such an operation is known to everything after it.
    #[must_use]
    pub fn stretches(&self) -> Vec<Stretch> {
        sequence::stretches(self)
    }
}

/// A part of a run. All before it are known to all in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Range in the sequence.
    range: Range<usize>,
    /// By line, the current step at the begin and at the end.
    begin: Arc<[u32]>,
    end: Arc<[u32]>,
}

impl Stretch {
    /// Returns the steps of a track that begin in it.
    #[must_use]
    pub fn steps(&self, track: usize) -> RangeInclusive<Step> {
        Step(self.begin[track])..=Step(self.end[track])
    }
}
