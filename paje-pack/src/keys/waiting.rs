//! Where links wait for their ends, of which the keys are read.

use rustc_hash::FxHashMap;

use super::{Queue, TELLING};
use crate::fields::{Part, SMALL};
use crate::value::{Kind, Value};

/// Queues of links, by what the parts of their keys are that tell.
pub(super) struct Waiting {
    /// Places in `queues`; the first is that of all links, and so in place of none.
    places: FxHashMap<(usize, Value), u32>,
    /// The same of parts that are small whole numbers.
    near: [Vec<u32>; TELLING],
    pub(super) queues: Vec<Queue>,
    /// Number of queues that are used; the others are left from segments before.
    used: usize,
}

impl Default for Waiting {
    fn default() -> Self {
        let (places, near) = (FxHashMap::default(), Default::default());
        Waiting { places, near, queues: vec![Queue::default()], used: 1 }
    }
}

impl Waiting {
    /// No link waits.
    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.near.iter_mut().for_each(|known| known.fill(0));
        self.queues[..self.used].iter_mut().for_each(Queue::clear);
        self.used = 1;
    }

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
            *known = self.used as u32;
            if self.used == self.queues.len() {
                self.queues.push(Queue::default());
            }
            self.used += 1;
        }
        *known
    }

    /// The same by a part that may be a small number.
    #[inline(always)]
    pub(super) fn place_of(&mut self, how: usize, (small, part): &(Part, Value)) -> u32 {
        let Some(small) = *small else { return self.place(how, *part) };
        match self.near[how].get(usize::from(small)) {
            Some(known) if *known > 0 => *known,
            _ => self.place(how, Value { kind: Kind::Decimal(0), bits: small.into() }),
        }
    }
}
