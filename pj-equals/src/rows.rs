//! Rows of a lane, in the same form for all natures.
//!
//! Slices of columns are copied into reused memory, one at a time. So the rows of two lanes can be
//! compared side by side, although slices differ in length and some rows are outside the window.

use std::convert::Infallible;

use paje_parser::Field;
use paje_sim::{
    ContainerId, Events, LaneView, Links, States, TimeRange, ValueId, Variables, Visitor,
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) place: u64,
    /// Start in seconds. For an event, the start and the end are its time.
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) number: f64,
    pub(crate) value: ValueId,
    pub(crate) imbrication: u32,
    pub(crate) from: ContainerId,
    pub(crate) to: ContainerId,
    key_end: usize,
}

#[derive(Debug)]
pub(crate) struct LaneRows<'t> {
    window: TimeRange,
    lane: Option<LaneView<'t>>,
    /// Index of the next slice in the lane. `place` is the index of the slice's first row.
    chunk: usize,
    place: u64,
    slice: Slice,
    at: usize,
}

#[derive(Debug, Default)]
struct Slice {
    window: TimeRange,
    place: u64,
    rows: Vec<Row>,
    keys: Vec<u8>,
}

impl<'t> LaneRows<'t> {
    pub(crate) fn new(window: TimeRange) -> Self {
        let slice = Slice { window, ..Slice::default() };
        LaneRows { window, lane: None, chunk: 0, place: 0, slice, at: 0 }
    }

    /// Switches to a lane. `None` stands for a lane without rows.
    pub(crate) fn enter(&mut self, lane: Option<LaneView<'t>>) {
        self.lane = lane;
        (self.chunk, self.place, self.at) = (0, 0, 0);
        self.slice.rows.clear();
    }

    pub(crate) fn count(&mut self, lane: Option<LaneView<'t>>) -> u64 {
        let all = lane.map_or(0, LaneView::len);
        if all == 0 || self.window.is_always() {
            return all;
        }
        self.enter(lane);
        let mut count = 0;
        while self.fill() {
            count += self.slice.rows.len() as u64;
            self.at = self.slice.rows.len();
        }
        count
    }

    /// Loads more rows if none are loaded. Returns the number of loaded rows.
    pub(crate) fn ready(&mut self) -> usize {
        self.fill();
        self.slice.rows.len() - self.at
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.slice.rows[self.at..]
    }

    pub(crate) fn pass(&mut self, count: usize) {
        self.at += count;
    }

    pub(crate) fn key(&self, ahead: usize) -> &[u8] {
        let at = self.at + ahead;
        let start = if at == 0 { 0 } else { self.slice.rows[at - 1].key_end };
        &self.slice.keys[start..self.slice.rows[at].key_end]
    }

    /// Loads the next slice if all loaded rows have been passed. Returns whether there are more
    /// rows.
    fn fill(&mut self) -> bool {
        while self.at == self.slice.rows.len() {
            let Some(lane) = self.lane else { return false };
            let Some(count) = lane.chunks_from(self.chunk).next() else { return false };
            self.slice.rows.clear();
            self.slice.keys.clear();
            self.slice.place = self.place;
            let Ok(()) = lane.visit_chunks(self.chunk..self.chunk + 1, &mut self.slice);
            (self.at, self.chunk) = (0, self.chunk + 1);
            self.place += count as u64;
        }
        true
    }
}

impl Slice {
    fn push(&mut self, row: Row) {
        if self.window.overlaps(row.start, row.end) {
            self.rows.push(Row { key_end: self.keys.len(), ..row });
        }
    }

    fn row(&self, i: usize, start: f64, end: f64) -> Row {
        Row {
            place: self.place + i as u64,
            start,
            end,
            number: 0.0,
            value: ValueId(0),
            imbrication: 0,
            from: ContainerId::ROOT,
            to: ContainerId::ROOT,
            key_end: 0,
        }
    }
}

impl Visitor for Slice {
    type Error = Infallible;

    fn states(&mut self, _: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        for (i, (start, end)) in states.start.iter().zip(states.end).enumerate() {
            let (value, imbrication) = (states.value[i], states.imbrication[i]);
            self.push(Row { value, imbrication, ..self.row(i, *start, *end) });
        }
        Ok(())
    }

    fn variables(&mut self, _: LaneView<'_>, all: Variables<'_>) -> Result<(), Infallible> {
        for (i, (start, number)) in all.start.iter().zip(all.value).enumerate() {
            self.push(Row { number: *number, ..self.row(i, *start, all.end(i)) });
        }
        Ok(())
    }

    fn events(&mut self, _: LaneView<'_>, events: Events<'_>) -> Result<(), Infallible> {
        for (i, (time, value)) in events.time.iter().zip(events.value).enumerate() {
            self.push(Row { value: *value, ..self.row(i, *time, *time) });
        }
        Ok(())
    }

    fn links(&mut self, _: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        for (i, (start, end)) in links.start.iter().zip(links.end).enumerate() {
            if self.window.overlaps(*start, *end) {
                self.keys.extend_from_slice(Field::new(links.raw_key(i)).bare());
            }
            let (value, from, to) = (links.value[i], links.from[i], links.to[i]);
            self.push(Row { value, from, to, ..self.row(i, *start, *end) });
        }
        Ok(())
    }
}
