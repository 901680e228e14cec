//! Counts a lane's rows in bins.

use std::convert::Infallible;
use std::ops::Range;

use paje_parser::TypeNature;
use paje_sim::{Events, LaneView, Links, States, Variables, Visitor};

use super::Summary;
use super::bins::Key;
use super::clock::Clock;
use super::links::LinkTally;
use super::ranges::Ranges;
use super::tally::{Keys, Tally};

/// For each chunk, its number of rows, and its first and last time in seconds.
#[derive(Debug, Default)]
pub(crate) struct Extents {
    pub(crate) chunks: Vec<(usize, f64, f64)>,
}

impl Extents {
    pub(crate) fn of(view: LaneView<'_>) -> Self {
        let mut extents = Extents::default();
        let Ok(()) = view.visit(&mut extents);
        extents
    }

    fn add(&mut self, count: usize, starts: &[f64], ends: &[f64]) {
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for times in [starts, ends] {
            // Times are finite, so a comparison is enough. It is faster than `f64::min`.
            for time in times {
                from = if *time < from { *time } else { from };
                to = if *time > to { *time } else { to };
            }
        }
        self.chunks.push((count, from, to));
    }
}

impl Visitor for Extents {
    type Error = Infallible;

    fn states(&mut self, _: LaneView<'_>, it: States<'_>) -> Result<(), Infallible> {
        self.add(it.start.len(), it.start, it.end);
        Ok(())
    }

    fn variables(&mut self, _: LaneView<'_>, it: Variables<'_>) -> Result<(), Infallible> {
        self.add(it.start.len(), it.start, &[it.last_end]);
        Ok(())
    }

    fn events(&mut self, _: LaneView<'_>, it: Events<'_>) -> Result<(), Infallible> {
        self.add(it.time.len(), it.time, &[]);
        Ok(())
    }

    fn links(&mut self, _: LaneView<'_>, it: Links<'_>) -> Result<(), Infallible> {
        self.add(it.start.len(), it.start, it.end);
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Most {
    pub(crate) keys: Option<usize>,
    /// Number of amounts of links.
    pub(crate) amounts: Option<usize>,
    /// Number of amounts of states and events.
    pub(crate) values: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct Count {
    clock: Clock,
    most_keys: usize,
    keys: Keys,
    sums: Sums,
}

#[derive(Debug)]
enum Sums {
    Bins(Box<Tally>),
    Links(LinkTally),
    Ranges(Ranges, Range<u64>),
}

#[derive(Debug)]
pub(crate) struct TooManyKeys;

impl Count {
    pub(crate) fn new(
        nature: TypeNature,
        rows: u64,
        clock: Clock,
        level: u32,
        range: Range<u64>,
        most: Most,
    ) -> Self {
        let sums = match nature {
            TypeNature::Variable => Sums::Ranges(Ranges::empty(level, range.start), range),
            TypeNature::Link => Sums::Links(LinkTally::new(level, range, most.amounts)),
            _ => Sums::Bins(Box::new(Tally::new(level, range, most.values))),
        };
        let most_keys = most.keys.unwrap_or(usize::MAX);
        Count { clock, most_keys, keys: Keys::of_rows(rows), sums }
    }

    pub(crate) fn finish(self, nature: TypeNature) -> Summary {
        let mut bins = match self.sums {
            Sums::Ranges(ranges, _) => return Summary::Variable(ranges),
            Sums::Links(tally) => tally.finish(),
            Sums::Bins(tally) => tally.finish(),
        };
        bins.keys = self.keys.list;
        Summary::of(nature, bins)
    }

    fn checked(&self) -> Result<(), TooManyKeys> {
        if self.keys.list.len() > self.most_keys { Err(TooManyKeys) } else { Ok(()) }
    }
}

impl Visitor for Count {
    type Error = TooManyKeys;

    fn states(&mut self, _: LaneView<'_>, it: States<'_>) -> Result<(), TooManyKeys> {
        let Sums::Bins(tally) = &mut self.sums else { return Ok(()) };
        let (times, names) = (it.start.iter().zip(it.end), it.imbrication.iter().zip(it.value));
        let clock = self.clock;
        for ((start, end), (imbrication, value)) in times.zip(names) {
            let number = self.keys.number(Key::State(*imbrication, *value));
            tally.interval(number, clock.ticks(*start), clock.ticks(*end));
        }
        self.checked()
    }

    fn variables(&mut self, _: LaneView<'_>, it: Variables<'_>) -> Result<(), TooManyKeys> {
        let Sums::Ranges(ranges, range) = &mut self.sums else { return Ok(()) };
        let tick = self.clock.seconds(1);
        for (i, (start, height)) in it.start.iter().zip(it.value).enumerate() {
            let (start, end) = (self.clock.ticks(*start), self.clock.ticks(it.end(i)));
            ranges.add(range, *height, start, end, tick);
        }
        Ok(())
    }

    fn events(&mut self, _: LaneView<'_>, it: Events<'_>) -> Result<(), TooManyKeys> {
        let Sums::Bins(tally) = &mut self.sums else { return Ok(()) };
        for (time, value) in it.time.iter().zip(it.value) {
            tally.event(self.keys.number(Key::Event(*value)), self.clock.ticks(*time));
        }
        self.checked()
    }

    fn links(&mut self, _: LaneView<'_>, it: Links<'_>) -> Result<(), TooManyKeys> {
        let Sums::Links(tally) = &mut self.sums else { return Ok(()) };
        let (times, ends) = (it.start.iter().zip(it.end), it.from.iter().zip(it.to));
        for ((start, end), (from, to)) in times.zip(ends) {
            let number = self.keys.number(Key::Link(*from, *to));
            tally.add(number, self.clock.ticks(*start), end - start);
        }
        self.checked()
    }
}
