//! Iteration over rows of any nature.

use std::convert::Infallible;
use std::ops::Range;

use paje_sim::{ContainerId, Events, LaneView, Links, States, ValueId, Variables, Visitor};

/// Row of a lane. Times are in seconds. Fields that its nature does not have are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Index in the lane, from 0.
    pub number: u64,
    /// Start, or time of an event.
    pub start: f64,
    /// End. A link may end before its start.
    pub end: f64,
    /// Value of a state, an event or a link.
    pub value: ValueId,
    /// Imbrication of a state.
    pub imbrication: u32,
    /// Start and end containers of a link.
    pub ends: (ContainerId, ContainerId),
    /// Value of a variable.
    pub height: f64,
}

impl Row {
    /// Returns the start and the end, the earlier one first.
    #[must_use]
    pub fn extent(&self) -> (f64, f64) {
        (self.start.min(self.end), self.start.max(self.end))
    }
}

pub(crate) fn each(lane: LaneView<'_>, chunks: Range<usize>, first: u64, show: impl FnMut(Row)) {
    let Ok(()) = lane.visit_chunks(chunks, &mut Each { next: first, show });
}

struct Each<F> {
    next: u64,
    show: F,
}

const NONE: Row = Row {
    number: 0,
    start: 0.0,
    end: 0.0,
    value: ValueId(0),
    imbrication: 0,
    ends: (ContainerId::ROOT, ContainerId::ROOT),
    height: 0.0,
};

impl<F: FnMut(Row)> Each<F> {
    fn all(&mut self, rows: impl Iterator<Item = Row>) {
        for row in rows {
            (self.show)(Row { number: self.next, ..row });
            self.next += 1;
        }
    }
}

impl<F: FnMut(Row)> Visitor for Each<F> {
    type Error = Infallible;

    fn states(&mut self, _: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        let row = |i: usize| Row {
            start: states.start[i],
            end: states.end[i],
            value: states.value[i],
            imbrication: states.imbrication[i],
            ..NONE
        };
        self.all((0..states.start.len()).map(row));
        Ok(())
    }

    fn variables(&mut self, _: LaneView<'_>, it: Variables<'_>) -> Result<(), Infallible> {
        let row =
            |i: usize| Row { start: it.start[i], end: it.end(i), height: it.value[i], ..NONE };
        self.all((0..it.start.len()).map(row));
        Ok(())
    }

    fn events(&mut self, _: LaneView<'_>, events: Events<'_>) -> Result<(), Infallible> {
        let row = |i: usize| {
            let time = events.time[i];
            Row { start: time, end: time, value: events.value[i], ..NONE }
        };
        self.all((0..events.time.len()).map(row));
        Ok(())
    }

    fn links(&mut self, _: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        let row = |i: usize| Row {
            start: links.start[i],
            end: links.end[i],
            value: links.value[i],
            ends: (links.from[i], links.to[i]),
            ..NONE
        };
        self.all((0..links.start.len()).map(row));
        Ok(())
    }
}
