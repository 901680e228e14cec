//! Pairs sends and receives, as MPI orders them.
//!
//! The messages from one process to another with the same tag in the same communicator do not
//! overtake one another: the first send belongs to the receive that was posted first. Times say
//! nothing, because clocks may differ.

use crate::model::Model;
use crate::scan::{Message, Scan};

/// A message with both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) comm: u64,
    pub(crate) tag: u32,
    pub(crate) length: u64,
    /// Index of the location, and time.
    pub(crate) from: (u32, u64),
    pub(crate) to: (u32, u64),
}

/// One end of a message. The order is that of the fields: first what both ends have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EndOf {
    comm: u64,
    sender: u32,
    receiver: u32,
    tag: u32,
    order: (u64, u64),
    /// Index of the location, and number of the message there.
    place: (u32, u32),
    /// Index among the sends or receives of the location.
    at: u32,
}

impl EndOf {
    const fn channel(&self) -> (u64, u32, u32, u32) {
        (self.comm, self.sender, self.receiver, self.tag)
    }
}

/// Pairs the messages of all locations. The lines of those whose link says the same become empty.
/// Returns the links in the order in which they are complete.
pub(crate) fn pair(model: &Model, locations: &[u64], scans: &mut [Scan]) -> Vec<Link> {
    let process = |index: u32| model.process(locations[index as usize]).unwrap_or(u32::MAX);
    let ends = |of: fn(&Scan) -> &Vec<Message>, is_send: bool| {
        let mut ends: Vec<EndOf> = Vec::new();
        for (index, scan) in (0..).zip(&*scans) {
            let own = process(index);
            ends.extend((0..).zip(of(scan)).map(|(at, it): (u32, &Message)| {
                let (sender, receiver) = if is_send { (own, it.peer) } else { (it.peer, own) };
                let Message { comm, tag, order, number, .. } = *it;
                EndOf { comm, sender, receiver, tag, order, place: (index, number), at }
            }));
        }
        ends.sort_unstable();
        ends
    };
    let (sends, receives) = (ends(|it| &it.sends, true), ends(|it| &it.receives, false));
    let mut links = Vec::with_capacity(sends.len().min(receives.len()));
    let (mut sends, mut receives) = (sends.iter().peekable(), receives.iter().peekable());
    while let (Some(send), Some(receive)) = (sends.peek(), receives.peek()) {
        match send.channel().cmp(&receive.channel()) {
            std::cmp::Ordering::Less => drop(sends.next()),
            std::cmp::Ordering::Greater => drop(receives.next()),
            std::cmp::Ordering::Equal => {
                let (from, to) = (send.place.0, receive.place.0);
                let sent = scans[from as usize].sends[send.at as usize];
                let received = scans[to as usize].receives[receive.at as usize];
                for (location, message) in [(from, sent), (to, received)] {
                    if !message.has_attributes {
                        scans[location as usize].line_bytes[message.number as usize] = 0;
                    }
                }
                let Message { comm, tag, length, time, .. } = sent;
                links.push(Link { comm, tag, length, from: (from, time), to: (to, received.time) });
                sends.next();
                receives.next();
            }
        }
    }
    for (location, scan) in locations.iter().zip(&mut *scans) {
        let type_ = model.type_of_location(*location);
        let messages = scan.sends.iter().chain(&scan.receives);
        let with_line = messages.filter(|it| scan.line_bytes[it.number as usize] > 0);
        scan.used.kinds.extend(with_line.map(|it| (type_, it.kind)));
    }
    // Ticks after the correction of clocks may be before the beginning of the trace.
    let tick = |time: u64| model.seconds.units(time);
    let key = |it: &Link| {
        let (start, end) = (tick(it.from.1), tick(it.to.1));
        (start.max(end), start.min(end), it.from.0, it.to.0, it.comm, it.tag)
    };
    links.sort_by_cached_key(key);
    links
}
