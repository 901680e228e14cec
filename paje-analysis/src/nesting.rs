//! Nesting of states: a lane's states come in order of opening, and so each comes before those in it.
//!
//! In a portion of a trace, states that are still open have no end. The next portion has them again, and
//! first: so what was found of them is kept until then.

use std::convert::Infallible;

use paje_sim::{LaneView, States, TimeRange, ValueId, Visitor};

use crate::Seconds;
use crate::scope::part_in;

/// A state, with what is known of those directly in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nested {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) value: ValueId,
    imbrication: u32,
    inner: Inner,
}

/// States that began directly in another: the sum of their durations, and when the first of them did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inner {
    pub(crate) sum: Seconds,
    pub(crate) first: f64,
}

impl Default for Inner {
    fn default() -> Self {
        Inner { sum: Seconds::ZERO, first: f64::INFINITY }
    }
}

impl Inner {
    /// Others began in the same state.
    #[inline]
    pub(crate) fn add(&mut self, others: Inner) {
        self.sum += others.sum;
        self.first = self.first.min(others.first);
    }

    /// Duration without these of the state that they began in, which ends at `end`. One that a push without imbrication ended has none in
    /// it: they began when it was over.
    #[inline]
    pub(crate) fn exclusive(&self, inclusive: Seconds, end: f64) -> Seconds {
        if end > self.first { inclusive - self.sum } else { inclusive }
    }
}

impl Nested {
    /// Duration without those directly in it.
    #[inline]
    pub(crate) fn exclusive(&self, inclusive: Seconds) -> Seconds {
        self.inner.exclusive(inclusive, self.end)
    }
}

/// Part of a state that is in the window: how long it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) inclusive: Seconds,
    pub(crate) seconds: f64,
}

/// Goes through the states of a lane.
pub(crate) struct Nesting<F> {
    window: TimeRange,
    stack: Vec<Nested>,
    /// States that the portion before left open, from the bottom up, and how many of them have come again.
    open: Vec<Nested>,
    again: usize,
    /// Gets each state with an end, its part in the window, and the one that it is directly in.
    closed: F,
}

impl<F: FnMut(&Nested, Option<Part>, Option<&Nested>)> Nesting<F> {
    /// Shows the states of a lane that have an end, and leaves those that have none in `open`.
    pub(crate) fn walk(lane: LaneView<'_>, window: TimeRange, open: &mut Vec<Nested>, closed: F) {
        let (stack, before) = (Vec::new(), std::mem::take(open));
        let mut nesting = Nesting { window, stack, open: before, again: 0, closed };
        let Ok(()) = lane.visit(&mut nesting);
        nesting.close_to(0);
        *open = nesting.stack;
    }

    /// Shows what would be shown if the open states of a lane ended now.
    pub(crate) fn end_now(now: f64, window: TimeRange, open: &[Nested], closed: F) {
        let ended = open.iter().map(|nested| Nested { end: now.max(nested.start), ..*nested });
        let (stack, open) = (ended.collect(), Vec::new());
        Nesting { window, stack, open, again: 0, closed }.close_to(0);
    }

    /// No more states come that are in one with this imbrication or a greater one.
    #[inline]
    fn close_to(&mut self, imbrication: u32) {
        while let [outer @ .., top] = &mut self.stack[..]
            && top.imbrication >= imbrication
            && !top.end.is_nan()
        {
            let part = part_in(self.window, top.start, top.end).map(|(start, end)| Part {
                inclusive: Seconds::between(start, end),
                seconds: end - start,
            });
            let parent = outer.last_mut();
            if let Some(parent) = parent.filter(|outer| outer.imbrication + 1 == top.imbrication) {
                (self.closed)(top, part, Some(parent));
                let sum = part.map_or(Seconds::ZERO, |part| part.inclusive);
                parent.inner.add(Inner { sum, first: top.start });
            } else {
                (self.closed)(top, part, None);
            }
            self.stack.pop();
        }
    }
}

impl<F: FnMut(&Nested, Option<Part>, Option<&Nested>)> Visitor for Nesting<F> {
    type Error = Infallible;

    fn states(&mut self, _: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        let columns =
            states.start.iter().zip(states.end).zip(states.value.iter().zip(states.imbrication));
        for ((start, end), (value, imbrication)) in columns {
            self.close_to(*imbrication);
            let mut inner = Inner::default();
            if self.again < self.open.len() {
                inner = self.open[self.again].inner;
                self.again += 1;
            }
            self.stack.push(Nested {
                start: *start,
                end: *end,
                value: *value,
                imbrication: *imbrication,
                inner,
            });
        }
        Ok(())
    }
}
