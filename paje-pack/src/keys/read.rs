//! The keys of links that are read.

use std::cell::RefCell;

use super::waiting::Waiting;
use super::{ANY, JOINT, NEAR, SPELT, TELLING, column};
use crate::coder::{NUMBER, Reading, Side};
use crate::fields::{FieldsIn, PARTS, Part, Place};
use crate::out::Out;
use crate::value::Value;
use paje_parser::columns::Linked;

/// A link that has begun.
struct Begun {
    key: KeyAt,
    places: [u32; TELLING],
}

/// The key of a link: where it begins in what has been written, and its bytes.
#[derive(Clone, Copy)]
struct KeyAt {
    from: u32,
    len: u32,
}

/// Links of a segment, as far as they have been read.
#[derive(Default)]
struct Links {
    begun: Vec<Begun>,
    ended: Vec<bool>,
    waiting: Waiting,
    /// For each lane, where those wait that have the same parts as the last that ended there.
    told: Vec<[u32; TELLING]>,
}

impl Links {
    /// There are none so far.
    fn clear(&mut self) {
        self.begun.clear();
        self.ended.clear();
        self.waiting.clear();
        self.told.clear();
    }
}

thread_local! {
    /// Memory of the links of the segment before: most have as many.
    static LINKS: RefCell<Links> = RefCell::default();
}

/// Keys that are read. Those of links that end are copied from where they stand.
pub(crate) struct KeysIn {
    pub(crate) fields: FieldsIn,
    links: Links,
    /// Ways in which ends are found, of those by a part that tells: for others, no links wait.
    ways: [bool; TELLING],
    /// The parts that tell, of the last key that was spelt.
    telling: [(Part, Value); TELLING],
    /// Way in which the last end was found.
    how: usize,
}

impl Drop for KeysIn {
    fn drop(&mut self) {
        // A thread that ends keeps nothing.
        let _ = LINKS.try_with(|kept| kept.replace(std::mem::take(&mut self.links)));
    }
}

impl KeysIn {
    /// Those of a stream, with its fields.
    pub(crate) fn new(side: &Reading<'_>, fields: FieldsIn) -> KeysIn {
        let used = side.all(column::HOW);
        let mut links = LINKS.take();
        links.clear();
        KeysIn {
            fields,
            links,
            ways: std::array::from_fn(|way| used.contains(&(way as u8))),
            telling: Default::default(),
            how: ANY,
        }
    }

    /// The key of the next link that begins, whose parts have places from one on; the link's number.
    #[inline(never)]
    pub(crate) fn start(&mut self, side: &mut Reading<'_>, place: Place, out: &mut Out) -> u32 {
        let from = out.len();
        let count = self.spell(side, place, out);
        let link = self.links.begun.len() as u32;
        let mut places = [0; TELLING];
        for (how, place) in places.iter_mut().enumerate().take(count) {
            if self.ways[how] {
                *place = self.links.waiting.place_of(how, &self.telling[how]);
                self.links.waiting.queues[*place as usize].links.push(link);
            }
        }
        let key = KeyAt { from: from as u32, len: (out.len() - from) as u32 };
        self.links.begun.push(Begun { key, places });
        self.links.ended.push(false);
        link
    }

    /// The same of a line that is passed over, but for this key.
    #[inline]
    pub(crate) fn begun(&mut self, side: &mut Reading<'_>, place: Place, out: &mut Out) -> Linked {
        let at = out.len() as u32;
        let link = self.start(side, place, out);
        Linked { link, key_at: (at, out.len() as u32), at }
    }

    /// The link that ends in lane number `lane`, by such a line. Its key is written if it is spelt.
    #[inline]
    pub(crate) fn ended(
        &mut self,
        side: &mut Reading<'_>,
        place: Place,
        lane: u32,
        out: &mut Out,
    ) -> Linked {
        let at = out.len() as u32;
        match self.ending(side, place, lane, out) {
            Some((link, KeyAt { from, len })) => {
                out.pass(len as usize);
                Linked { link, key_at: (from, from.wrapping_add(len)), at }
            }
            None => Linked { link: Linked::NONE, key_at: (at, out.len() as u32), at },
        }
    }

    /// The key of a link that ends in lane number `lane`, and the number of that link.
    #[inline]
    pub(crate) fn end(
        &mut self,
        side: &mut Reading<'_>,
        place: Place,
        lane: u32,
        out: &mut Out,
    ) -> Option<u32> {
        let (link, key) = self.ending(side, place, lane, out)?;
        out.repeat(key.from as usize, key.len as usize);
        Some(link)
    }

    /// The number of the link that ends in lane number `lane`, and its key, which is not written; none if that is spelt,
    /// and thus written.
    #[inline]
    fn ending(
        &mut self,
        side: &mut Reading<'_>,
        place: Place,
        lane: u32,
        out: &mut Out,
    ) -> Option<(u32, KeyAt)> {
        let lane = lane as usize;
        if self.links.told.len() <= lane {
            self.links.told.resize(lane + 1, [0; TELLING]);
        }
        let how = match side.hit(column::AGAIN, false) {
            true => self.how,
            false => side.byte(column::HOW, 0).into(),
        };
        if how == SPELT {
            self.spelt(side, place, out);
            return None;
        }
        if how > ANY {
            side.fail();
            return None;
        }
        self.how = how;
        let index = match side.hit(column::FIRST + how, false) {
            true => 0,
            false => side.number(column::WHICH + how * NUMBER, 0).min(NEAR as u64) as usize,
        };
        let Links { begun, ended, waiting, told } = &mut self.links;
        let number = told[lane].get(how).map_or(0, |place| *place as usize);
        let queue = &mut waiting.queues[number];
        if number == 0 {
            // All wait there; few are ever looked for.
            queue.links.extend(queue.links.len() as u32..begun.len() as u32);
        }
        let at = match index {
            0 => queue.first(ended),
            _ => queue.place(index, ended),
        };
        let Some(at) = at else {
            side.fail();
            return None;
        };
        let link = queue.links[at];
        ended[link as usize] = true;
        let Begun { key, places } = begun[link as usize];
        told[lane] = places;
        Some((link, key))
    }

    /// The key of a link that ends and that nobody has begun here.
    #[cold]
    #[inline(never)]
    fn spelt(&mut self, side: &mut Reading<'_>, place: Place, out: &mut Out) {
        self.spell(side, place, out);
    }

    /// A key, part by part, of which those that tell are noted; how many there are.
    #[inline(always)]
    fn spell(&mut self, side: &mut Reading<'_>, place: Place, out: &mut Out) -> usize {
        let count = u32::from(side.byte(column::PARTS, 0));
        if count == 0 || count > PARTS as u32 {
            side.fail();
            return 0;
        }
        self.fields.parts(side, place, count, JOINT, out, &mut self.telling);
        count as usize
    }
}
