//! Cycles of containers that wait for one another.

use std::fmt;

use rustc_hash::FxHashSet;

use super::Run;
use super::groups::Groups;
use crate::graph::Graph;
use crate::walk::Act;

/// Messages and collectives for which nothing waits, because the recorded times contradict
/// themselves.
#[derive(Clone, Debug, Default)]
pub struct Dropped {
    messages: FxHashSet<u32>,
    /// Collectives, each identified by its first seat.
    operations: FxHashSet<u32>,
}

impl Dropped {
    /// Returns the number of messages and the number of collectives.
    #[must_use]
    pub fn count(&self) -> (usize, usize) {
        (self.messages.len(), self.operations.len())
    }

    pub(super) fn messages(&self) -> impl Iterator<Item = u32> + '_ {
        self.messages.iter().copied()
    }

    pub(super) fn has_message(&self, message: u32) -> bool {
        !self.messages.is_empty() && self.messages.contains(&message)
    }

    pub(super) fn has_operation(&self, first_seat: u32) -> bool {
        !self.operations.is_empty() && self.operations.contains(&first_seat)
    }
}

/// Containers that wait for one another in a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    links: Vec<Waiting>,
    descriptions: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    track: u32,
    act: Act,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.descriptions.join("; "))
    }
}

impl std::error::Error for Cycle {}

impl Run<'_> {
    /// Returns a cycle of waiting containers, or `None` if all containers have ended.
    pub(super) fn cycle(&self) -> Option<Cycle> {
        let first = self.cursors.iter().position(|cursor| cursor.is_blocked)?;
        let mut path: Vec<Waiting> = Vec::new();
        let mut at = first;
        loop {
            let (act, whom) = self.waits_for(at)?;
            if let Some(begin) = path.iter().position(|waiting| waiting.track as usize == at) {
                let links = path.split_off(begin);
                let descriptions = links.iter().map(|link| self.describe(*link)).collect();
                return Some(Cycle { links, descriptions });
            }
            path.push(Waiting { track: at as u32, act });
            at = whom;
        }
    }

    /// Returns the act in which a container waits, and the container for which it waits.
    fn waits_for(&self, at: usize) -> Option<(Act, usize)> {
        let cursor = &self.cursors[at];
        let step = self.graph.steps[at].get(cursor.next, cursor.acts)?;
        let act = step.acts.iter().find(|act| !self.is_ready(*act))?;
        let whom = match act {
            Act::Receive(_) | Act::Await(_) => {
                let message = self.message_of(act)?;
                let ends = &self.graph.messages.list()[message as usize];
                if self.in_flight.is_sent(message) { ends.to } else { ends.from }
            }
            Act::Leave(seat) => {
                let shaped = Groups::shaped(self.graph, seat);
                let series = &self.graph.collectives.series[shaped.series];
                let (_, member) = shaped.seat(seat);
                let missing = self.groups.missing(shaped, seat, member)?;
                self.graph.collectives.members(series)[missing as usize]
            }
            _ => return None,
        };
        Some((act, whom as usize))
    }

    fn message_of(&self, act: Act) -> Option<u32> {
        match act {
            Act::Receive(message) => Some(message),
            Act::Await(number) => Some(self.awaited(number).message),
            _ => None,
        }
    }

    fn describe(&self, waiting: Waiting) -> String {
        let graph: &Graph<'_> = self.graph;
        let name = graph.name(waiting.track);
        let whom = self.waits_for(waiting.track as usize).map_or(0, |(_, whom)| whom as u32);
        let whom = graph.name(whom);
        let track = &graph.tracks.list()[waiting.track as usize];
        let cursor = self.cursors[waiting.track as usize];
        let state = cursor.innermost().map(|state| track.value[state as usize]);
        let types = graph.tracks.trace().types();
        let call = state
            .map_or(String::new(), |value| format!(" in {}", types.value_name(track.type_, value)));
        let what = match waiting.act {
            Act::Receive(_) => format!("waits for a message from {whom}"),
            Act::Await(_) => format!("waits until {whom} receives its message"),
            _ => format!("waits for {whom} in a collective"),
        };
        format!("{name}{call} {what}, at {:.9} s of the recorded run", cursor.last)
    }

    /// Drops the message of a cycle that has the shortest transfer, or a collective if the cycle
    /// has no messages. Returns whether anything was dropped.
    pub(super) fn mend(&mut self, cycle: &Cycle) -> bool {
        let graph = self.graph;
        // Dropping a message changes less than dropping a collective.
        let seconds = |act: Act| match self.message_of(act) {
            Some(message) => graph.transfers[message as usize].seconds,
            None => f64::INFINITY,
        };
        let all = cycle.links.iter().min_by(|a, b| seconds(a.act).total_cmp(&seconds(b.act)));
        let Some(link) = all.copied() else { return false };
        let is_new = match link.act {
            Act::Receive(_) | Act::Await(_) => match self.message_of(link.act) {
                Some(message) => {
                    self.in_flight.drop(message);
                    self.dropped.messages.insert(message)
                }
                None => false,
            },
            Act::Leave(seat) => {
                let (_, member) = Groups::shaped(graph, seat).seat(seat);
                self.dropped.operations.insert(seat - member)
            }
            _ => false,
        };
        for track in 0..self.cursors.len() {
            self.wake(track);
        }
        is_new
    }
}
