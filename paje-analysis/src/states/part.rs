//! States of segments of a trace that nobody replays, added up side by side, and put together in order.

use paje_pack::{Ending, NO_CELL, Rows, StateRow};
use paje_sim::{ContainerId, LaneId, Name, Quoting, Trace, TypeId, ValueId, ValueNames};
use rustc_hash::FxHashMap;

use super::{Cell, Lane, States};
use crate::Seconds;
use crate::parts::{LaneNames, Text};
use crate::quantiles::Durations;
use crate::scope::{By, Scope};

/// Sums of the states of a lane and a value, and of what began directly in them. Rows of segments have no times that are far.
#[derive(Clone, Copy, Debug)]
struct Sums {
    count: u64,
    inclusive: Seconds,
    inner: Seconds,
    min: f64,
    max: f64,
}

impl Default for Sums {
    fn default() -> Self {
        let (inclusive, inner) = (Seconds::ZERO, Seconds::ZERO);
        Sums { count: 0, inclusive, inner, min: f64::INFINITY, max: 0.0 }
    }
}

impl Sums {
    #[inline]
    fn add_one(&mut self, inclusive: Seconds, seconds: f64) {
        self.count += 1;
        self.inclusive = self.inclusive.plus(inclusive);
        if seconds < self.min {
            self.min = seconds;
        }
        if seconds > self.max {
            self.max = seconds;
        }
    }

    #[inline]
    const fn take_in(&mut self, inner: Seconds) {
        self.inner = self.inner.plus(inner);
    }

    fn add(&mut self, other: &Sums) {
        self.count += other.count;
        self.inclusive = self.inclusive.plus(other.inclusive);
        self.take_in(other.inner);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The same as a replay has it: what began in states ended with them at the latest.
    fn cell(&self) -> Cell {
        let Sums { count, inclusive, inner, min, max } = *self;
        Cell { count, inclusive, exclusive: inclusive - inner, min, max }
    }
}

/// A cell of a segment, with the place of its value among durations, and its latest end, 0 if there is none.
#[derive(Debug)]
struct CellPart {
    sums: Sums,
    value: usize,
    last_end: f64,
}

/// States of a segment: sums by cell, durations by value, and the latest end of each lane.
#[derive(Debug)]
pub(crate) struct StatesPart {
    cells: Vec<CellPart>,
    durations: Vec<Vec<f64>>,
    last_ends: Vec<Option<f64>>,
}

impl StatesPart {
    /// Adds up the states of a segment.
    pub(crate) fn of(rows: &Rows) -> Self {
        let part = |(_, value): &(u32, u32)| CellPart {
            sums: Sums::default(),
            value: *value as usize,
            last_end: 0.0,
        };
        let mut cells: Vec<CellPart> = rows.cells.iter().map(part).collect();
        let mut durations = vec![Vec::new(); rows.values.len()];
        for StateRow { cell, around, start, end } in &rows.states {
            let (inclusive, seconds) = (Seconds::between(*start, *end), end - start);
            let part = &mut cells[*cell as usize];
            part.sums.add_one(inclusive, seconds);
            part.last_end = *end;
            durations[part.value].push(seconds);
            if let Some(around) = cells.get_mut(*around as usize) {
                around.sums.take_in(inclusive);
            }
        }
        let last = |lane: &paje_pack::Lane| lane.endings.last().map(|ending| ending.end);
        let mut last_ends: Vec<_> = rows.lanes.iter().map(last).collect();
        for ((lane, _), cell) in
            rows.cells.iter().zip(&cells).filter(|(_, cell)| cell.sums.count > 0)
        {
            let last = &mut last_ends[*lane as usize];
            *last = later(*last, Some(cell.last_end));
        }
        StatesPart { cells, durations, last_ends }
    }

    /// Sum of what began in states that a cell stands for.
    fn inner(&self, cell: u32) -> Seconds {
        self.cells.get(cell as usize).map_or(Seconds::ZERO, |cell| cell.sums.inner)
    }
}

/// The later one of two times that may be none.
fn later(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}

/// A lane, as far as segments have come.
#[derive(Debug, Default)]
struct LaneSums {
    sums: FxHashMap<u32, Sums>,
    /// Beginnings and values.
    open: Vec<(f64, u32)>,
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
        let (start, value) = self.open.pop()?;
        let (inclusive, seconds) = (Seconds::between(start, end), end - start);
        self.sums.entry(value).or_default().add_one(inclusive, seconds);
        durations.entry(value).or_default().push(seconds);
        self.take_in(inclusive);
        self.last_end = Some(end);
        Some(())
    }

    /// States began directly in the one on top.
    fn take_in(&mut self, inner: Seconds) {
        if let Some((_, value)) = self.open.last()
            && !inner.is_zero()
        {
            self.sums.entry(*value).or_default().take_in(inner);
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
            if *lane != NO_CELL {
                let sums = &mut self.lanes[lanes[*lane as usize] as usize].sums;
                sums.entry(values[*value as usize]).or_default().add(&cell.sums);
            }
        }
        for ((seen, last_end), number) in rows.lanes.iter().zip(&part.last_ends).zip(lanes) {
            let sums = &mut self.lanes[*number as usize];
            for Ending { all, end, inner } in &seen.endings {
                sums.take_in(part.inner(*inner));
                if *all {
                    while !sums.open.is_empty() {
                        sums.end(*end, &mut self.durations)?;
                    }
                } else {
                    sums.end(*end, &mut self.durations)?;
                }
            }
            sums.take_in(part.inner(seen.around));
            for (start, cell) in &seen.open {
                sums.open.push((*start, values[rows.cells[*cell as usize].1 as usize]));
            }
            sums.last_end = later(sums.last_end, *last_end);
        }
        for (value, durations) in values.iter().zip(part.durations) {
            let mut durations = Durations::of(durations);
            self.durations.entry(*value).or_default().append(&mut durations);
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
            if sums.sums.values().all(|sums| sums.count == 0) {
                continue;
            }
            let LaneId(number) = lane.id?;
            let number = number as usize;
            if states.lanes.len() <= number {
                states.lanes.resize_with(number + 1, Lane::default);
            }
            let kept = &mut states.lanes[number];
            for (value, sums) in sums.sums.iter().filter(|(_, sums)| sums.count > 0) {
                let place = kept.cells.index(ids[*value as usize].1);
                kept.cells.at(place).add(&sums.cell());
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
