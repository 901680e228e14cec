//! Finds the messages of calls that send and receive, whose links SMPI writes with wrong keys.
//!
//! SMPI's keys begin with the number of the sender, the number of the receiver, and the tag. The
//! numbers of ranks begin with 1. At `MPI_Sendrecv`, the number of the other side is its rank, which
//! begins with 0. So most links lack a half, and others have halves of two messages. The messages
//! of one sender, receiver and tag are received in the order in which they are sent.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Channel, Message, Messages, NONE, channel};
use crate::classes::{Class, Map};
use crate::tracks::Tracks;

/// Start or end of a link.
struct Half {
    channel: Channel,
    /// Whether it is in a call that sends and receives.
    is_combined: bool,
    /// Whether the other half may be missing or belong to another message.
    is_doubtful: bool,
    time: f64,
    track: u32,
    /// The link, as far as it is known, and its index, if both halves are known.
    message: Message,
    index: Option<usize>,
}

impl Messages {
    /// Pairs the halves of links of the calls that send and receive. If they do not match, as in
    /// communicators of some of the ranks, all links stay as they are.
    pub(super) fn pair_combined(&mut self, tracks: &Tracks<'_>, map: &Map, field: Option<&str>) {
        let classes = tracks.classes();
        if classes.chosen().all(|type_| !classes.of_type(type_).contains(&Class::SendRecv)) {
            return;
        }
        let Some(pairs) = pairs(self.halves(tracks, map, field)) else { return };
        self.open -= pairs.iter().filter(|[start, _]| start.index.is_none()).count() as u64;
        let replaced = pairs.iter().flatten().filter_map(|half| half.index);
        let replaced: FxHashSet<usize> = replaced.collect();
        let mut index = 0..;
        self.list.retain(|_| index.next().is_none_or(|index| !replaced.contains(&index)));
        // These messages have no rows, so their numbers follow those of all rows.
        let trace = tracks.trace();
        let rows: u64 = trace.counts().links + trace.link_halves().len() as u64;
        self.combined = pairs.len() as u64;
        self.list.extend((rows..).zip(pairs).map(|(row, [start, end])| Message {
            row,
            start: start.time,
            end: end.time,
            from: start.track,
            to: end.track,
            send: NONE,
            recv: NONE,
            ..start.message
        }));
        self.list.sort_by_key(|message| message.to);
        self.find_states(tracks);
    }

    /// Returns the starts and the ends of all links.
    fn halves(&self, tracks: &Tracks<'_>, map: &Map, field: Option<&str>) -> [Vec<Half>; 2] {
        let trace = tracks.trace();
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        let is_both = |track: u32, state: Option<usize>| {
            state.is_some_and(|state| tracks.class(track as usize, state) == Class::SendRecv)
        };
        self.each_link(trace, |at, link| {
            let Some(channel) = channel(link.key().text) else { return };
            let (message, index) = (self.list[at], Some(at));
            let sends = is_both(message.from, message.send());
            let receives = is_both(message.to, message.recv());
            let is_doubtful = sends || receives;
            let half = |is_combined, time, track| Half {
                channel,
                is_combined,
                is_doubtful,
                time,
                track,
                message,
                index,
            };
            starts.push(half(sends, message.start, message.from));
            ends.push(half(receives, message.end, message.to));
        });
        for half in trace.link_halves() {
            let is_message = map.is_message(trace.lane_of(half).type_name().text);
            let track = tracks.of_container(half.container).filter(|_| is_message);
            let (Some(track), Some(channel)) = (track, channel(&half.key)) else { continue };
            let states = &tracks.list()[track];
            let times = if half.is_end { &states.end } else { &states.start };
            let is_here = |state: usize| {
                times[state] == half.time && tracks.class(track, state) == Class::SendRecv
            };
            let bytes = field.and_then(|field| super::amount(trace.field_of(half, field)?));
            let found = Half {
                channel,
                is_combined: states.open_at(half.time).any(is_here),
                is_doubtful: true,
                time: half.time,
                track: track as u32,
                message: Message {
                    lane: half.lane,
                    value: half.value,
                    bytes: bytes.unwrap_or(f64::NAN),
                    ..Message::NOWHERE
                },
                index: None,
            };
            if half.is_end { ends.push(found) } else { starts.push(found) }
        }
        [starts, ends]
    }
}

/// Pairs the starts and ends of links whose halves are doubtful. Returns `None` if they do not
/// match.
fn pairs(mut halves: [Vec<Half>; 2]) -> Option<Vec<[Half; 2]>> {
    let mut tracks: FxHashMap<i64, u32> = FxHashMap::default();
    for (side, all) in halves.iter_mut().enumerate() {
        for half in all {
            let own = half.channel[side];
            half.channel[1 - side] += i64::from(half.is_combined);
            if *tracks.entry(own).or_insert(half.track) != half.track {
                return None;
            }
        }
    }
    let doubtful = halves.iter().flatten().filter(|half| half.is_doubtful);
    let doubtful: FxHashSet<Channel> = doubtful.map(|half| half.channel).collect();
    let mut by_channel: BTreeMap<Channel, [Vec<Half>; 2]> = BTreeMap::new();
    for (side, all) in halves.into_iter().enumerate() {
        for half in all {
            let is_known = half.channel[..2].iter().all(|number| tracks.contains_key(number));
            if is_known && doubtful.contains(&half.channel) {
                by_channel.entry(half.channel).or_default()[side].push(half);
            }
        }
    }
    let mut pairs = Vec::new();
    for mut sides in by_channel.into_values() {
        sides.iter_mut().for_each(|side| side.sort_by(|a, b| a.time.total_cmp(&b.time)));
        let [starts, ends] = sides;
        if starts.len() != ends.len() {
            return None;
        }
        pairs.extend(starts.into_iter().zip(ends).map(|(start, end)| [start, end]));
    }
    pairs.iter().all(|[start, end]| start.time <= end.time).then_some(pairs)
}
