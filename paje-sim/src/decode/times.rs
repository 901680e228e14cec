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

    /// The time between two places of a line, counted from where it begins, if it is short and plain.
    #[inline(always)]
    pub(super) fn plain(&mut self, window: &LineWindow, start: usize, end: usize) -> Option<f64> {
        let ending = window[LINE_START - ENDING + (end & 63)..].first_chunk();
        match self.shape.read(ending.expect("in the window"), end.wrapping_sub(start)) {
            Some(time) => Some(time),
            None => self.other(window, start, end),
        }
    }

    /// A time that is written otherwise.
    #[inline(always)]
    fn other(&mut self, window: &LineWindow, start: usize, end: usize) -> Option<f64> {
        if self.others.is_multiple_of(Times::PATIENCE) {
            self.learn(window, start, end);
        }
        self.others = self.others.wrapping_add(1);
        number::plain_f64(window, start, end)
    }

    #[cold]
    fn learn(&mut self, window: &LineWindow, start: usize, end: usize) {
        let ending = window[LINE_START - ENDING + (end & 63)..].first_chunk();
        self.shape = Shape::of(ending.expect("in the window"), end.wrapping_sub(start));
    }
}
