//! Lanes of a segment, as its lines change them one by one.

use paje_parser::EventKind;
use rustc_hash::FxHashMap;

use crate::passage::{Change, LaneName};
use crate::rows::{self, Ending, NO_CELL, Recorder, StateRow};

/// Number of no line.
pub(super) const NO_LINE: u32 = u32::MAX;

/// Line that a line needs beside itself: none; one that is not in the segment, or not known yet; or this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opener {
    Unneeded,
    Lacking,
    Line(u32),
}

/// A line that opened what is open.
#[derive(Clone, Copy)]
pub(super) struct Open {
    pub(super) start: f64,
    pub(super) cell: u32,
    pub(super) line: u32,
}

/// A lane, of whatever type.
pub(super) struct Lane<'t> {
    pub(super) name: LaneName<&'t [u8]>,
    /// Times of its first line and of its last; of links, nothing and the latest.
    pub(super) first: f64,
    pub(super) last: f64,
    /// Lines that opened what is open, from the bottom up. For variables: all lines that the value is the sum of.
    pub(super) open: Vec<Open>,
    /// Cell of what begins in states from before the segment.
    pub(super) around: u32,
    pub(super) endings: Vec<Ending>,
    /// As [`Change`] has them.
    adds: u32,
    pops: Vec<u32>,
    pub(super) ends_all: u32,
    gone: bool,
    /// Lines change what is open in it.
    pub(super) is_changed: bool,
    /// States that ended with the container.
    ended: Vec<Open>,
}

impl<'t> Lane<'t> {
    const fn new(name: LaneName<&'t [u8]>) -> Self {
        Lane {
            name,
            first: f64::INFINITY,
            last: 0.0,
            open: Vec::new(),
            around: NO_CELL,
            endings: Vec::new(),
            adds: NO_LINE,
            pops: Vec::new(),
            ends_all: NO_LINE,
            gone: false,
            is_changed: false,
            ended: Vec::new(),
        }
    }

    /// Rows from before the segment may still be open.
    pub(super) const fn is_of_before(&self) -> bool {
        self.ends_all == NO_LINE && !self.gone
    }

    /// A line of the lane is decoded, as its first one is.
    pub(super) fn begin(&mut self, time: f64) {
        if self.first == f64::INFINITY {
            self.first = time;
        }
    }

    /// A cell is made for what begins in states from before the segment.
    pub(super) fn begin_states(&mut self, recorder: &mut Recorder) {
        if self.around == NO_CELL && self.is_of_before() {
            self.around = recorder.cell_around();
        }
    }

    /// Its next line; false if its time is not in order.
    #[inline]
    pub(super) fn pass(&mut self, time: f64) -> bool {
        std::mem::replace(&mut self.last, time) <= time
    }

    /// A state begins.
    #[inline]
    pub(super) fn push(&mut self, start: f64, cell: u32, line: u32) {
        self.open.push(Open { start, cell, line });
    }

    /// The state on top ends; none of a trace that is not sound.
    #[inline]
    pub(super) fn pop(
        &mut self,
        end: f64,
        line: u32,
        recorder: Option<&mut Recorder>,
    ) -> Option<Opener> {
        let Some(open) = self.open.pop() else { return self.pop_before(end, line, recorder) };
        if let Some(recorder) = recorder {
            let around = self.open.last().map_or(self.around, |outer| outer.cell);
            recorder.state(StateRow { cell: open.cell, around, start: open.start, end });
        }
        Some(Opener::Line(open.line))
    }

    /// The same for a state that began before the segment.
    #[cold]
    fn pop_before(
        &mut self,
        end: f64,
        line: u32,
        recorder: Option<&mut Recorder>,
    ) -> Option<Opener> {
        if !self.is_of_before() {
            return None;
        }
        self.pops.push(line);
        if let Some(recorder) = recorder {
            let inner = std::mem::replace(&mut self.around, recorder.cell_around());
            self.endings.push(Ending { all: false, end, inner });
        }
        Some(Opener::Lacking)
    }

    /// All that is open ends.
    #[inline]
    pub(super) fn reset(&mut self, end: f64, line: u32, recorder: Option<&mut Recorder>) {
        if let Some(recorder) = recorder {
            while let Some(Open { start, cell, .. }) = self.open.pop() {
                let around = self.open.last().map_or(self.around, |outer| outer.cell);
                recorder.state(StateRow { cell, around, start, end });
            }
        }
        self.open.clear();
        if self.is_of_before() {
            self.ends_all = line;
            let inner = std::mem::replace(&mut self.around, NO_CELL);
            self.endings.push(Ending { all: true, end, inner });
        }
    }

    /// A variable is set.
    #[inline]
    pub(super) fn set(&mut self, line: u32) {
        if self.is_of_before() {
            self.ends_all = line;
        }
        self.open.clear();
        self.push(0.0, NO_CELL, line);
    }

    /// Something is added to a variable.
    #[inline]
    pub(super) fn add(&mut self, line: u32) -> Opener {
        let set = self.open.first().map(|open| open.line);
        if self.is_of_before() && set.is_none() {
            self.adds = line;
        }
        self.push(0.0, NO_CELL, line);
        set.filter(|_| !self.is_of_before()).map_or(Opener::Lacking, Opener::Line)
    }

    /// The container ends.
    fn end(&mut self) {
        self.gone |= self.is_changed && self.is_of_before();
        self.ended.append(&mut self.open);
    }

    /// The same for who adds up rows, with states whose container ends as if they were open.
    pub(super) fn rows(&mut self) -> rows::Lane {
        let (container, type_) = self.name;
        let all = self.ended.iter().chain(&self.open);
        let states = all.filter(|open| open.cell != NO_CELL);
        rows::Lane {
            container: container.into(),
            type_: type_.into(),
            first: self.first,
            last: self.last,
            endings: std::mem::take(&mut self.endings),
            around: self.around,
            open: states.map(|open| (open.start, open.cell)).collect(),
        }
    }

    /// The lane as it is seen from outside.
    pub(super) fn change(self) -> Change<u32> {
        let some = |line: u32| (line != NO_LINE).then_some(line);
        Change {
            adds: some(self.adds),
            pops: self.pops,
            ends_all: some(self.ends_all),
            gone: self.gone,
            opens: self.open.iter().map(|open| open.line).collect(),
        }
    }
}

/// Lanes by number, in the order in which they come.
#[derive(Default)]
pub(super) struct Lanes<'t> {
    places: FxHashMap<LaneName<&'t [u8]>, u32>,
    pub(super) all: Vec<Lane<'t>>,
    of_container: FxHashMap<&'t [u8], Vec<u32>>,
}

impl<'t> Lanes<'t> {
    pub(super) fn place(&mut self, name: LaneName<&'t [u8]>) -> u32 {
        let next = self.all.len() as u32;
        *self.places.entry(name).or_insert_with(|| {
            self.all.push(Lane::new(name));
            self.of_container.entry(name.0).or_default().push(next);
            next
        })
    }

    /// A container ends.
    pub(super) fn end(&mut self, container: &[u8]) {
        for lane in self.of_container.get(container).into_iter().flatten() {
            self.all[*lane as usize].end();
        }
    }
}

/// Lines of such events change the state of a lane, or its variable.
pub(super) const fn changes_lane(kind: EventKind) -> bool {
    use EventKind as E;
    changes_state(kind) || matches!(kind, E::SetVariable | E::AddVariable | E::SubVariable)
}

/// Lines of such events change the state of a lane.
pub(super) const fn changes_state(kind: EventKind) -> bool {
    use EventKind as E;
    matches!(kind, E::SetState | E::PushState | E::PopState | E::ResetState)
}
