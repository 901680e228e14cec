//! Keys of links: those that begin by rule, those that end by those that began.

use crate::coder::NUMBER;

mod read;
mod waiting;
mod write;

pub(crate) use read::KeysIn;
pub(crate) use write::KeysOut;

/// Parts of a key that may say where the link ends: the first ones.
const TELLING: usize = 2;
/// Of links that wait for their ends, those that are looked at.
const NEAR: usize = 64;
/// Byte between parts of keys.
const JOINT: u8 = b'_';
/// Ways to find the end of a link: by one of the parts that tell; among all that wait; not at all.
const ANY: usize = TELLING;
const SPELT: usize = TELLING + 1;

/// No link has this number.
pub(crate) const NONE: u32 = u32::MAX;

/// Links that wait for their ends, the older ones first.
#[derive(Default)]
struct Queue {
    links: Vec<u32>,
    /// Those before it have ended.
    first: usize,
}

impl Queue {
    /// No link waits.
    fn clear(&mut self) {
        self.links.clear();
        self.first = 0;
    }

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

    /// The first link that has not ended.
    #[inline]
    fn next(&mut self, ended: &[bool]) -> Option<u32> {
        loop {
            let link = *self.links.get(self.first)?;
            if !ended[link as usize] {
                return Some(link);
            }
            self.first += 1;
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
