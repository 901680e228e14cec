//! Writes a window of time as a trace (`--start`, `--end`), or a whole recovered trace (`--recover`).
//!
//! The trace is normalised: rows that overlap the window are cut to it and written as new events.
//! At the start of the window, open states are pushed and variables are set.

use std::io::{self, Write};

use paje_export::paje::{self, Form, Times};
use paje_sim::{ContainerId, LaneId, LaneView, Row, Selected, Selection, TimeRange, Trace};
use paje_workers::Workers;

/// Writes the window of a trace. Returns false and writes nothing if events are out of time order
/// in a way that the rows of the window depend on.
pub(crate) fn write(
    trace: &Trace,
    window: TimeRange,
    form: Form,
    workers: &Workers,
    out: &mut (impl Write + Send),
) -> io::Result<bool> {
    if window.is_always() {
        let selected = trace.select(&Selection::default());
        return paje::write(trace, &selected, form, &Whole, workers, out).map(|()| true);
    }
    let mut scan = Scan {
        trace,
        cut: Cut(window),
        needed: vec![false; trace.containers().len()],
        is_disordered: false,
        open: Vec::new(),
        newest: (f64::NEG_INFINITY, f64::NEG_INFINITY),
        newest_at: 0,
    };
    scan.find_containers();
    for lane in trace.lanes() {
        lane.rows().for_each(|row| scan.see(lane.container(), &row));
        scan.end_lane(lane.container());
    }
    if scan.is_disordered {
        return Ok(false);
    }
    let Scan { cut, needed, .. } = scan;
    let mut selection = Selection::default();
    selection.window = window;
    let times = CutTimes { cut, needed, end_type: crate::root::end_type(trace) };
    paje::write(trace, &trace.select(&selection), form, &times, workers, out).map(|()| true)
}

/// The recorded times and aliases.
struct Whole;

impl Times for Whole {
    fn keeps_aliases(&self) -> bool {
        true
    }
}

#[derive(Clone, Copy, Debug)]
struct Cut(TimeRange);

impl Cut {
    /// Clamps a time to the window, without negative zero.
    const fn time(self, time: f64) -> f64 {
        time.max(self.0.from).min(self.0.to) + 0.0
    }

    /// Cuts a row to the window. Returns `None` if the row is outside of it.
    fn row(self, (start, end): (f64, f64)) -> Option<(f64, f64)> {
        self.0.overlaps(start, end).then(|| (self.time(start), self.time(end)))
    }
}

/// Times that are cut to the window.
struct CutTimes {
    cut: Cut,
    needed: Vec<bool>,
    end_type: String,
}

impl Times for CutTimes {
    fn state(&self, _: LaneView<'_>, _: u64, recorded: (f64, f64)) -> Option<(f64, f64)> {
        self.cut.row(recorded)
    }

    fn link(
        &self,
        _: LaneId,
        _: u64,
        _: (ContainerId, ContainerId),
        recorded: (f64, f64),
    ) -> Option<(f64, f64)> {
        self.cut.row(recorded)
    }

    fn within(&self, _: ContainerId, recorded: f64) -> f64 {
        self.cut.time(recorded)
    }

    fn container(&self, trace: &Trace, container: ContainerId) -> (f64, f64) {
        let all = trace.containers();
        (self.cut.time(all.start(container)), self.cut.time(all.end(container)))
    }

    fn keeps_aliases(&self) -> bool {
        true
    }

    fn needed(&self, _: &Trace, _: &Selected, _: &[LaneView<'_>]) -> Vec<bool> {
        self.needed.clone()
    }

    fn end(&self, trace: &Trace) -> f64 {
        trace.end().min(self.cut.0.to) + 0.0
    }

    fn end_type(&self) -> Option<&str> {
        Some(&self.end_type)
    }
}

/// Finds the containers that the window needs, and whether the order of its events can be kept.
struct Scan<'t> {
    trace: &'t Trace,
    cut: Cut,
    needed: Vec<bool>,
    is_disordered: bool,
    /// Ends of the open states of the lane.
    open: Vec<f64>,
    /// Start and end of the state that was opened last. Later events must not precede them.
    newest: (f64, f64),
    /// Number of states below that state in the stack.
    newest_at: usize,
}

impl Scan<'_> {
    /// Marks the containers that exist during the window, and their ancestors.
    fn find_containers(&mut self) {
        let all = self.trace.containers();
        for id in all.ids() {
            if self.cut.0.overlaps(all.start(id), all.end(id)) {
                self.need(id);
            }
        }
        self.needed[ContainerId::ROOT.index()] = true;
    }

    fn need(&mut self, mut id: ContainerId) {
        while !std::mem::replace(&mut self.needed[id.index()], true) {
            id = self.trace.containers().parent(id);
        }
    }

    fn see(&mut self, container: ContainerId, row: &Row<'_>) {
        let Some((start, end)) = self.cut.row((row.start(), row.end())) else { return };
        self.need(container);
        let mut last = start;
        match row {
            Row::State(state) => {
                let below = state.imbrication as usize;
                self.is_disordered |= below > self.open.len();
                self.pop_to(below);
                self.turn(start);
                (self.newest, self.newest_at) = ((start, f64::NEG_INFINITY), below);
                self.open.push(end);
            }
            Row::Link(link) => {
                last = start.max(end);
                self.need(link.from);
                self.need(link.to);
            }
            Row::Container(_) | Row::Variable(_) | Row::Event(_) => {}
        }
        // The end of a container must not precede its events.
        let all = self.trace.containers();
        self.is_disordered |=
            all.is_destroyed(container) && last > self.cut.time(all.end(container));
    }

    /// Notes a start or an end of a state. The order of states must not depend on states before the
    /// window.
    fn turn(&mut self, time: f64) {
        self.is_disordered |= time < self.newest.0 || time < self.newest.1;
    }

    fn pop_to(&mut self, left: usize) {
        while self.open.len() > left
            && let Some(time) = self.open.pop()
        {
            self.turn(time);
            if self.open.len() == self.newest_at {
                self.newest.1 = time;
            }
        }
    }

    /// Ends the states that end in the window and before their container.
    fn end_lane(&mut self, container: ContainerId) {
        let end = self.cut.time(self.trace.containers().end(container));
        let lasting = self.open.iter().take_while(|open| **open >= end).count();
        self.pop_to(lasting);
        self.open.clear();
        (self.newest, self.newest_at) = ((f64::NEG_INFINITY, f64::NEG_INFINITY), 0);
    }
}
