//! Counts rows that are sorted by their starts.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::bins::{Bins, Key, Level};
use super::clock::TOP;

#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) list: Vec<Key>,
    numbers: FxHashMap<Key, u32>,
    /// Cache of keys and their numbers. Most look-ups find their key here.
    recent: Vec<(u64, u32)>,
}

/// Number of entries of the cache. Lanes with fewer rows have no cache.
const RECENT: usize = 256;

/// Marks an empty entry. No key of a trace has this value.
const NO_KEY: u64 = u64::MAX;

impl Keys {
    pub(crate) fn of_rows(rows: u64) -> Self {
        let places = if rows < RECENT as u64 { 0 } else { RECENT };
        Keys { recent: vec![(NO_KEY, 0); places], ..Keys::default() }
    }

    #[inline]
    pub(crate) fn number(&mut self, key: Key) -> u32 {
        let (low, high) = match key {
            Key::State(imbrication, value) => (imbrication, value.0),
            Key::Event(value) => (0, value.0),
            Key::Link(from, to) => (to.0, from.0),
        };
        let whole = u64::from(high) << 32 | u64::from(low);
        let place = high.wrapping_mul(17).wrapping_add(low) as usize % RECENT;
        match self.recent.get(place) {
            Some((same, number)) if *same == whole => *number,
            _ => self.look_up(key, whole, place),
        }
    }

    #[cold]
    fn look_up(&mut self, key: Key, whole: u64, place: usize) -> u32 {
        let number = *self.numbers.entry(key).or_insert_with(|| {
            self.list.push(key);
            self.list.len() as u32 - 1
        });
        if let Some(recent) = self.recent.get_mut(place) {
            *recent = (whole, number);
        }
        number
    }
}

/// Counts the rows of each bin of a level. Rows must be sorted by their starts.
#[derive(Debug)]
pub(crate) struct Tally {
    level: u32,
    range: Range<u64>,
    /// Maximum number of amounts. If it is exceeded, bins become twice as wide.
    most: usize,
    bins: Bins,
    at: u64,
    /// Ticks of the current bin. Empty if the bin is out of range.
    ticks: Range<u64>,
    starts: u32,
    /// For each key number, the last bin with this key and the amount in it.
    amounts: Vec<(u64, u64)>,
    present: Vec<u32>,
    /// Key number and last tick of the states that extend beyond the current bin.
    open: Vec<(u32, u64)>,
}

impl Tally {
    pub(crate) fn new(level: u32, range: Range<u64>, most: Option<usize>) -> Self {
        Tally {
            level,
            most: most.unwrap_or(usize::MAX),
            bins: Bins::empty(level, range.start),
            at: range.start,
            ticks: ticks(level, &range, range.start),
            range,
            starts: 0,
            amounts: Vec::new(),
            present: Vec::new(),
            open: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn event(&mut self, number: u32, tick: u64) {
        if self.ticks.contains(&tick) {
            self.starts = self.starts.saturating_add(1);
            return self.add(number, 1);
        }
        let bin = tick >> self.level;
        if self.range.contains(&bin) {
            self.turn_to(tick);
            self.starts = self.starts.saturating_add(1);
            self.add(number, 1);
        }
    }

    #[inline]
    pub(crate) fn interval(&mut self, number: u32, start: u64, end: u64) {
        if self.ticks.contains(&start) && end <= self.ticks.end {
            self.starts = self.starts.saturating_add(1);
            return self.add(number, end.saturating_sub(start));
        }
        self.long_interval(number, start, end);
    }

    /// Counts a state that extends beyond the current bin.
    #[cold]
    fn long_interval(&mut self, number: u32, start: u64, end: u64) {
        let (level, range) = (self.level, self.range.clone());
        let begins = range.contains(&(start >> level));
        let from = start.max(range.start << level);
        let to = end.min(range.end << level);
        if !begins && from >= to {
            return;
        }
        self.turn_to(from);
        self.starts = self.starts.saturating_add(u32::from(begins));
        // Bins may have become wider.
        let upto = (self.at + 1) << self.level;
        self.add(number, to.min(upto).saturating_sub(from));
        if to > upto {
            self.open.push((number, to));
        }
    }

    #[inline]
    fn add(&mut self, number: u32, amount: u64) {
        match self.amounts.get_mut(number as usize) {
            Some((bin, sum)) if *bin == self.at => *sum = sum.saturating_add(amount),
            _ => self.add_first(number, amount),
        }
    }

    #[cold]
    fn add_first(&mut self, number: u32, amount: u64) {
        let place = number as usize;
        if self.amounts.len() <= place {
            self.amounts.resize(place + 1, (u64::MAX, 0));
        }
        self.amounts[place] = (self.at, amount);
        self.present.push(number);
    }

    /// Closes all bins that end before a tick.
    fn turn_to(&mut self, tick: u64) {
        while self.at < tick >> self.level {
            self.close();
        }
    }

    fn close(&mut self) {
        self.present.sort_unstable();
        let amounts = &self.amounts;
        let present = self.present.iter().map(|number| (*number, amounts[*number as usize].1));
        self.bins.push(self.starts, present);
        self.present.clear();
        (self.at, self.starts) = (self.at + 1, 0);
        if self.bins.numbers.len() > self.most && self.at.is_multiple_of(2) && self.level < TOP {
            self.widen();
        }
        self.ticks = ticks(self.level, &self.range, self.at);
        let (from, upto) = (self.at << self.level, (self.at + 1) << self.level);
        let mut open = std::mem::take(&mut self.open);
        open.retain(|(number, end)| {
            self.add(*number, (*end).min(upto) - from);
            *end > upto
        });
        self.open = open;
    }

    /// Makes bins twice as wide. The next bin has an even number.
    fn widen(&mut self) {
        self.bins = self.bins.above();
        self.level += 1;
        self.range = self.range.start / 2..self.range.end.div_ceil(2);
        self.at /= 2;
        // Numbers of bins have another meaning now.
        self.amounts.fill((u64::MAX, 0));
    }

    /// Returns all bins up to the last one that is not empty.
    pub(crate) fn finish(mut self) -> Bins {
        while !self.present.is_empty() || !self.open.is_empty() {
            self.close();
        }
        self.bins
    }
}

/// Returns the ticks of a bin. Empty if the bin is out of range.
fn ticks(level: u32, range: &Range<u64>, bin: u64) -> Range<u64> {
    if range.contains(&bin) { bin << level..(bin + 1) << level } else { 0..0 }
}
