//! Turns links into messages: each value of a type of links is a communicator.

use std::collections::HashMap;

use paje_otf2::writer::MessageEnd;
use paje_sim::{ContainerId, LaneView, TimeRange, TypeId, ValueId};

use super::events::{Clock, Order, Record, What};

/// Messages of all links.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Types of links and their containers, which are the first communicators.
    pub(super) types: Vec<(TypeId, ContainerId)>,
    /// Values of links, which are the other communicators: the communicator of the type, the type
    /// and the value.
    pub(super) values: Vec<(u32, TypeId, ValueId)>,
    /// Number of messages.
    pub(super) count: u64,
    /// Ends of messages, by place and time.
    ends: Vec<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    place: u32,
    tick: u64,
    is_send: bool,
    /// Number of the message in the order of starts.
    number: u64,
    comm: u32,
    tag: u32,
    other: u32,
}

struct Message {
    ticks: [u64; 2],
    places: [u32; 2],
    comm: u32,
}

impl Messages {
    /// Collects the links of some lanes. `place` returns the number of the place of a container.
    pub(super) fn new(
        lanes: &[LaneView<'_>],
        window: TimeRange,
        clock: &Clock,
        mut place: impl FnMut(ContainerId) -> u32,
    ) -> Self {
        let mut found = Messages::default();
        let (mut messages, mut known) = (Vec::new(), HashMap::new());
        found.types = lanes.iter().map(|lane| (lane.type_id(), lane.container())).collect();
        let links = (0..).zip(lanes).flat_map(|(at, lane)| lane.links().map(move |it| (at, it)));
        for (at, link) in links {
            if window.overlaps(link.start, link.end) {
                let kind = (at, link.lane.type_id(), link.value);
                let comm = *known.entry(kind).or_insert_with(|| {
                    found.values.push(kind);
                    (found.types.len() + found.values.len() - 1) as u32
                });
                messages.push(Message {
                    ticks: [link.start, link.end].map(|time| clock.at(time)),
                    places: [link.from, link.to].map(&mut place),
                    comm,
                });
            }
        }
        messages.sort_by_key(|it| it.ticks);
        found.count = messages.len() as u64;
        let mut channels: HashMap<(u32, [u32; 2]), Vec<u64>> = HashMap::new();
        for (number, Message { ticks, places, comm }) in (0..).zip(messages) {
            let tag = tag(channels.entry((comm, places)).or_default(), ticks[1]);
            let end = |at: usize| End {
                place: places[at],
                tick: ticks[at],
                is_send: at == 0,
                number,
                comm,
                tag,
                other: places[1 - at],
            };
            found.ends.extend([end(0), end(1)]);
        }
        found.ends.sort_unstable();
        found
    }

    /// Returns the records of a place. `rank` returns the rank of a place.
    pub(super) fn of(&self, place: u32, rank: &[u32]) -> impl Iterator<Item = Record> {
        let start = self.ends.partition_point(|end| end.place < place);
        let ends = self.ends[start..].iter().take_while(move |end| end.place == place);
        ends.map(|end| {
            let End { comm, tag, is_send, tick, .. } = *end;
            let rank = rank[end.other as usize];
            let order = if is_send { Order::Other } else { Order::Receive };
            Record { tick, order, what: What::Message(is_send, MessageEnd { rank, comm, tag }) }
        })
    }
}

/// Chooses the tag of a message that ends at a tick, so that no message of the same tag overtakes
/// another one. `last` has the last end of each tag, which decrease.
fn tag(last: &mut Vec<u64>, tick: u64) -> u32 {
    let tag = last.partition_point(|last| *last > tick);
    match last.get_mut(tag) {
        Some(last) => *last = tick,
        None => last.push(tick),
    }
    tag as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_overtake_others_have_other_tags() {
        let mut last = Vec::new();
        let tags = [5, 6, 4, 6, 3, 5, 7].map(|tick| tag(&mut last, tick));
        assert_eq!(tags, [0, 0, 1, 0, 2, 1, 0]);
    }
}
