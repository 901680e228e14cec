//! Links whose two events a block tells apart from all others by number, while the block is replayed.
//!
//! Such a link needs no look-up by its key. What is replayed by key has to find it: so where a key may be that of one that waits here, all
//! of these are put to the other open links.

use crate::lanes::links::filter::FilterRoom;
use crate::lanes::links::open::{NONE, OpenLink, OpenLinks};
use crate::lanes::links::{HalfLink, Keeper, KeyMemory, LinkStrand, Opened, WrittenKey, complete};
use crate::lanes::refusal::Refused;
use crate::memory::{KeyPlace, KeyRoom, NewLink};

/// Number of a link that waits for its end, among those of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PairNumber(pub(crate) u32);

impl PairNumber {
    /// In place of a number: it is not known.
    pub(crate) const NONE: PairNumber = PairNumber(u32::MAX);
}

/// Links that wait for the end that has their number, of one strand and block.
#[derive(Debug)]
pub(crate) struct Pairs {
    /// In no order; each that waits has its number in place of the next one of a chain.
    links: Vec<OpenLink>,
    /// The first free place.
    free: u32,
    /// Of each number, the place behind that of its link, and 0 if none waits.
    places: Vec<u32>,
    /// Number of keys that may still be looked for here.
    searches: usize,
}

/// Keys of a block that are looked for among those that wait, one after the other. The filter of keys is wrong once in a thousand times.
const SEARCHES: usize = 64;

impl Default for Pairs {
    fn default() -> Self {
        Pairs { links: Vec::new(), free: NONE, places: Vec::new(), searches: 0 }
    }
}

impl Pairs {
    /// The block that is replayed next has so many numbers.
    pub(crate) fn begin(&mut self, numbers: usize) {
        self.searches = SEARCHES;
        if self.places.len() < numbers {
            self.places.resize(numbers, 0);
        }
    }

    /// A link waits for its end; the number must be one of the block.
    #[inline(always)]
    fn put(&mut self, PairNumber(number): PairNumber, link: OpenLink) {
        let Some(place) = self.places.get_mut(number as usize) else { return };
        let link = link.waiting_as(number);
        match self.links.get_mut(self.free as usize) {
            Some(to) => {
                *place = self.free + 1;
                self.free = to.next();
                *to = link;
            }
            None => {
                self.links.push(link);
                *place = self.links.len() as u32;
            }
        }
    }

    /// Takes out the link with a number, if it waits and has this value.
    #[inline(always)]
    fn take(&mut self, PairNumber(number): PairNumber, half: &HalfLink) -> Option<&OpenLink> {
        let place = self.places.get_mut(number as usize)?;
        let index = place.wrapping_sub(1);
        let link = self.links.get_mut(index as usize)?;
        if link.half().value != half.value {
            return None;
        }
        *place = 0;
        link.release(self.free);
        self.free = index;
        Some(link)
    }

    /// Tells whether one that waits may have a key with this hash.
    #[cold]
    #[inline(never)]
    fn may_have(&mut self, hash: u64) -> bool {
        self.searches = self.searches.saturating_sub(1);
        self.searches == 0 || self.links.iter().any(|link| !link.is_free() && link.has_hash(hash))
    }

    /// Puts all that wait to the other open links.
    #[cold]
    #[inline(never)]
    fn move_to(&mut self, open: &mut OpenLinks) {
        for link in self.links.drain(..).filter(|link| !link.is_free()) {
            self.places[link.next() as usize] = 0;
            open.insert(link);
        }
        self.free = NONE;
    }
}

/// A strand while links are added, most of which are new or wait for their ends.
pub(crate) struct PairRoom<'a> {
    filter: FilterRoom<'a>,
    open: &'a mut OpenLinks,
    pairs: &'a mut Pairs,
    keys: KeyRoom<'a>,
    shard: u8,
}

impl PairRoom<'_> {
    /// Begins a link with a new key and a number of its own, by an event at this byte; whether it did.
    #[inline(always)]
    pub(crate) fn begin(
        &mut self,
        half: HalfLink,
        number: PairNumber,
        key: WrittenKey<'_>,
        at: u64,
    ) -> bool {
        let Some(place) = self.keys.keep(key) else { return false };
        if !self.filter.add_new(key.hash) {
            return false;
        }
        let place = KeyPlace::new(self.shard, place, key.hash as u32);
        self.pairs.put(number, OpenLink::new((key.hash, *key.short), half, place, at));
        true
    }

    /// The link that waits for this end, if one does.
    #[inline(always)]
    pub(crate) fn end<'k>(
        &mut self,
        number: PairNumber,
        half: HalfLink,
        key: impl FnOnce() -> WrittenKey<'k>,
    ) -> Option<NewLink> {
        if let Some(open) = self.pairs.take(number, &half) {
            return Some(complete(open, half));
        }
        let WrittenKey { short, hash, .. } = key();
        let slot = self.open.find(hash, short, |_| false)?;
        let other = self.open.get(slot).half();
        let fits = other.end != half.end && other.value == half.value;
        fits.then(|| complete(self.open.remove(slot), half))
    }
}

impl LinkStrand {
    /// Tells whether links may be matched by numbers: all keys are remembered, and so it is known of most that they are new.
    pub(crate) fn matches_pairs(&self) -> bool {
        self.keys == KeyMemory::Keys
    }

    /// Looks at what adding keys with these hashes will need.
    pub(crate) fn touch(&self, is_far: bool, hashes: impl Iterator<Item = u64> + Clone) {
        if is_far || self.filter.is_large() {
            self.filter.touch(is_far, hashes);
        }
    }

    /// The strand, if keys are looked up fast enough.
    #[inline(always)]
    pub(crate) fn room<'a>(
        &'a mut self,
        pairs: &'a mut Pairs,
        (keys, shard): (KeyRoom<'a>, u8),
    ) -> Option<PairRoom<'a>> {
        let LinkStrand { filter, open, .. } = self;
        filter.room().map(|filter| PairRoom { filter, open, pairs, keys, shard })
    }

    /// The same as [`LinkStrand::add`], for what there is no [room](LinkStrand::room) for. What is opened is remembered at once.
    #[inline(never)]
    pub(crate) fn add_pair(
        &mut self,
        (keys, shard): (&mut impl Keeper, u8),
        half: HalfLink,
        written: WrittenKey<'_>,
        at: u64,
        (pairs, opened): (&mut Pairs, &mut Vec<Opened>),
        completed: impl FnOnce(NewLink),
    ) -> Result<bool, Refused> {
        let is = |open: &OpenLink| keys.has_at(written, open.key.place());
        let is_open = self.open.find(written.hash, written.short, is).is_some();
        if !is_open && pairs.may_have(written.hash) {
            pairs.move_to(&mut self.open);
        }
        let added = self.add((keys, shard), half, written, at, opened, completed);
        self.remember(false, opened);
        added
    }

    /// Links whose ends were not in the block that was replayed last are open as all others.
    pub(crate) fn leave_open(&mut self, pairs: &mut Pairs) {
        pairs.move_to(&mut self.open);
    }
}
