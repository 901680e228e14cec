//! From rows in the order of their starts to bins.

use std::collections::VecDeque;
use std::ops::Range;

use paje_parser::TypeNature;
use rustc_hash::FxHashMap;

use crate::bins::{Bins, Key};
use crate::clock::{Clock, TOP};
use crate::lane::key;
use crate::row::Row;

/// Keys, numbered in the order of their first use.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) list: Vec<Key>,
    numbers: FxHashMap<Key, u32>,
    /// Some of them again, each in a place of its own: most rows find theirs here.
    recent: Vec<Option<(Key, u32)>>,
}

/// So many keys are found at once; of lanes with fewer rows, none.
const RECENT: usize = 256;

impl Keys {
    /// For a lane with so many rows.
    pub(crate) fn of_rows(rows: u64) -> Self {
        let recent = if rows < RECENT as u64 { Vec::new() } else { vec![None; RECENT] };
        Keys { recent, ..Keys::default() }
    }

    #[inline]
    pub(crate) fn number(&mut self, key: Key) -> u32 {
        let place = match key {
            Key::State(imbrication, value) => value.0.wrapping_mul(4).wrapping_add(imbrication),
            Key::Event(value) => value.0,
            Key::Link(from, to) => from.0.wrapping_mul(17).wrapping_add(to.0),
        };
        let place = place as usize % RECENT;
        match self.recent.get(place) {
            Some(Some((same, number))) if *same == key => *number,
            _ => self.look_up(key, place),
        }
    }

    fn look_up(&mut self, key: Key, place: usize) -> u32 {
        let number = *self.numbers.entry(key).or_insert_with(|| {
            self.list.push(key);
            self.list.len() as u32 - 1
        });
        if let Some(recent) = self.recent.get_mut(place) {
            *recent = Some((key, number));
        }
        number
    }
}

/// Counts what is in some bins of a level, for rows that come in the order of their starts.
#[derive(Debug)]
pub(crate) struct Tally {
    level: u32,
    range: Range<u64>,
    bins: Bins,
    /// The bin at hand, what is in it, and how many rows began in it.
    at: u64,
    amounts: Vec<(u32, u64)>,
    starts: u32,
    /// By number of a key: the bin that last had it, and where among its amounts.
    places: Vec<(u64, u32)>,
    /// Amounts known so far of the bins behind it.
    ahead: VecDeque<Vec<(u32, u64)>>,
}

impl Tally {
    pub(crate) fn new(level: u32, range: Range<u64>) -> Self {
        Tally {
            level,
            bins: Bins::empty(level, range.start),
            at: range.start,
            range,
            amounts: Vec::new(),
            starts: 0,
            places: Vec::new(),
            ahead: VecDeque::new(),
        }
    }

    /// A state or an event.
    #[inline]
    pub(crate) fn row(&mut self, nature: TypeNature, row: &Row, keys: &mut Keys, clock: Clock) {
        let number = keys.number(key(nature, row));
        let start = clock.ticks(row.start);
        match nature {
            TypeNature::Event => self.event(number, start),
            _ => self.interval(number, start, clock.ticks(row.end)),
        }
    }

    /// Something happened at a tick.
    #[inline]
    pub(crate) fn event(&mut self, number: u32, tick: u64) {
        let bin = tick >> self.level;
        if self.range.contains(&bin) {
            self.turn_to(bin);
            self.starts = self.starts.saturating_add(1);
            self.add(number, 1);
        }
    }

    /// Something lasted from one tick to another.
    #[inline]
    pub(crate) fn interval(&mut self, number: u32, start: u64, end: u64) {
        let (level, range) = (self.level, self.range.clone());
        let begins = range.contains(&(start >> level));
        let from = start.max(range.start << level);
        let to = end.min(range.end << level);
        if !begins && from >= to {
            return;
        }
        let bin = from >> level;
        self.turn_to(bin);
        self.starts = self.starts.saturating_add(u32::from(begins));
        let mut upto = (bin + 1) << level;
        self.add(number, to.min(upto).saturating_sub(from));
        let mut next = 0;
        while upto < to {
            let from = upto;
            upto += 1 << level;
            if self.ahead.len() == next {
                self.ahead.push_back(Vec::new());
            }
            self.ahead[next].push((number, to.min(upto) - from));
            next += 1;
        }
    }

    #[inline]
    fn add(&mut self, number: u32, amount: u64) {
        if self.places.len() <= number as usize {
            self.places.resize(number as usize + 1, (u64::MAX, 0));
        }
        let place = &mut self.places[number as usize];
        if place.0 == self.at {
            let sum = &mut self.amounts[place.1 as usize].1;
            *sum = sum.saturating_add(amount);
        } else {
            *place = (self.at, self.amounts.len() as u32);
            self.amounts.push((number, amount));
        }
    }

    #[inline]
    fn turn_to(&mut self, bin: u64) {
        while self.at < bin {
            self.close();
        }
    }

    fn close(&mut self) {
        self.amounts.sort_unstable();
        self.bins.push(self.starts, &self.amounts);
        self.amounts.clear();
        (self.at, self.starts) = (self.at + 1, 0);
        for (number, amount) in self.ahead.pop_front().unwrap_or_default() {
            self.add(number, amount);
        }
    }

    /// The bins, as far as there is anything in them.
    pub(crate) fn finish(mut self) -> Bins {
        while !self.amounts.is_empty() || !self.ahead.is_empty() {
            self.close();
        }
        self.bins
    }
}

/// Counts links by the bins of their starts, in any order, and by their ends.
#[derive(Debug)]
pub(crate) struct LinkTally {
    level: u32,
    range: Range<u64>,
    counts: FxHashMap<(u64, u32), (u64, f64)>,
}

impl LinkTally {
    pub(crate) fn new(level: u32, range: Range<u64>) -> Self {
        LinkTally { level, range, counts: FxHashMap::default() }
    }

    /// So many pairs of a bin and a key there are.
    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    pub(crate) fn can_coarsen(&self) -> bool {
        self.level < TOP
    }

    pub(crate) fn add(&mut self, number: u32, start: u64, delay: f64) {
        let bin = start >> self.level;
        if self.range.contains(&bin) {
            let sum = self.counts.entry((bin, number)).or_default();
            *sum = (sum.0 + 1, sum.1 + delay);
        }
    }

    /// Goes on with bins twice as wide.
    pub(crate) fn coarsen(&mut self) {
        self.level += 1;
        self.range = self.range.start / 2..self.range.end.div_ceil(2);
        for ((bin, number), (count, delay)) in std::mem::take(&mut self.counts) {
            let sum = self.counts.entry((bin / 2, number)).or_default();
            *sum = (sum.0 + count, sum.1 + delay);
        }
    }

    pub(crate) fn finish(self) -> Bins {
        let mut all: Vec<_> = self.counts.into_iter().collect();
        all.sort_unstable_by_key(|(place, _)| *place);
        let mut bins =
            Bins::empty(self.level, all.first().map_or(self.range.start, |(at, _)| at.0));
        let mut amounts = Vec::new();
        for same in all.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
            let bin = same[0].0.0;
            while bins.range().end < bin {
                bins.push(0, &[]);
            }
            amounts.clear();
            amounts.extend(same.iter().map(|((_, number), (count, _))| (*number, *count)));
            let starts = amounts.iter().map(|(_, count)| count).sum::<u64>();
            bins.delays.extend(same.iter().map(|(_, (_, delay))| delay));
            bins.push(u32::try_from(starts).unwrap_or(u32::MAX), &amounts);
        }
        bins
    }
}
