//! Cycles of containers that wait for one another.

use std::fmt;

use paje_comm::Act;

use super::{NONE, Run};

/// Containers that wait for one another in a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    links: Vec<(u32, Act)>,
    descriptions: Vec<String>,
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
        let mut at = self.cursors.iter().position(|cursor| cursor.is_blocked)? as u32;
        let mut path: Vec<(u32, Act)> = Vec::new();
        loop {
            let (act, whom) = self.waits_for(at)?;
            if let Some(begin) = path.iter().position(|(track, _)| *track == at) {
                let links = path.split_off(begin);
                let descriptions = links.iter().map(|(at, act)| self.describe(*at, *act));
                return Some(Cycle { descriptions: descriptions.collect(), links });
            }
            path.push((at, act));
            at = whom;
        }
    }

    /// Returns the act in which a container waits, and the container for which it waits.
    fn waits_for(&self, at: u32) -> Option<(Act, u32)> {
        let cursor = &self.cursors[at as usize];
        let step = self.graph.run.steps[at as usize].get(cursor.next, cursor.acts)?;
        let is_missing = |act: &Act| match act {
            Act::Receive(message) => self.traffic.arrived[*message as usize].is_nan(),
            Act::Complete(message) => {
                self.traffic.is_rendezvous(*message)
                    && self.traffic.arrived[*message as usize].is_nan()
            }
            Act::Leave(seat) => self.traffic.done[*seat as usize].is_nan(),
            _ => false,
        };
        let act = step.acts.iter().find(is_missing)?;
        let whom = match act {
            Act::Receive(message) | Act::Complete(message) => {
                let ends = &self.graph.messages().list()[message as usize];
                if self.traffic.sent[message as usize].is_nan() { ends.from } else { ends.to }
            }
            Act::Leave(seat) => self.traffic.absent(seat).unwrap_or(at),
            _ => return None,
        };
        Some((act, whom))
    }

    fn describe(&self, at: u32, act: Act) -> String {
        let graph = self.graph;
        let whom = graph.run.name(self.waits_for(at).map_or(at, |(_, whom)| whom));
        let (track, cursor) = (&graph.tracks().list()[at as usize], self.cursors[at as usize]);
        let trace = graph.tracks().trace();
        let types = trace.types();
        let call = match cursor.open {
            NONE => String::new(),
            open => {
                format!(" in {}", types.value_name(track.type_, track.value[open as usize]))
            }
        };
        let what = match act {
            Act::Receive(_) => format!("waits for a message from {whom}"),
            Act::Complete(_) => format!("waits until {whom} receives its message"),
            _ => format!("waits for {whom} in a collective"),
        };
        let (name, last) = (graph.run.name(at), trace.time_scale().seconds(cursor.last));
        format!("{name}{call} {what}, at {last:.9} s of the recorded run")
    }

    /// Removes all waits for one message or collective of the cycle. Returns whether the cycle has
    /// such a wait.
    pub(super) fn mend(&mut self, cycle: &Cycle) -> bool {
        // Dropping a message changes less than dropping a collective.
        let is_group = |(_, act): &&(u32, Act)| matches!(act, Act::Leave(_));
        let Some((at, act)) = cycle.links.iter().min_by_key(is_group).copied() else {
            return false;
        };
        match act {
            Act::Receive(message) | Act::Complete(message) => {
                let ends = &self.graph.messages().list()[message as usize];
                self.traffic.arrived[message as usize] = f64::NEG_INFINITY;
                self.traffic.woken.extend([ends.from, ends.to]);
                self.result.dropped.0 += 1;
            }
            Act::Leave(seat) => {
                self.traffic.done[seat as usize] = f64::NEG_INFINITY;
                self.traffic.woken.push(at);
                self.result.dropped.1 += 1;
            }
            _ => return false,
        }
        self.wake();
        true
    }
}
