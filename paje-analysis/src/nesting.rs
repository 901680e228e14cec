//! Nesting of states. The states of a lane are ordered by start, so outer states precede inner
//! ones.
//!
//! Open states have no end yet. They are repeated at the beginning of the next portion, so the sums
//! of their nested states are kept.

use std::convert::Infallible;

use paje_sim::{LaneView, States, TimeRange, ValueId, Visitor};
use rustc_hash::FxHashMap;

use crate::Seconds;
use crate::scope::part_in;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Nested {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) value: ValueId,
    /// Whether the state is inside another state of the same value.
    pub(crate) is_repeated: bool,
    imbrication: u32,
    inner: Inner,
}

/// Nested states that are directly inside a state: their total duration, and the start of the first
/// one.
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
    #[inline]
    pub(crate) fn add(&mut self, others: Inner) {
        self.sum += others.sum;
        self.first = self.first.min(others.first);
    }

    /// Returns a state's duration without its nested states. `end` is the end of the state. If a
    /// push without imbrication ended the state, the nested states started later and are not
    /// subtracted.
    #[inline]
    pub(crate) fn exclusive(&self, inclusive: Seconds, end: f64) -> Seconds {
        if end > self.first { inclusive - self.sum } else { inclusive }
    }
}

impl Nested {
    #[inline]
    pub(crate) fn exclusive(&self, inclusive: Seconds) -> Seconds {
        self.inner.exclusive(inclusive, self.end)
    }

    /// Returns whether the time of a state that starts then, directly inside this one, is
    /// subtracted. The states before it have been added.
    pub(crate) fn contains(&self, start: f64) -> bool {
        self.end > self.inner.first.min(start)
    }

    /// Returns whether this state takes the place of another one with the same value.
    pub(crate) fn repeats(&self, other: &Nested) -> bool {
        (self.value, self.imbrication) == (other.value, other.imbrication)
            && self.start == other.end
    }

    /// Returns whether this state has more states around it than another one.
    #[inline]
    pub(crate) fn is_inside(&self, other: &Nested) -> bool {
        self.imbrication > other.imbrication
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) inclusive: Seconds,
    pub(crate) seconds: f64,
}

/// Number of outer states that are searched for a value. Further states are found by value.
const NEAR: usize = 32;

pub(crate) struct Nesting<F> {
    window: TimeRange,
    stack: Vec<Nested>,
    /// Ends of the states beyond the first [`NEAR`] of the stack, by value.
    deep: FxHashMap<ValueId, Vec<f64>>,
    /// States that the previous portion left open. The outermost one comes first. `again` is the
    /// number of states that this portion has repeated so far.
    open: Vec<Nested>,
    again: usize,
    /// Function that is called for each closed state, with the part of the state in the window and
    /// the state's parent.
    closed: F,
}

impl<F: FnMut(&Nested, Option<Part>, Option<&Nested>)> Nesting<F> {
    /// Visits the closed states of a lane. Leaves the open states in `open`.
    pub(crate) fn walk(lane: LaneView<'_>, window: TimeRange, open: &mut Vec<Nested>, closed: F) {
        let (stack, before) = (Vec::new(), std::mem::take(open));
        let deep = FxHashMap::default();
        let mut nesting = Nesting { window, stack, deep, open: before, again: 0, closed };
        let Ok(()) = lane.visit(&mut nesting);
        nesting.close_to(0);
        *open = nesting.stack;
    }

    /// Visits the open states of a lane as if they ended now.
    pub(crate) fn end_now(now: f64, window: TimeRange, open: &[Nested], closed: F) {
        let ended = open.iter().map(|nested| Nested { end: now.max(nested.start), ..*nested });
        let (stack, open, deep) = (ended.collect(), Vec::new(), FxHashMap::default());
        Nesting { window, stack, deep, open, again: 0, closed }.close_to(0);
    }

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
            if let Some(Nested { value, .. }) = self.stack.pop()
                && self.stack.len() >= NEAR
                && let Some(ends) = self.deep.get_mut(&value)
            {
                ends.pop();
            }
        }
    }

    /// Returns whether a state that starts now is inside another state of the same value.
    #[inline]
    fn is_repeated(&self, value: ValueId, start: f64) -> bool {
        // The end of an open state is NaN.
        let lasts = |end: f64| end.is_nan() || end > start;
        let near = &self.stack[..self.stack.len().min(NEAR)];
        near.iter().any(|outer| outer.value == value && lasts(outer.end))
            || self.stack.len() > NEAR
                && self.deep.get(&value).is_some_and(|ends| ends.iter().any(|end| lasts(*end)))
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
            let is_repeated = self.is_repeated(*value, *start);
            if self.stack.len() >= NEAR {
                self.deep.entry(*value).or_default().push(*end);
            }
            self.stack.push(Nested {
                start: *start,
                end: *end,
                value: *value,
                is_repeated,
                imbrication: *imbrication,
                inner,
            });
        }
        Ok(())
    }
}
