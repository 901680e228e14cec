//! Messages of which only a part is in memory.

use paje_sim::LaneView;

use super::ends::pending_between;
use super::reader::Reader;
use super::{Message, Messages, NONE, Side, find, size_field};
use crate::classes::Map;
use crate::tracks::{Forgotten, Tracks};

impl Side {
    fn track(self, message: &Message) -> u32 {
        match self {
            Side::Sending => message.from,
            Side::Receiving => message.to,
        }
    }

    fn state(self, message: &mut Message) -> &mut u32 {
        match self {
            Side::Sending => &mut message.send,
            Side::Receiving => &mut message.recv,
        }
    }
}

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

    /// Finds the states of all ends of links that are not forgotten. The others keep their states.
    pub fn find_more_states(&mut self, tracks: &Tracks<'_>) {
        for side in [Side::Receiving, Side::Sending] {
            let mut by_track = vec![Vec::new(); tracks.list().len()];
            for (at, message) in (0..).zip(&self.list) {
                let track = side.track(message) as usize;
                if side.time(message) >= tracks.list()[track].forgotten.until {
                    by_track[track].push(at);
                }
            }
            let states = find(&self.list, &mut by_track, tracks, side);
            for (at, state) in by_track.iter().flatten().zip(states.into_iter().flatten()) {
                *side.state(&mut self.list[*at as usize]) = state;
            }
            match side {
                Side::Receiving => self.received = by_track,
                Side::Sending => self.sent = by_track,
            }
        }
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
