//! Keys of links. For a link's start, the key is written part by part. For a link's end, only the
//! position of its start in a queue is written.
//!
//! Links without an end wait in queues. A queue has the links whose keys have the same second part.
//! In most traces, this part names the container where the link ends. Each lane expects its next
//! link to come from the same queue as its last link.

use std::collections::VecDeque;
use std::ops::Range;

use crate::fields::{FieldsIn, FieldsOut, PARTS, Place};
use crate::out::Out;
use crate::stream::{NUMBER, StreamReader, StreamWriter};
use crate::texts::{Texts, word_at};
use crate::value::bytes_of;

const JOINT: u8 = b'_';

/// Number of links at the front of a queue that are compared with an end.
const NEAR: usize = 64;

/// Column with the position of each key in its queue, counted from 1, or 0 for a spelt key. The
/// column `COUNTS` has the number of parts of each spelt key.
const PLACES: usize = 0;
const COUNTS: usize = NUMBER;

pub(crate) const FIRST_PART: usize = COUNTS + 1;

/// Start and end of a key in the segment's text.
type KeyAt = (u32, u32);

/// Links that have no end yet.
#[derive(Default)]
struct Waiting {
    /// Second parts of keys. The number of a part is the number of its queue.
    parts: Texts,
    queues: Vec<VecDeque<KeyAt>>,
    /// Number of the queue of each lane's last link.
    of_lanes: Vec<u32>,
}

impl Waiting {
    #[inline]
    fn queue_of(&mut self, part: &[u8]) -> u32 {
        let queue = self.parts.put(part);
        if self.queues.len() == queue as usize {
            self.queues.push(VecDeque::new());
        }
        queue
    }

    /// Adds a link, given the second part of its key.
    #[inline]
    fn start(&mut self, part: &[u8], at: KeyAt) {
        let queue = self.queue_of(part);
        self.queues[queue as usize].push_back(at);
    }

    /// Ends the link at this position in the queue that a lane expects. Returns `None` if there is
    /// no such link.
    #[inline]
    fn end(&mut self, lane: u32, place: usize) -> Option<KeyAt> {
        let queue = self.queues.get_mut(*self.of_lanes.get(lane as usize)? as usize)?;
        if place == 0 { queue.pop_front() } else { queue.remove(place) }
    }

    /// Finds the position of a link in the queue that a lane expects.
    #[inline]
    fn find(&self, lane: u32, is_key: impl Fn(KeyAt) -> bool) -> Option<usize> {
        let queue = self.queues.get(*self.of_lanes.get(lane as usize)? as usize)?;
        queue.iter().take(NEAR).position(|at| is_key(*at))
    }

    /// Ends a link whose key is spelt, if the link is near the front of its queue. The queue is
    /// that of the key's second part. From now on, the lane expects this queue.
    #[cold]
    fn end_spelt(&mut self, lane: u32, part: &[u8], is_key: impl Fn(KeyAt) -> bool) {
        let queue = self.queue_of(part);
        let lanes = self.of_lanes.len().max(lane as usize + 1);
        // The list is filled with a number that no queue has.
        self.of_lanes.resize(lanes, u32::MAX);
        self.of_lanes[lane as usize] = queue;
        if let Some(place) = self.find(lane, is_key) {
            self.end(lane, place);
        }
    }
}

fn between(text: &[u8], at: KeyAt) -> &[u8] {
    text.get(at.0 as usize..at.1 as usize).unwrap_or_default()
}

#[derive(Default)]
pub(crate) struct KeysOut {
    pub(crate) fields: FieldsOut,
    waiting: Waiting,
}

impl KeysOut {
    #[inline]
    pub(crate) fn start(
        &mut self,
        side: &mut StreamWriter,
        place: Place,
        text: &[u8],
        range: Range<usize>,
    ) {
        let at = (range.start as u32, range.end as u32);
        let part = self.spell(side, place, text, range);
        self.waiting.start(part, at);
    }

    #[inline]
    pub(crate) fn end(
        &mut self,
        side: &mut StreamWriter,
        (place, lane): (Place, u32),
        text: &[u8],
        range: Range<usize>,
    ) {
        let key = &text[range.clone()];
        let is_key = |at| between(text, at) == key;
        if let Some(place) = self.waiting.find(lane, is_key) {
            self.waiting.end(lane, place);
            side.number(PLACES, place as u64 + 1);
        } else {
            side.number(PLACES, 0);
            let part = self.spell(side, place, text, range);
            self.waiting.end_spelt(lane, part, is_key);
        }
    }

    /// Writes the parts of a key. Returns the second part.
    #[inline]
    fn spell<'t>(
        &mut self,
        side: &mut StreamWriter,
        place: Place,
        text: &'t [u8],
        range: Range<usize>,
    ) -> &'t [u8] {
        let mut start = range.start;
        let (count, ends) = cut(text, range);
        side.byte(COUNTS, count as u8);
        for (part, end) in (0..).zip(&ends[..count]) {
            let place = Place { slot: place.slot + part, field: place.field + part };
            self.fields.value(place, text, start..*end);
            start = end + 1;
        }
        if count > 1 { &text[ends[0] + 1..ends[1]] } else { b"" }
    }
}

/// Cuts a key into parts. Returns the number of parts and the ends of the parts.
#[inline]
fn cut(text: &[u8], Range { start, end }: Range<usize>) -> (usize, [usize; PARTS]) {
    let (mut from, mut count, mut ends) = (start, 0, [0; PARTS]);
    while from < end {
        let mut joints = bytes_of(word_at(text, from, (end - from).min(8)), JOINT);
        while joints != 0 && count < PARTS - 1 {
            ends[count] = from + joints.trailing_zeros() as usize / 8;
            count += 1;
            joints &= joints - 1;
        }
        from += 8;
    }
    ends[count] = end;
    (count + 1, ends)
}

pub(crate) struct KeysIn {
    pub(crate) fields: FieldsIn,
    waiting: Waiting,
}

impl KeysIn {
    /// Creates a reader for a segment with `length` bytes of text.
    pub(crate) fn new(side: &mut StreamReader<'_>, length: usize) -> KeysIn {
        KeysIn { fields: FieldsIn::new(side, FIRST_PART, length), waiting: Waiting::default() }
    }

    /// Reads the key of a link that starts, and appends it to `out`. Returns the position of the
    /// key in `out`.
    #[inline(never)]
    pub(crate) fn start(
        &mut self,
        side: &mut StreamReader<'_>,
        place: Place,
        out: &mut Out,
    ) -> KeyAt {
        let (at, part) = self.spell(side, place, out);
        self.waiting.start(out.between(part), at);
        at
    }

    /// Reads the key of a link that ends in a lane. Returns the position of the key in `out`. A
    /// spelt key is appended to `out` first.
    #[inline(never)]
    pub(crate) fn end(
        &mut self,
        side: &mut StreamReader<'_>,
        (place, lane): (Place, u32),
        out: &mut Out,
    ) -> KeyAt {
        let number = side.number(PLACES);
        if number == 0 {
            let (at, part) = self.spell(side, place, out);
            let (key, part) = (out.between(at), out.between(part));
            self.waiting.end_spelt(lane, part, |other| out.between(other) == key);
            return at;
        }
        let place = usize::try_from(number).ok().filter(|number| *number <= NEAR);
        place.and_then(|number| self.waiting.end(lane, number - 1)).unwrap_or_else(|| {
            side.fail();
            (0, 0)
        })
    }

    /// Reads a key, and appends it to `out`. Returns the positions of the key and of its second
    /// part.
    #[inline(always)]
    fn spell(
        &mut self,
        side: &mut StreamReader<'_>,
        place: Place,
        out: &mut Out,
    ) -> (KeyAt, KeyAt) {
        let (start, mut part) = (out.len() as u32, (0, 0));
        let count = u32::from(side.byte(COUNTS));
        if count == 0 || count > PARTS as u32 {
            side.fail();
        } else {
            part = self.fields.parts(side, place, count, JOINT, out);
        }
        ((start, out.len() as u32), part)
    }
}
