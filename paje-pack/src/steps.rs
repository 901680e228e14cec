//! Numbers of steps, which are actions in lanes.

use rustc_hash::FxHashMap;

use crate::lines::Line;

const AT_HAND: usize = 1 << 10;

/// Assigns numbers to steps in the order of their first lines.
pub(crate) struct Steps {
    /// A cache, with the lane, the action and the number of each step.
    at_hand: Vec<(u32, u32, u32)>,
    numbers: FxHashMap<(u32, u32), u32>,
}

impl Default for Steps {
    fn default() -> Self {
        // No line has this lane number.
        Steps { at_hand: vec![(u32::MAX, 0, 0); AT_HAND], numbers: FxHashMap::default() }
    }
}

impl Steps {
    /// Returns the number of a line's step, if it is known.
    #[inline]
    pub(crate) fn find(&mut self, line: Line) -> Option<u32> {
        let Line { lane, action } = line;
        let place = (lane.wrapping_mul(0x9e37_79b1) >> 22 ^ action) as usize % AT_HAND;
        let known = self.at_hand[place];
        if (lane, action) == (known.0, known.1) {
            return Some(known.2);
        }
        let number = *self.numbers.get(&(lane, action))?;
        self.at_hand[place] = (lane, action, number);
        Some(number)
    }

    /// Returns the number of a line's step. A new step gets the next number.
    #[inline]
    pub(crate) fn number(&mut self, line: Line) -> u32 {
        self.find(line).unwrap_or_else(|| {
            let next = self.numbers.len() as u32;
            self.numbers.insert((line.lane, line.action), next);
            next
        })
    }
}
