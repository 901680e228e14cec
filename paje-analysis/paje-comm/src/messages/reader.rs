//! Reads messages from lanes.

use std::convert::Infallible;

use paje_sim::{LaneView, Links, Side as Opens, Trace, Visitor};

use super::{Message, Messages, NONE, amount};
use crate::recorded::number;
use crate::tracks::Tracks;

/// User-defined field with the request of a nonblocking call.
pub(super) const REQUEST: &str = "Request";

pub(super) struct Reader<'a> {
    pub(super) tracks: &'a Tracks<'a>,
    pub(super) field: Option<&'a str>,
    pub(super) messages: Messages,
    /// For each receiving track, the index of its next message. `None` if the messages stay in the
    /// order of the links.
    pub(super) next: Option<Vec<u32>>,
    pub(super) row: u64,
}

impl Reader<'_> {
    /// Adds a message, and returns its index.
    #[inline]
    pub(super) fn add(&mut self, message: Message) -> usize {
        let Some(next) = &mut self.next else {
            self.messages.list.push(message);
            return self.messages.list.len() - 1;
        };
        let next = &mut next[message.to as usize];
        let place = *next as usize;
        self.messages.list[place] = message;
        *next += 1;
        place
    }
}

impl Visitor for Reader<'_> {
    type Error = Infallible;

    fn links(&mut self, lane: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        let track = |container| self.tracks.of_container(container);
        for i in 0..links.start.len() {
            let row = self.row + i as u64;
            let (Some(from), Some(to)) = (track(links.from[i]), track(links.to[i])) else {
                self.messages.elsewhere += 1;
                continue;
            };
            let message = Message {
                lane: lane.id(),
                row,
                value: links.value[i],
                start: links.start[i],
                end: links.end[i],
                bytes: self.field.and_then(|field| size(&links, i, field)).unwrap_or(f64::NAN),
                from: from as u32,
                to: to as u32,
                send: NONE,
                recv: NONE,
            };
            let place = self.add(message);
            if let Some(requests) = self.messages.requests.get_mut(place) {
                *requests = requests_of(self.tracks.trace(), &links, i);
            }
        }
        self.row += links.start.len() as u64;
        Ok(())
    }
}

/// Counts the messages of each receiving track.
pub(super) struct Counter<'a> {
    pub(super) tracks: &'a Tracks<'a>,
    pub(super) counts: Vec<u32>,
}

impl Visitor for Counter<'_> {
    type Error = Infallible;

    fn links(&mut self, _: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        for (from, to) in links.from.iter().zip(links.to) {
            let ends = self.tracks.of_container(*from).and(self.tracks.of_container(*to));
            ends.into_iter().for_each(|to| self.counts[to] += 1);
        }
        Ok(())
    }
}

fn requests_of(trace: &Trace, links: &Links<'_>, i: usize) -> [Option<u64>; 2] {
    let mut found = [None; 2];
    for (side, fields) in links.user_defined.events_of(i) {
        let def = &trace.defs()[fields.def()];
        let mut all = def.extras().zip(fields.texts());
        let request = all.find(|((name, _), _)| *name == REQUEST);
        found[usize::from(side == Opens::Closing)] = request.and_then(|(_, text)| number(text));
    }
    found
}

fn size(links: &Links<'_>, i: usize, field: &str) -> Option<f64> {
    let mut fields = links.user_defined.of(i).filter(|(name, _)| *name == field);
    fields.find_map(|(_, text)| amount(text))
}
