//! Converts the rows of a lane to events that produce them.

use std::convert::Infallible;

use paje_sim::{ContainerId, Events, LaneView, Links, States, Trace, TypeId, Variables, Visitor};

use super::order::Place;
use super::text::{self, LinkHalf, Of};
use super::{Sheet, cut};

pub(super) struct Rows<'s, 'a> {
    sheet: &'s mut Sheet<'a>,
    container: ContainerId,
    type_: TypeId,
    last: Place,
    open: Vec<f64>,
    /// Start and end of the state that was opened last. Later events must not precede them.
    newest: (f64, f64),
    /// Number of states below that state in the stack.
    newest_at: usize,
}

impl<'s, 'a> Rows<'s, 'a> {
    pub(super) fn new(sheet: &'s mut Sheet<'a>, lane: LaneView<'_>) -> Self {
        Rows {
            sheet,
            container: lane.container(),
            type_: lane.type_id(),
            last: Place::FIRST,
            open: Vec::new(),
            newest: (f64::NEG_INFINITY, f64::NEG_INFINITY),
            newest_at: 0,
        }
    }

    const fn of(&self) -> Of {
        Of { container: self.container, type_: self.type_ }
    }

    fn event(&mut self, time: f64, write: impl FnOnce(&mut Vec<u8>, &Trace)) {
        self.last = self.sheet.line(self.container, time, self.last, write);
    }

    fn pop_to(&mut self, left: usize) {
        while self.open.len() > left {
            let time = cut(self.sheet.window, self.open.pop().unwrap_or_default());
            self.check_order(time);
            if self.open.len() == self.newest_at {
                self.newest.1 = time;
            }
            let of = self.of();
            self.event(time, |text, trace| text::pop(text, trace, of, time));
        }
    }

    /// Marks the window as disordered if the order of states depends on states before the window.
    fn check_order(&mut self, time: f64) {
        self.sheet.disordered |= time < self.newest.0 || time < self.newest.1;
    }

    /// Ends the states whose ends are in the window and before the end of their container.
    pub(super) fn finish(mut self) {
        let containers = self.sheet.trace.containers();
        let end = containers.end(self.container).min(self.sheet.window.to);
        let lasting = self.open.iter().take_while(|open| **open >= end).count();
        self.pop_to(lasting);
    }
}

impl Visitor for Rows<'_, '_> {
    type Error = Infallible;

    fn container(&mut self, _: &Trace, _: ContainerId) -> Result<(), Infallible> {
        Ok(())
    }

    fn states(&mut self, _: LaneView<'_>, rows: States<'_>) -> Result<(), Infallible> {
        for i in 0..rows.start.len() {
            let (start, end, below) = (rows.start[i], rows.end[i], rows.imbrication[i] as usize);
            if !self.sheet.window.overlaps(start, end) || below > self.open.len() {
                continue;
            }
            self.pop_to(below);
            let (time, value) = (cut(self.sheet.window, start), rows.value[i]);
            self.check_order(time);
            (self.newest, self.newest_at) = ((time, f64::NEG_INFINITY), below);
            self.sheet.use_value(self.type_, value);
            let of = self.of();
            self.event(time, |text, trace| text::push(text, trace, of, time, value));
            self.open.push(end);
        }
        Ok(())
    }

    fn variables(&mut self, _: LaneView<'_>, rows: Variables<'_>) -> Result<(), Infallible> {
        for (i, (start, value)) in rows.start.iter().zip(rows.value).enumerate() {
            if !self.sheet.window.overlaps(*start, rows.end(i)) {
                continue;
            }
            let (of, time) = (self.of(), cut(self.sheet.window, *start));
            for (index, part) in text::parts(*value, self.sheet.single).into_iter().enumerate() {
                let sets = index == 0;
                self.event(time, |text, trace| text::change(text, trace, of, time, sets, &part));
            }
        }
        Ok(())
    }

    fn events(&mut self, _: LaneView<'_>, rows: Events<'_>) -> Result<(), Infallible> {
        for (time, value) in rows.time.iter().copied().zip(rows.value.iter().copied()) {
            if self.sheet.window.overlaps(time, time) {
                self.sheet.use_value(self.type_, value);
                let of = self.of();
                self.event(time, |text, trace| text::event(text, trace, of, time, value));
            }
        }
        Ok(())
    }

    fn links(&mut self, _: LaneView<'_>, rows: Links<'_>) -> Result<(), Infallible> {
        for i in 0..rows.start.len() {
            let (start, end, value) = (rows.start[i], rows.end[i], rows.value[i]);
            if !self.sheet.window.overlaps(start, end) {
                continue;
            }
            self.sheet.use_value(self.type_, value);
            let (key, of) = (rows.raw_key(i), self.of());
            let mut halves = [(start, rows.from[i], true), (end, rows.to[i], false)];
            // Either end may come first.
            halves.sort_by(|one, other| one.0.total_cmp(&other.0));
            let there = |at: ContainerId| self.sheet.orders.first(at);
            let mut after = there(rows.from[i]).max(there(rows.to[i]));
            for (turn, (time, at, starts)) in halves.into_iter().enumerate() {
                let time = cut(self.sheet.window, time);
                // Links are in the order of their completion.
                after = if turn == 1 { after.max(self.last) } else { after };
                after = self.sheet.line(self.container, time, after, |text, trace| {
                    text::link(text, trace, of, time, value, LinkHalf { starts, at, key });
                });
                self.sheet.need(at, after);
            }
            self.last = after;
        }
        Ok(())
    }
}
