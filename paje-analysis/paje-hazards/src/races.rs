//! Message races.
//!
//! Two messages into the same container race if they are in different channels, wildcard receives
//! take both, and the second could have been sent before the first was received. Then the first
//! receive could have taken the second message. (Source: B. Schaeli, *Performance prediction and
//! race detection in message-passing parallel applications*, 4.4.1 and 5.5.3.)
//!
//! A sender knows a prefix of the receiver's steps. Therefore, a message races with all messages
//! that are received after this prefix and before the message itself. Counting them takes time O(n
//! log n).

use paje_analysis::order::{Order, Question};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::model::Model;

/// Two messages that could have arrived in reverse order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Race {
    /// Message that was received first.
    pub first: u32,
    /// Message that was received later, and that the first receive could have taken.
    pub second: u32,
}

/// The races of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Races {
    /// The first races, ordered by container, then by the receive of the second message, then by
    /// the receive of the first message.
    pub list: Vec<Race>,
    /// Number of races, listed or not.
    pub count: u128,
    /// Number of containers with races.
    pub containers: usize,
}

struct Receives<'m> {
    model: &'m Model<'m>,
    /// For each receive: its message, its step, and the number of steps that the sender knew.
    list: Vec<(u32, u32, u32)>,
    by_channel: FxHashMap<u32, Vec<u32>>,
}

impl<'m> Receives<'m> {
    /// Collects the wildcard receives of a track. `known` has the number of steps that each
    /// message's sender knew.
    fn new(model: &'m Model<'m>, order: &Order, known: &[u32], track: usize) -> Self {
        let received = model.facts.messages.received(track).iter().copied();
        let mut list: Vec<(u32, u32, u32)> = received
            .filter(|message| model.is_open(*message as usize))
            .map(|message| {
                let at = message as usize;
                (message, order.index(track, order.recv(at)), known[at])
            })
            .collect();
        list.sort_by_key(|(_, step, _)| *step);
        let mut by_channel: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (place, (message, ..)) in list.iter().enumerate() {
            let channel = model.channel[*message as usize];
            by_channel.entry(channel).or_default().push(place as u32);
        }
        Receives { model, list, by_channel }
    }

    /// Returns the earlier receives that could have taken the message of receive `place`. They may
    /// be in any channel.
    fn before(&self, place: usize) -> std::ops::Range<usize> {
        let known = self.list[place].2;
        self.list[..place].partition_point(|(_, step, _)| *step < known)..place
    }

    fn channel(&self, place: usize) -> u32 {
        self.model.channel[self.list[place].0 as usize]
    }

    fn count(&self) -> u128 {
        let races = (0..self.list.len()).map(|place| {
            let range = self.before(place);
            let same = &self.by_channel[&self.channel(place)];
            let below = |bound: usize| same.partition_point(|at| (*at as usize) < bound);
            (range.len() - (below(range.end) - below(range.start))) as u128
        });
        races.sum()
    }

    fn races(&self) -> impl Iterator<Item = Race> + '_ {
        (0..self.list.len()).flat_map(move |place| {
            let channel = self.channel(place);
            let others = self.before(place).filter(move |at| self.channel(*at) != channel);
            others.map(move |at| Race { first: self.list[at].0, second: self.list[place].0 })
        })
    }
}

/// For each message, returns how many steps of the receiver its sender knew, or 0 if the receive is
/// not a wildcard receive.
pub(crate) fn known(model: &Model<'_>, order: &Order) -> Vec<u32> {
    let list = model.facts.messages.list();
    let asked: Vec<usize> = (0..list.len()).filter(|at| model.is_open(*at)).collect();
    let question = |at: &usize| Question { step: order.send(*at), track: list[*at].to };
    let questions: Vec<Question> = asked.iter().map(question).collect();
    let mut known = vec![0; list.len()];
    for (at, answer) in asked.into_iter().zip(order.known(&questions)) {
        known[at] = answer;
    }
    known
}

/// Finds the races. At most `limit` of them are listed, but all are counted.
#[must_use]
pub fn races(model: &Model<'_>, order: &Order, limit: usize) -> Races {
    let known = known(model, order);
    let receives = |track: usize| Receives::new(model, order, &known, track);
    let tracks = 0..model.facts.tracks.list().len();
    let counts: Vec<u128> = tracks.into_par_iter().map(|track| receives(track).count()).collect();
    let mut found = Races::default();
    for (track, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
        found.count += count;
        found.containers += 1;
        let room = limit - found.list.len();
        if room > 0 {
            found.list.extend(receives(track).races().take(room));
        }
    }
    found
}
