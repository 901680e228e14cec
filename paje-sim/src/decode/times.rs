//! Times of usual lines, most of which are written like the one before.

use paje_parser::number::{self, ENDING, LINE_START, LineWindow, Shape};

/// Reader of times, which knows how one of those before was written.
#[derive(Debug, Default)]
pub(super) struct Times {
    shape: Shape,
    /// Number of those that were written otherwise.
    others: u32,
}

impl Times {
    /// The first, and one in so many of those that are written otherwise is what the next ones are compared with.
    const PATIENCE: u32 = 16;

    /// The time between two places of a line, counted from where it begins, if it is one.
    #[inline(always)]
    pub(super) fn read(&mut self, window: &LineWindow, start: usize, end: usize) -> Option<f64> {
        let ending = window[LINE_START - ENDING + (end & 63)..].first_chunk();
        match self.shape.read(ending.expect("in the window"), end.wrapping_sub(start)) {
            Some(time) => Some(time),
            None => Some(self.other(window, start, end)).filter(|time| !time.is_nan()),
        }
    }

    /// A time that is written otherwise, or NaN, which takes one register. Out of the loop, which needs what it has in
    /// registers.
    #[inline(never)]
    fn other(&mut self, window: &LineWindow, start: usize, end: usize) -> f64 {
        if self.others.is_multiple_of(Times::PATIENCE) {
            self.learn(window, start, end);
        }
        self.others = self.others.wrapping_add(1);
        let time = number::plain_f64(window, start, end)
            .or_else(|| number::parse_time_at(window, LINE_START + start, LINE_START + end));
        time.unwrap_or(f64::NAN)
    }

    #[cold]
    fn learn(&mut self, window: &LineWindow, start: usize, end: usize) {
        let ending = window[LINE_START - ENDING + (end & 63)..].first_chunk();
        self.shape = Shape::of(ending.expect("in the window"), end.wrapping_sub(start));
    }
}
