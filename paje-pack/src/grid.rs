//! Steps by lane and action in one table.

use crate::lines::Line;

/// Maximum size of the table. Steps outside it are found in a hash map.
const MOST: usize = 1 << 16;

/// Stands for no step.
pub(crate) const NONE: u32 = u32::MAX;

/// Numbers of steps in a row per lane. Columns are actions; both are numbered from 1.
#[derive(Default)]
pub(crate) struct Grid {
    width: usize,
    steps: Vec<u32>,
}

impl Grid {
    /// Returns the step of a lane and an action, both numbered from 1, or [`NONE`].
    #[inline(always)]
    pub(crate) fn get(&self, lane: u64, action: u64) -> u32 {
        let (lane, action) = (lane as usize, action as usize);
        if action >= self.width {
            return NONE;
        }
        // No lane has a number so large that this place belongs to another lane.
        self.steps.get(lane.wrapping_mul(self.width).wrapping_add(action)).copied().unwrap_or(NONE)
    }

    /// Adds the step of a line, if there is room.
    #[cold]
    pub(crate) fn put(&mut self, line: Line, step: u32) {
        let (lane, action) = (line.lane as usize + 1, line.action as usize + 1);
        let rows = self.steps.len().checked_div(self.width).unwrap_or(0);
        if action >= self.width || lane >= rows {
            let width = if action < self.width { self.width } else { (2 * action).max(8) };
            let rows_now = if lane < rows { rows } else { (2 * lane).max(8) };
            if width.saturating_mul(rows_now) > MOST {
                return;
            }
            let mut steps = vec![NONE; width * rows_now];
            for (row, before) in self.steps.chunks(self.width.max(1)).enumerate() {
                steps[row * width..row * width + before.len()].copy_from_slice(before);
            }
            (self.width, self.steps) = (width, steps);
        }
        self.steps[lane * self.width + action] = step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps are found at their places only, and not if there is no room for them.
    #[test]
    fn steps_are_found_by_lane_and_action() {
        let mut grid = Grid::default();
        let lines = (0..300).map(|step| Line { lane: step * 7 % 90, action: step * step % 31 });
        let mut known = std::collections::HashMap::new();
        for (line, step) in lines.zip(0..) {
            grid.put(line, step);
            known.insert((line.lane, line.action), step);
            for lane in 0..100 {
                for action in 0..40 {
                    let found = grid.get(u64::from(lane) + 1, u64::from(action) + 1);
                    assert_eq!(found, known.get(&(lane, action)).copied().unwrap_or(NONE));
                }
            }
        }
        assert!((0..40).all(|code| grid.get(0, code) == NONE && grid.get(code, 0) == NONE));
        for line in [Line { lane: 1 << 20, action: 1 }, Line { lane: 1, action: 1 << 20 }] {
            grid.put(line, 5);
            assert_eq!(grid.get(u64::from(line.lane) + 1, u64::from(line.action) + 1), NONE);
        }
        assert_eq!(grid.get(u64::MAX, 3), NONE);
        assert_eq!(grid.get(3, u64::MAX), NONE);
    }
}
