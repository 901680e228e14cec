use paje_parser::number::{self, ENDING, LINE_START, LineWindow, Shape};

/// Reads times of usual lines. Most times have the same shape as the previous time.
#[derive(Debug, Default)]
pub(super) struct Times {
    shape: Shape,
    /// How many times with another shape were read since `shape` was set.
    others: u32,
}

impl Times {
    /// Value of `others` at which the shape is replaced.
    const PATIENCE: u32 = 16;

    /// Reads the time at `start..end`, counted from the start of the line. Returns `None` if it is invalid.
    #[inline(always)]
    pub(super) fn read(&mut self, window: &LineWindow, start: usize, end: usize) -> Option<f64> {
        let ending = window[LINE_START - ENDING + (end & 63)..].first_chunk();
        match self.shape.read(ending.expect("in the window"), end.wrapping_sub(start)) {
            Some(time) => Some(time),
            None => Some(self.other(window, start, end)).filter(|time| !time.is_nan()),
        }
    }

    /// Reads a time of another shape. Returns NaN if it is invalid, because the result then needs only one register.
    /// The function is not inlined, so that the values of the caller's loop stay in registers.
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
