//! States of segments of a trace that nobody replays, added up side by side, and put together in order.

use paje_pack::{Rows, StateRow};
use paje_sim::{ContainerId, LaneId, Name, Quoting, Trace, TypeId, ValueId, ValueNames};
use rustc_hash::FxHashMap;

use super::{Cell, Lane, States};
use crate::Seconds;
use crate::nesting::{Inner, Part};
use crate::parts::{LaneNames, Text};
use crate::quantiles::Durations;
use crate::scope::{By, Scope};

/// End of a state that began before the segment, or of all, with what began in it since.
#[derive(Debug)]
struct Ending {
    all: bool,
    end: f64,
    inner: Inner,
}

/// A lane in a segment.
#[derive(Debug, Default)]
struct LanePart {
    endings: Vec<Ending>,
    /// States that began directly in a state from before, or in one that is open, from the bottom up.
    inner: Vec<Inner>,
    last_end: Option<f64>,
}

/// States of a segment: sums by cell, durations by value, and what its ends cut.
#[derive(Debug)]
pub(crate) struct StatesPart {
    cells: Vec<Cell>,
    durations: Vec<Durations>,
    lanes: Vec<LanePart>,
}

impl StatesPart {
    /// Adds up the states of a segment.
    pub(crate) fn of(rows: &Rows) -> Self {
        let mut cells = vec![Cell::default(); rows.cells.len()];
        let mut durations = vec![Durations::default(); rows.values.len()];
        let mut lanes: Vec<LanePart> = rows.lanes.iter().map(|_| LanePart::default()).collect();
        for row in &rows.states {
            let lane = &mut lanes[row.lane as usize];
            let depth = row.depth as usize;
            if lane.inner.len() < depth + 2 {
                lane.inner.resize(depth + 2, Inner::default());
            }
            lane.last_end = Some(row.end);
            if row.cell >= StateRow::ALL {
                let inner = std::mem::take(&mut lane.inner[0]);
                let all = row.cell == StateRow::ALL;
                lane.endings.push(Ending { all, end: row.end, inner });
                continue;
            }
            let inner = std::mem::take(&mut lane.inner[depth + 1]);
            let (inclusive, seconds) = (Seconds::between(row.start, row.end), row.end - row.start);
            let exclusive = inner.exclusive(inclusive, row.end);
            cells[row.cell as usize].add_one(Part { inclusive, seconds }, exclusive);
            durations[rows.cells[row.cell as usize].1 as usize].push(seconds);
            lane.inner[depth].add(Inner { sum: inclusive, first: row.start });
        }
        StatesPart { cells, durations, lanes }
    }
}

/// A lane, as far as segments have come.
#[derive(Debug, Default)]
struct LaneSums {
    sums: FxHashMap<u32, Cell>,
    open: Vec<(f64, u32, Inner)>,
    last_end: Option<f64>,
}

/// States of all segments that have come.
#[derive(Debug, Default)]
pub(crate) struct StatesParts {
    lanes: Vec<LaneSums>,
    durations: FxHashMap<u32, Durations>,
}

impl LaneSums {
    /// The state on top ends.
    fn end(&mut self, end: f64, durations: &mut FxHashMap<u32, Durations>) -> Option<()> {
        let (start, value, inner) = self.open.pop()?;
        let (inclusive, seconds) = (Seconds::between(start, end), end - start);
        let exclusive = inner.exclusive(inclusive, end);
        self.sums.entry(value).or_default().add_one(Part { inclusive, seconds }, exclusive);
        durations.entry(value).or_default().push(seconds);
        self.take_in(Inner { sum: inclusive, first: start });
        self.last_end = Some(end);
        Some(())
    }

    /// States began directly in the one on top.
    fn take_in(&mut self, inner: Inner) {
        if let Some((.., around)) = self.open.last_mut() {
            around.add(inner);
        }
    }
}

impl StatesParts {
    /// Takes in the next segment, whose lanes and values have these numbers; none if it ends what was not open.
    pub(crate) fn add(
        &mut self,
        part: StatesPart,
        rows: &Rows,
        lanes: &[u32],
        values: &[u32],
    ) -> Option<()> {
        let most = lanes.iter().map(|lane| *lane as usize + 1).max().unwrap_or_default();
        if self.lanes.len() < most {
            self.lanes.resize_with(most, LaneSums::default);
        }
        for ((lane, value), cell) in rows.cells.iter().zip(&part.cells) {
            if cell.count > 0 {
                let sums = &mut self.lanes[lanes[*lane as usize] as usize].sums;
                sums.entry(values[*value as usize]).or_default().add(cell);
            }
        }
        for (value, mut durations) in values.iter().zip(part.durations) {
            self.durations.entry(*value).or_default().append(&mut durations);
        }
        for ((lane, seen), number) in part.lanes.into_iter().zip(&rows.lanes).zip(lanes) {
            let sums = &mut self.lanes[*number as usize];
            for Ending { all, end, inner } in lane.endings {
                sums.take_in(inner);
                if all {
                    while !sums.open.is_empty() {
                        sums.end(end, &mut self.durations)?;
                    }
                } else {
                    sums.end(end, &mut self.durations)?;
                }
            }
            let mut inner = lane.inner.into_iter();
            let around = inner.next().unwrap_or_default();
            if !seen.is_anew {
                sums.take_in(around);
            }
            for (start, cell) in &seen.open {
                let value = values[rows.cells[*cell as usize].1 as usize];
                sums.open.push((*start, value, inner.next().unwrap_or_default()));
            }
            if let Some(end) = lane.last_end
                && sums.last_end.is_none_or(|last| last < end)
            {
                sums.last_end = Some(end);
            }
        }
        Some(())
    }

    /// All that is open in a lane ends.
    pub(crate) fn end(&mut self, lane: usize, end: f64) -> Option<()> {
        let Some(sums) = self.lanes.get_mut(lane) else { return Some(()) };
        while !sums.open.is_empty() {
            sums.end(end, &mut self.durations)?;
        }
        Some(())
    }

    /// The same as if all had been seen, and nothing is open any more: lanes are those of this trace, which has them all. None if it lacks a value.
    pub(crate) fn finish(
        self,
        scope: Scope,
        trace: &Trace,
        lanes: &[LaneNames],
        values: &[(Text, Text)],
    ) -> Option<States> {
        let types = trace.types();
        let ids = values.iter().map(|(type_, value)| {
            let type_ = types.find(type_)?;
            Some((
                type_,
                types.find_value(
                    type_,
                    Name { text: value, quoting: Quoting::Bare },
                    ValueNames::Bare,
                )?,
            ))
        });
        let ids: Vec<(TypeId, ValueId)> = ids.collect::<Option<_>>()?;
        let mut states = States::new(scope, By::Value);
        for (sums, lane) in self.lanes.into_iter().zip(lanes) {
            if sums.sums.is_empty() {
                continue;
            }
            let LaneId(number) = lane.id?;
            let number = number as usize;
            if states.lanes.len() <= number {
                states.lanes.resize_with(number + 1, Lane::default);
            }
            let kept = &mut states.lanes[number];
            for (value, cell) in &sums.sums {
                let place = kept.cells.place(ids[*value as usize].1);
                kept.cells.at(place).add(cell);
            }
            sums.last_end.into_iter().for_each(|end| kept.note_end(end));
        }
        for (value, mut durations) in self.durations {
            let spread = states.durations.entry(ids[value as usize]).or_default();
            if !durations.is_empty() {
                spread.append(ContainerId::ROOT, &mut durations);
            }
        }
        states.durations.retain(|_, spread| !spread.by.is_empty());
        Some(states)
    }
}
