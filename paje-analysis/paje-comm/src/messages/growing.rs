//! Messages of which only a part is in memory.

use paje_sim::LaneView;

use super::ends::pending_between;
use super::reader::Reader;
use super::{Message, Messages, NONE, size_field};
use crate::classes::Map;
use crate::tracks::{Forgotten, Tracks};

impl Messages {
    /// Adds the links of a portion's lane. `row` is the number of the lane's earlier links.
    pub fn grow(
        &mut self,
        tracks: &Tracks<'_>,
        map: &Map,
        bytes: Option<&str>,
        (lane, row): (LaneView<'_>, u64),
    ) {
        if !map.is_message(lane.type_name().text) {
            return;
        }
        let field = bytes.or_else(|| size_field(tracks.trace()));
        let messages = std::mem::take(self);
        let mut reader = Reader { tracks, field, messages, next: None, row };
        let Ok(()) = lane.visit(&mut reader);
        *self = reader.messages;
    }

    /// Removes each message that starts before the cut of its sender and ends before the cut of its
    /// receiver.
    pub fn keep_after(&mut self, tracks: &mut Tracks<'_>, cuts: &[f64]) {
        for (at, cut) in cuts.iter().enumerate() {
            let Forgotten { until, pending } = tracks.list()[at].forgotten;
            let received = self.received[at].iter().map(|message| &self.list[*message as usize]);
            let received = received.take_while(|message| message.end < *cut);
            let states = received.filter_map(Message::recv);
            let more = pending_between(tracks, at, (until, *cut), states);
            tracks.list_mut()[at].forgotten = Forgotten { until: *cut, pending: pending + more };
        }
        self.list.retain(|message| {
            message.start >= cuts[message.from as usize] || message.end >= cuts[message.to as usize]
        });
        (self.received, self.sent) = (Vec::new(), Vec::new());
    }

    /// Changes the number of each message's receiving state. Each track has the new number of each
    /// of its states.
    pub fn renumber(&mut self, numbers: &[Vec<Option<u32>>]) {
        for message in &mut self.list {
            let state = numbers[message.to as usize].get(message.recv as usize);
            message.recv = state.copied().flatten().unwrap_or(NONE);
        }
    }
}
