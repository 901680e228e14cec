//! Numbers of values.

use rustc_hash::FxHashMap;

use crate::value::{Kind, Value};

/// Values that are at hand before others are looked for.
const AT_HAND: usize = 1 << 10;

/// No value has this number.
const NONE: u32 = u32::MAX;

/// A value, and what it is a value of.
type Owned = (u32, Value);

/// Numbers of values, of which the same ones come again and again.
#[derive(Default)]
pub(crate) struct Known {
    /// Those asked for lately; none before the first is.
    at_hand: Vec<(Owned, u32)>,
    all: FxHashMap<Owned, u32>,
}

impl Known {
    /// The number of a value: `next` if it is new.
    #[inline]
    pub(crate) fn number(&mut self, value: Owned, next: u32) -> u32 {
        let (of, Value { kind, bits }) = value;
        let kind = match kind {
            Kind::Decimal(after) => u64::from(after),
            Kind::Text => 32,
            Kind::Hex => 33,
        };
        let mixed = bits ^ u64::from(of) << 40 ^ kind << 58;
        let place = (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize % AT_HAND;
        match self.at_hand.get(place) {
            Some((other, number)) if *other == value && *number != NONE => *number,
            _ => self.look(value, next, place),
        }
    }

    #[inline(never)]
    fn look(&mut self, value: Owned, next: u32, place: usize) -> u32 {
        self.at_hand.resize(AT_HAND, ((0, Value::default()), NONE));
        let number = *self.all.entry(value).or_insert(next);
        self.at_hand[place] = (value, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each value has the number that it was first given, whatever else has its place.
    #[test]
    fn values_keep_their_numbers() {
        let (mut known, mut all) = (Known::default(), std::collections::HashMap::new());
        for round in 0..5_000_u64 {
            let bits = round * round % 1_777;
            let kind = match round % 3 {
                0 => Kind::Text,
                1 => Kind::Hex,
                _ => Kind::Decimal((round % 19) as u8),
            };
            let value = ((round % 5) as u32, Value { kind, bits });
            let next = all.len() as u32;
            assert_eq!(known.number(value, next), *all.entry(value).or_insert(next));
        }
        assert!(all.len() > 2 * AT_HAND);
    }
}
