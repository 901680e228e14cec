//! Pairs sends and receives, as MPI orders them.
//!
//! The messages from one process to another with the same tag in the same communicator do not
//! overtake one another: the first send belongs to the receive that was posted first. Times do not
//! matter, because clocks may differ.

use rustc_hash::FxHashMap;

use crate::events::event;
use crate::model::Model;
use crate::record::UNDEFINED;
use crate::scan::{Message, OwnChannel, Posted, Scan};
use crate::text::{Count, Sink};

/// A message with both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) comm: u64,
    pub(crate) tag: u32,
    pub(crate) length: u64,
    /// Request of each end, or [`UNDEFINED`] if the call is blocking.
    pub(crate) requests: [u64; 2],
    /// Index of the location, and the time.
    pub(crate) from: (u32, u64),
    pub(crate) to: (u32, u64),
}

impl Link {
    /// Returns the request of an end, unless its call is blocking.
    pub(crate) fn request(&self, is_start: bool) -> Option<u64> {
        Some(self.requests[usize::from(!is_start)]).filter(|request| *request != UNDEFINED)
    }

    /// Returns the number of bytes that its two lines have in common: those of its key, length and
    /// tag.
    pub(crate) fn bytes(&self, key: usize) -> u64 {
        let mut count = Count::default();
        count.number(key as u64);
        count.number(self.length);
        count.number(self.tag.into());
        count.0
    }
}

/// One end of a link, whose line becomes a row of columns.
pub(crate) struct LinkEnd {
    pub is_start: bool,
    /// Index of the location.
    pub location: u32,
    /// Types of the containers at both ends.
    pub types: (u32, u32),
    pub comm: u64,
    pub key: u64,
    pub has_request: bool,
    pub time: i64,
    /// Size of the line without the words of its step, in bytes.
    pub rest: u64,
    /// Size of the time, which is a part of `rest`.
    pub time_bytes: u64,
}

/// Messages from one process to another with the same tag in the same communicator: the index of
/// the location of each end, and its index among the sends or receives there.
#[derive(Debug, Default)]
struct Channel {
    sends: Vec<(u32, u32)>,
    receives: Vec<(u32, u32)>,
}

/// Pairs the messages of all locations. Events whose link has the same information lose their
/// lines. Returns the links in the order in which they are complete.
pub(crate) fn pair(model: &Model, locations: &[u64], scans: &mut [Scan]) -> Vec<Link> {
    let mut numbers: FxHashMap<(u64, u32, u32, u32), usize> = FxHashMap::default();
    let mut channels: Vec<Channel> = Vec::new();
    let own = |index: usize| model.process(locations[index]).unwrap_or(u32::MAX);
    for (index, scan) in scans.iter().enumerate() {
        let mut of = |it: &OwnChannel| {
            let next = channels.len();
            let key = (it.comm, it.peer, own(index), it.tag);
            let number = *numbers.entry(key).or_insert(next);
            if number == next {
                channels.push(Channel::default());
            }
            number
        };
        let is_receive = |it: &OwnChannel| matches!(it.kind, event::RECV | event::IRECV);
        let of = scan.channels.iter().map(|it| if is_receive(it) { of(it) } else { usize::MAX });
        let of: Vec<usize> = of.collect();
        for (at, (it, _)) in (0..).zip(&scan.receives) {
            channels[of[it.channel as usize]].receives.push((index as u32, at));
        }
    }
    for (index, scan) in scans.iter().enumerate() {
        let of = |it: &OwnChannel| numbers.get(&(it.comm, own(index), it.peer, it.tag)).copied();
        let of: Vec<Option<usize>> = scan.channels.iter().map(of).collect();
        for (at, it) in (0..).zip(&scan.sends) {
            // Only channels with receives are known.
            if let Some(channel) = of[it.channel as usize] {
                channels[channel].sends.push((index as u32, at));
            }
        }
    }
    let mut links = Vec::with_capacity(channels.iter().map(Channel::len).sum());
    for Channel { mut sends, mut receives } in channels {
        let send = |scans: &[Scan], (location, at): (u32, u32)| -> Message {
            scans[location as usize].sends[at as usize]
        };
        let receive = |scans: &[Scan], (location, at): (u32, u32)| -> (Message, Posted) {
            scans[location as usize].receives[at as usize]
        };
        // At the same time, threads come in the order of their identifiers.
        let order = |(location, _): (u32, u32), (time, number): Posted| (time, location, number);
        sends.sort_by_key(|place| {
            let Message { time, number, .. } = send(scans, *place);
            order(*place, (time, number))
        });
        receives.sort_by_key(|place| order(*place, receive(scans, *place).1));
        for (from, to) in sends.into_iter().zip(receives) {
            let (sent, (received, _)) = (send(scans, from), receive(scans, to));
            let (from, to) = (from.0, to.0);
            for (location, message) in [(to, received), (from, sent)] {
                let scan = &mut scans[location as usize];
                if !scan.channels[message.channel as usize].has_attributes {
                    scan.line_bytes[message.number as usize] = 0;
                }
            }
            let OwnChannel { comm, tag, .. } = scans[from as usize].channels[sent.channel as usize];
            let length = sent.length;
            let (from, to) = ((from, sent.time), (to, received.time));
            let requests = [sent.request, received.request];
            links.push(Link { comm, tag, length, requests, from, to });
        }
    }
    for (location, scan) in locations.iter().zip(&mut *scans) {
        let type_ = model.type_of_location(*location);
        let messages = scan.sends.iter().chain(scan.receives.iter().map(|(it, _)| it));
        let with_line = messages.filter(|it| scan.line_bytes[it.number as usize] > 0);
        let kinds = with_line.map(|it| (type_, scan.channels[it.channel as usize].kind));
        scan.used.kinds.extend(kinds);
    }
    // Ticks after the correction of clocks may be before the beginning of the trace.
    links.sort_by_key(|it| {
        let (start, end) = (model.seconds.since(it.from.1), model.seconds.since(it.to.1));
        (start.max(end), start.min(end), it.from.0, it.to.0, it.comm, it.tag)
    });
    links
}

impl Channel {
    fn len(&self) -> usize {
        self.sends.len().min(self.receives.len())
    }
}
