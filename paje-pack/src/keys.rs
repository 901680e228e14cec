//! Keys of links: those that begin by rule, those that end by those that began.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::coder::{NUMBER, Side, Writing};
use crate::fields::{Fields, FieldsOut, Part, Place, SMALL};
use crate::out::Out;
use crate::texts::{hash, word};
use crate::value::{Kind, Value, bytes_of};

mod read;

pub(crate) use read::KeysIn;

/// Parts that a key is cut into.
pub(crate) const PARTS: usize = 8;
/// Of these, those that may say where the link ends.
const TELLING: usize = 2;
/// Of links that wait for their ends, those that are looked at.
const NEAR: usize = 64;
/// Byte between parts of keys.
const JOINT: u8 = b'_';
/// Ways to find the end of a link: by one of the parts that tell; among all that wait; not at all.
const ANY: usize = TELLING;
const SPELT: usize = TELLING + 1;

/// A link that has begun.
struct Link {
    /// End of its key among those that have begun.
    end: usize,
    /// The next one with the same key that has not ended, or [`NONE`].
    next: u32,
    places: [u32; TELLING],
}

const NONE: u32 = u32::MAX;

/// Links that wait for their ends, the older ones first.
#[derive(Default)]
struct Queue {
    links: Vec<u32>,
    /// Those before it have ended.
    first: usize,
}

impl Queue {
    /// Place of the `index`-th link that has not ended.
    fn place(&mut self, index: usize, ended: &[bool]) -> Option<usize> {
        let has_ended = |place: usize| ended[self.links[place] as usize];
        let mut left = index;
        let place = (self.first..self.links.len()).find(|place| {
            let open = !has_ended(*place);
            left = left.wrapping_sub(usize::from(open));
            open && left == usize::MAX
        })?;
        // Those that have ended are not passed again: the others come to stand together.
        let mut first = place;
        for other in (self.first..place).rev() {
            if !ended[self.links[other] as usize] {
                first -= 1;
                self.links.swap(first, other);
            }
        }
        self.first = first;
        Some(place)
    }

    /// Place of the first link that has not ended; it is to end now.
    #[inline]
    fn first(&mut self, ended: &[bool]) -> Option<usize> {
        loop {
            let place = self.first;
            let link = *self.links.get(place)?;
            self.first += 1;
            if !ended[link as usize] {
                return Some(place);
            }
        }
    }

    /// Number of open links before one, if it comes soon and there are less than `most`.
    fn find(&mut self, ended: &[bool], link: u32, most: usize) -> Option<usize> {
        self.place(0, ended)?;
        let near = &self.links[self.first..];
        if near.first() == Some(&link) {
            return Some(0);
        }
        // They are in the order in which they began.
        let place = near[..near.len().min(NEAR)].binary_search(&link).ok()?;
        let open = near[..place].iter().filter(|other| !ended[**other as usize]).count();
        (open < most).then_some(open)
    }
}

/// Where links wait for their ends, by what the parts of their keys are that tell.
struct Waiting {
    /// Places in `queues`; the first is that of all links, and so in place of none.
    places: FxHashMap<(usize, Value), u32>,
    /// The same of parts that are small whole numbers.
    near: [Vec<u32>; TELLING],
    queues: Vec<Queue>,
}

impl Default for Waiting {
    fn default() -> Self {
        let (places, near) = (FxHashMap::default(), Default::default());
        Waiting { places, near, queues: vec![Queue::default()] }
    }
}

impl Waiting {
    /// Place of the queue for keys whose how many-th part is this; it is made if there is none.
    #[inline]
    fn place(&mut self, how: usize, part: Value) -> u32 {
        let known = match part.kind {
            Kind::Decimal(0) if part.bits < SMALL => {
                let near = &mut self.near[how];
                let at = part.bits as usize;
                if near.len() <= at {
                    near.resize(at + 1, 0);
                }
                &mut near[at]
            }
            _ => self.places.entry((how, part)).or_default(),
        };
        if *known == 0 {
            *known = self.queues.len() as u32;
            self.queues.push(Queue::default());
        }
        *known
    }
}

impl Waiting {
    /// The same by a part that may be a small number.
    #[inline(always)]
    fn place_of(&mut self, how: usize, (small, part): &(Part, Value)) -> u32 {
        let Some(small) = *small else { return self.place(how, *part) };
        match self.near[how].get(usize::from(small)) {
            Some(known) if *known > 0 => *known,
            _ => self.place(how, Value { kind: Kind::Decimal(0), bits: small.into() }),
        }
    }
}

/// Columns: runs of ends that are found as the last one; how others are found; which link it is, if that is not the first; parts of a key.
mod column {
    use super::{NUMBER, SPELT};

    pub(super) const AGAIN: usize = 0;
    pub(super) const HOW: usize = 1;
    pub(super) const PARTS: usize = 2;
    pub(super) const FIRST: usize = 3;
    pub(super) const WHICH: usize = FIRST + SPELT;
    pub(super) const VALUES: usize = WHICH + SPELT * NUMBER;
}

/// The first column of the fields that are parts of keys.
pub(crate) const FIRST_PART: usize = column::VALUES;

/// Keys that are written.
pub(crate) struct KeysOut {
    pub(crate) fields: FieldsOut,
    /// The keys of links that have begun.
    begun: Vec<u8>,
    links: Vec<Link>,
    ended: Vec<bool>,
    waiting: Waiting,
    /// By the hashes of keys: the first and the last open link with that of the first one.
    open: FxHashMap<u64, (u32, u32)>,
    /// For each lane, where those wait that have the same parts as the last that ended there.
    told: Vec<[u32; TELLING]>,
    /// Way in which the last end was found.
    how: usize,
}

/// Cuts a key into parts; how many there are.
#[inline]
fn parts(key: &[u8], ends: &mut [usize; PARTS]) -> usize {
    let mut count = 0;
    for (from, eight) in (0..).step_by(8).zip(key.chunks(8)) {
        let mut joints = bytes_of(word(eight), JOINT);
        while joints != 0 && count < PARTS - 1 {
            ends[count] = from + joints.trailing_zeros() as usize / 8;
            count += 1;
            joints &= joints - 1;
        }
    }
    ends[count] = key.len();
    count + 1
}

impl KeysOut {
    pub(crate) fn new(fields: FieldsOut) -> Self {
        KeysOut {
            fields,
            begun: Vec::new(),
            links: Vec::new(),
            ended: Vec::new(),
            waiting: Waiting::default(),
            open: FxHashMap::default(),
            told: Vec::new(),
            how: ANY,
        }
    }

    /// Where the key of a link begins.
    fn begins(&self, link: u32) -> usize {
        link.checked_sub(1).map_or(0, |before| self.links[before as usize].end)
    }

    fn key(&self, link: u32) -> &[u8] {
        &self.begun[self.begins(link)..self.links[link as usize].end]
    }

    /// The key of a link that begins, whose parts have places from one on.
    #[inline]
    pub(crate) fn start(&mut self, side: &mut Writing, place: Place, key: &[u8]) {
        let telling = self.spell(side, place, key);
        let link = self.links.len() as u32;
        self.begun.extend_from_slice(key);
        let mut places = [0; TELLING];
        self.waiting.queues[0].links.push(link);
        for (how, (place, part)) in (0..).zip(places.iter_mut().zip(telling)) {
            let Some(part) = part else { continue };
            *place = self.waiting.place(how, part);
            self.waiting.queues[*place as usize].links.push(link);
        }
        self.links.push(Link { end: self.begun.len(), next: NONE, places });
        self.ended.push(false);
        self.opened(link, key);
    }

    /// Notes that a link waits for its end.
    fn opened(&mut self, link: u32, key: &[u8]) {
        match self.open.entry(hash(key)) {
            Entry::Vacant(none) => {
                none.insert((link, link));
            }
            Entry::Occupied(mut some) => {
                let (_, last) = some.get_mut();
                let before = std::mem::replace(last, link);
                self.links[before as usize].next = link;
            }
        }
    }

    /// The first open link with a key. One whose key has the hash of another's may not be found: then the key is spelt.
    fn opener(&self, hash: u64, key: &[u8]) -> Option<u32> {
        self.open.get(&hash).map(|(first, _)| *first).filter(|link| self.key(*link) == key)
    }

    /// Notes that the first open link with a key has ended.
    fn closed(&mut self, hash: u64, link: u32) {
        match self.links[link as usize].next {
            NONE => {
                self.open.remove(&hash);
            }
            next => {
                self.open.entry(hash).and_modify(|(first, _)| *first = next);
            }
        }
    }

    /// The key of a link that ends in lane number `lane`.
    #[inline]
    pub(crate) fn end(&mut self, side: &mut Writing, place: Place, lane: u32, key: &[u8]) {
        let lane = lane as usize;
        if self.told.len() <= lane {
            self.told.resize(lane + 1, [0; TELLING]);
        }
        let told = self.told[lane];
        let queue = |how: usize| told.get(how).map_or(0, |place| *place as usize);
        let (mut how, mut index) = (SPELT, 0);
        let hash = hash(key);
        if let Some(link) = self.opener(hash, key) {
            // As the last one was found, unless fewer come before it in another way.
            let mut most = NEAR;
            let ways = [1, 0, ANY].into_iter().filter(|way| *way != self.how);
            for way in std::iter::once(self.how).chain(ways) {
                // Of all that wait, most that come before one have nothing to do with it.
                if way == ANY && how != SPELT {
                    continue;
                }
                let (place, places) = (queue(way), self.links[link as usize].places);
                let waits = place == 0 || places.get(way).is_some_and(|it| *it as usize == place);
                if most > 0
                    && waits
                    && let Some(found) = self.waiting.queues[place].find(&self.ended, link, most)
                {
                    (how, index, most) = (way, found, found);
                }
            }
        }
        if !side.hit(column::AGAIN, how == self.how) {
            side.byte(column::HOW, how as u8);
        }
        if how == SPELT {
            self.spell(side, place, key);
            return;
        }
        self.how = how;
        if !side.hit(column::FIRST + how, index == 0) {
            side.number(column::WHICH + how * NUMBER, index as u64);
        }
        let queue = &mut self.waiting.queues[queue(how)];
        let Some(at) = queue.place(index, &self.ended) else { return };
        let link = queue.links[at];
        self.ended[link as usize] = true;
        self.told[lane] = self.links[link as usize].places;
        self.closed(hash, link);
    }

    /// A key, part by part; those that tell.
    #[inline]
    fn spell(&mut self, side: &mut Writing, place: Place, key: &[u8]) -> [Option<Value>; TELLING] {
        let mut telling = [None; TELLING];
        let mut ends = [0; PARTS];
        let count = parts(key, &mut ends);
        side.byte(column::PARTS, count as u8);
        let mut start = 0;
        for part in 0..count {
            let text = &key[start..ends[part]];
            start = ends[part] + 1;
            let (slot, field) = (place.slot + part as u32, place.field + part as u32);
            let place = Place { slot, field };
            let value = self.fields.value(side, place, text, &mut Out::default());
            if let Some(telling) = telling.get_mut(part) {
                *telling = Some(value);
            }
        }
        telling
    }
}
