//! The keys of links that are written.

use std::ops::Range;

use super::{ANY, JOINT, NEAR, NONE, Queue, SPELT, TELLING, column};
use crate::coder::{NUMBER, Side, Writing};
use crate::fields::{FieldsOut, PARTS, Place};
use crate::texts::{Key, SHORT, Texts, hash, word_at};
use crate::value::bytes_of;

/// A link that has begun.
struct Link {
    /// Where its key is in the text.
    key: (u32, u32),
    /// The next one whose key has the same hash, or [`NONE`].
    next: u32,
    places: [u32; TELLING],
}

/// Parts of keys that are at hand before others are looked for.
const AT_HAND: usize = 1 << 8;

/// Places of queues, by what one of the parts is.
struct Parts {
    /// Short parts that were asked for lately.
    at_hand: Vec<(Key, u32)>,
    texts: Texts,
    /// By the number of the text.
    places: Vec<u32>,
}

impl Default for Parts {
    fn default() -> Self {
        // The queue of all links, which is that of no part.
        let at_hand = vec![(Key::of(b""), 0); AT_HAND];
        Parts { at_hand, texts: Texts::default(), places: Vec::new() }
    }
}

impl Parts {
    /// Place of the queue of a part; a new one is made if there is none.
    #[inline]
    fn place(&mut self, text: &[u8], range: Range<usize>, queues: &mut Vec<Queue>) -> u32 {
        let len = range.len();
        if len > SHORT {
            return self.look(&text[range], queues);
        }
        let key = Key::short(word_at(text, range.start, len), len);
        let near = (key.spread() >> 56) as usize % AT_HAND;
        let (other, place) = self.at_hand[near];
        if other == key && place > 0 {
            return place;
        }
        let place = self.look(&text[range], queues);
        self.at_hand[near] = (key, place);
        place
    }

    #[inline(never)]
    fn look(&mut self, part: &[u8], queues: &mut Vec<Queue>) -> u32 {
        let number = self.texts.put(part) as usize;
        if number == self.places.len() {
            self.places.push(queues.len() as u32);
            queues.push(Queue::default());
        }
        self.places[number]
    }
}

/// Open links by the hashes of their keys. Those that have ended are passed over when they are come upon.
#[derive(Default)]
struct Open {
    /// Hash, and the first and the last link that may be open, or [`NONE`]. Their number is a power of two, or none; half of them have
    /// no last one.
    places: Vec<(u64, u32, u32)>,
    filled: usize,
    /// Number of links that stand here.
    links: u32,
}

impl Open {
    /// Where a hash stands, or is to stand.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        let most = self.places.len() - 1;
        let mut at = hash as usize & most;
        while self.places[at].2 != NONE && self.places[at].0 != hash {
            at = (at + 1) & most;
        }
        at
    }

    /// Takes in the links that have begun since.
    fn complete(&mut self, links: &mut [Link], text: &[u8]) {
        for link in self.links..links.len() as u32 {
            if 2 * self.filled >= self.places.len() {
                self.grow();
            }
            let hash = hash(key(&links[link as usize], text));
            let at = self.place(hash);
            let (of, first, last) = &mut self.places[at];
            if *last == NONE {
                self.filled += 1;
            } else {
                links[*last as usize].next = link;
            }
            (*of, *last) = (hash, link);
            if *first == NONE {
                *first = link;
            }
        }
        self.links = links.len() as u32;
    }

    #[cold]
    fn grow(&mut self) {
        let count = (4 * self.filled).next_power_of_two().max(1 << 10);
        let before = std::mem::replace(&mut self.places, vec![(0, NONE, NONE); count]);
        for place in before.into_iter().filter(|(_, _, last)| *last != NONE) {
            let at = self.place(place.0);
            self.places[at] = place;
        }
    }

    /// The first open link with this hash.
    fn first(&mut self, hash: u64, links: &[Link], ended: &[bool]) -> Option<u32> {
        if self.places.is_empty() {
            return None;
        }
        let at = self.place(hash);
        let (_, first, _) = &mut self.places[at];
        while *first != NONE && ended[*first as usize] {
            *first = links[*first as usize].next;
        }
        (*first != NONE).then_some(*first)
    }
}

fn key<'t>(link: &Link, text: &'t [u8]) -> &'t [u8] {
    &text[link.key.0 as usize..link.key.1 as usize]
}

/// Two texts are the same, which are mostly short.
#[inline]
fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let ends = |text: &[u8]| Some((*text.first_chunk::<8>()?, *text.last_chunk::<8>()?));
    match (ends(one), ends(other)) {
        (Some(one_ends), Some(other_ends)) if one.len() <= 16 => one_ends == other_ends,
        _ => one == other,
    }
}

/// Keys that are written.
pub(crate) struct KeysOut {
    pub(crate) fields: FieldsOut,
    links: Vec<Link>,
    ended: Vec<bool>,
    /// Where links wait for their ends; the first is that of all links.
    queues: Vec<Queue>,
    parts: [Parts; TELLING],
    open: Open,
    /// For each lane, where those wait that have the same parts as the last that ended there.
    told: Vec<[u32; TELLING]>,
    /// Way in which the last end was found.
    how: usize,
}

/// Cuts a key into parts, by where they end; how many there are.
#[inline]
fn cut(text: &[u8], Range { start, end }: Range<usize>, ends: &mut [usize; PARTS]) -> usize {
    let (mut from, mut count) = (start, 0);
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
    count + 1
}

impl KeysOut {
    pub(crate) fn new(fields: FieldsOut) -> Self {
        KeysOut {
            fields,
            links: Vec::new(),
            ended: Vec::new(),
            queues: vec![Queue::default()],
            parts: Default::default(),
            open: Open::default(),
            told: Vec::new(),
            how: ANY,
        }
    }

    /// The key of a link that begins, whose parts have places from one on.
    pub(crate) fn start(
        &mut self,
        side: &mut Writing,
        place: Place,
        text: &[u8],
        range: Range<usize>,
    ) {
        let (count, ends) = self.spell(side, place, text, range.clone());
        let link = self.links.len() as u32;
        let mut places = [0; TELLING];
        self.queues[0].links.push(link);
        let mut start = range.start;
        let parts = self.parts.iter_mut().zip(&mut places).zip(ends);
        for ((part, place), end) in parts.take(count) {
            *place = part.place(text, start..end, &mut self.queues);
            self.queues[*place as usize].links.push(link);
            start = end + 1;
        }
        let key = (range.start as u32, range.end as u32);
        self.links.push(Link { key, next: NONE, places });
        self.ended.push(false);
    }

    /// The key of a link that ends in lane number `lane`.
    pub(crate) fn end(
        &mut self,
        side: &mut Writing,
        (place, lane): (Place, u32),
        text: &[u8],
        range: Range<usize>,
    ) {
        let lane = lane as usize;
        if self.told.len() <= lane {
            self.told.resize(lane + 1, [0; TELLING]);
        }
        let told = self.told[lane];
        let queue = |how: usize| told.get(how).map_or(0, |place| *place as usize);
        // Mostly, it is the first one that waits where the last one did. Those with the same key all wait there.
        let next = self.queues[queue(self.how)].next(&self.ended);
        let is_next =
            |link: &u32| same(key(&self.links[*link as usize], text), &text[range.clone()]);
        if let Some(link) = next.filter(is_next) {
            side.hit(column::AGAIN, true);
            side.hit(column::FIRST + self.how, true);
            self.close(lane, link);
            return;
        }
        let (link, found) = self.find(&text[range.clone()], text, queue);
        let Some((how, index)) = found else {
            side.hit(column::AGAIN, false);
            side.byte(column::HOW, SPELT as u8);
            self.spell(side, place, text, range);
            return;
        };
        if !side.hit(column::AGAIN, how == self.how) {
            side.byte(column::HOW, how as u8);
        }
        self.how = how;
        if !side.hit(column::FIRST + how, index == 0) {
            side.number(column::WHICH + how * NUMBER, index as u64);
        }
        // Those before it come to stand together.
        self.queues[queue(how)].place(index, &self.ended);
        self.close(lane, link);
    }

    /// A link ends in this lane.
    #[inline]
    fn close(&mut self, lane: usize, link: u32) {
        self.ended[link as usize] = true;
        self.told[lane] = self.links[link as usize].places;
    }

    /// The number of the first open link with a key, or [`NONE`]; and if it is near, how it is found, and the how many-th it is there. One
    /// whose key has the hash of another's may not be found.
    #[inline(never)]
    fn find(
        &mut self,
        of: &[u8],
        text: &[u8],
        queue: impl Fn(usize) -> usize,
    ) -> (u32, Option<(usize, usize)>) {
        self.open.complete(&mut self.links, text);
        let first = self.open.first(hash(of), &self.links, &self.ended);
        let is_same = |link: &u32| key(&self.links[*link as usize], text) == of;
        let Some(link) = first.filter(is_same) else { return (NONE, None) };
        let Link { places, .. } = self.links[link as usize];
        // As the last one was found, unless fewer come before it in another way.
        let (mut way_found, mut most) = (None, NEAR);
        let ways = [1, 0, ANY].into_iter().filter(|way| *way != self.how);
        for way in std::iter::once(self.how).chain(ways) {
            // Of all that wait, most that come before one have nothing to do with it.
            if way == ANY && way_found.is_some() {
                continue;
            }
            let place = queue(way);
            let waits = place == 0 || places.get(way).is_some_and(|it| *it as usize == place);
            if most > 0
                && waits
                && let Some(index) = self.queues[place].find(&self.ended, link, most)
            {
                (way_found, most) = (Some((way, index)), index);
            }
        }
        (link, way_found)
    }

    /// A key, part by part; how many there are, and where they end.
    #[inline]
    fn spell(
        &mut self,
        side: &mut Writing,
        place: Place,
        text: &[u8],
        range: Range<usize>,
    ) -> (usize, [usize; PARTS]) {
        let mut ends = [0; PARTS];
        let mut start = range.start;
        let count = cut(text, range, &mut ends);
        side.byte(column::PARTS, count as u8);
        for (part, end) in (0..).zip(&ends[..count]) {
            let place = Place { slot: place.slot + part, field: place.field + part };
            self.fields.value(place, text, start..*end);
            start = end + 1;
        }
        (count, ends)
    }
}
