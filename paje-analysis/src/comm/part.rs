//! Links of segments of a trace that nobody replays, added up side by side, and put together.

use paje_pack::{LinkEnd, LinkRow, Rows};
use paje_sim::{LaneId, Name, Quoting, Trace, ValueNames};
use rustc_hash::FxHashMap;

use super::{Cell, Comm};
use crate::parts::LaneNames;
use crate::scope::Scope;

/// Numbers of a link's ends among those that are unlike.
type Ends = (u32, u32);

/// Links of a segment, by their ends.
#[derive(Debug)]
pub(crate) struct CommPart(FxHashMap<Ends, Cell>);

impl CommPart {
    /// Adds up the links of a segment.
    pub(crate) fn of(rows: &Rows) -> Self {
        let mut sums: FxHashMap<Ends, Cell> = FxHashMap::default();
        for LinkRow { from, to, start, end } in &rows.links {
            sums.entry((*from, *to)).or_default().add_link(*start, *end, None);
        }
        CommPart(sums)
    }
}

/// Links of all segments that have come.
#[derive(Debug, Default)]
pub(crate) struct CommParts(FxHashMap<Ends, Cell>);

impl CommParts {
    /// Takes in the next segment, whose ends have these numbers.
    pub(crate) fn add(&mut self, part: &CommPart, numbers: &[u32]) {
        for ((from, to), cell) in &part.0 {
            let ends = (numbers[*from as usize], numbers[*to as usize]);
            self.0.entry(ends).or_default().add(cell);
        }
    }

    /// A link of two segments.
    pub(crate) fn link(&mut self, ends: Ends, start: f64, end: f64) {
        self.0.entry(ends).or_default().add_link(start, end, None);
    }

    /// The same as if all had been seen: lanes and ends are those of this trace, which has them all. None if it lacks one.
    pub(crate) fn finish(
        self,
        scope: Scope,
        trace: &Trace,
        lanes: &[LaneNames],
        ends: &[LinkEnd],
    ) -> Option<Comm> {
        let mut comm = Comm::new(scope, None);
        for ((from, to), cell) in self.0 {
            let (from, to) = (&ends[from as usize], &ends[to as usize]);
            let lane = &lanes[from.lane as usize];
            let LaneId(number) = lane.id?;
            let value = Name { text: from.bare_value(), quoting: Quoting::Bare };
            let value = trace.types().find_value(lane.type_id?, value, ValueNames::Bare)?;
            let number = number as usize;
            if comm.lanes.len() <= number {
                comm.lanes.resize_with(number + 1, FxHashMap::default);
            }
            let find = |end: &LinkEnd| trace.containers().find(&end.container);
            let pair = (value, find(from)?, find(to)?);
            comm.lanes[number].entry(pair).or_default().add(&cell);
        }
        Some(comm)
    }
}
