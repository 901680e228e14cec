//! Positions and fields of the holes of actions.

use rustc_hash::FxHashMap;

use crate::fields::Place;
use crate::lines::holes;

pub(crate) struct Pattern {
    pub(crate) holes: Vec<(u32, u8)>,
    /// Kinds and numbers of the holes, except for the hole of the lane.
    pub(crate) others: Vec<(u8, u32)>,
    /// Number of the field of the first hole. Actions of the same event with the same number of
    /// holes share their fields.
    field: u32,
}

impl Pattern {
    /// Returns the slot and the field of hole `number`. `slots` is the next free slot.
    #[inline]
    pub(crate) const fn place(&self, hole: u8, number: u32, slots: &mut u32) -> Place {
        let slot = *slots;
        *slots += (hole >= holes::START) as u32;
        Place { slot, field: self.field.wrapping_add(number) }
    }
}

pub(crate) struct Patterns {
    /// First field of each pair of an event and a number of holes.
    fields: FxHashMap<Box<[u8]>, u32>,
    patterns: Vec<Pattern>,
    next_field: u32,
}

impl Default for Patterns {
    fn default() -> Self {
        // Raw lines have no holes.
        let raw = Pattern { holes: Vec::new(), others: Vec::new(), field: 0 };
        Patterns { fields: FxHashMap::default(), patterns: vec![raw], next_field: 0 }
    }
}

impl Patterns {
    pub(crate) const fn len(&self) -> usize {
        self.patterns.len()
    }

    #[inline]
    pub(crate) fn get(&self, action: u32) -> &Pattern {
        &self.patterns[action as usize]
    }

    #[cold]
    pub(crate) fn learn(&mut self, text: &[u8]) {
        let is_hole = |byte: &u8| (holes::LANE..=holes::VALUE).contains(byte);
        let places = text.iter().enumerate().filter(|(_, byte)| is_hole(byte));
        let holes: Vec<_> = places.map(|(place, byte)| (place as u32, *byte)).collect();
        let code = text.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
        let count = holes.len() as u32;
        let name = [code, &count.to_be_bytes()].concat();
        let next = self.next_field;
        let field = *self.fields.entry(name.into()).or_insert(next);
        if field == next {
            self.next_field += count;
        }
        let others = holes.iter().zip(0..).filter(|((_, hole), _)| *hole != holes::LANE);
        let others = others.map(|((_, hole), number)| (*hole, number)).collect();
        self.patterns.push(Pattern { holes, others, field });
    }
}
