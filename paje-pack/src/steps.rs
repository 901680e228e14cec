//! Numbers of steps, which are actions in lanes.

use rustc_hash::FxHashMap;

use crate::lines::Line;

/// Size of the cache of steps.
const AT_HAND: usize = 1 << 10;

/// Numbers of steps, in the order of their first lines.
pub(crate) struct Steps {
    /// A cache: lanes, actions and numbers of steps.
    at_hand: Vec<(u32, u32, u32)>,
    numbers: FxHashMap<(u32, u32), u32>,
}

impl Default for Steps {
    fn default() -> Self {
        // No line has this lane.
        Steps { at_hand: vec![(u32::MAX, 0, 0); AT_HAND], numbers: FxHashMap::default() }
    }
}

impl Steps {
    /// Returns the number of a line's step: the number of known steps if it is new.
    #[inline]
    pub(crate) fn number(&mut self, line: Line) -> u32 {
        let place = (line.lane.wrapping_mul(0x9e37_79b1) >> 22 ^ line.action) as usize % AT_HAND;
        let (lane, action, number) = self.at_hand[place];
        if (lane, action) == (line.lane, line.action) {
            return number;
        }
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry((line.lane, line.action)).or_insert(next);
        self.at_hand[place] = (line.lane, line.action, number);
        number
    }
}
