//! Bins with amounts by key.

use std::cmp::Ordering;
use std::ops::Range;

use paje_sim::{ContainerId, ValueId};

/// Key of an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// State of an imbrication and value.
    State(u32, ValueId),
    /// Event with a value.
    Event(ValueId),
    /// Link from one container to another.
    Link(ContainerId, ContainerId),
}

/// Consecutive bins whose width in ticks is a power of two.
pub trait Level: Clone {
    /// Returns the binary logarithm of the width in ticks.
    fn level(&self) -> u32;

    /// Returns the range of bin numbers. Bin `n` begins at `n` times the width.
    fn range(&self) -> Range<u64>;

    /// Returns the bins of the next coarser level. Each is the sum of two bins.
    fn above(&self) -> Self;

    /// Returns the memory in bytes. Keys do not count.
    fn bytes(&self) -> u64;
}

/// Consecutive bins with amounts by key. All bins outside the range are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bins {
    pub(crate) level: u32,
    pub(crate) first: u64,
    /// For each bin, the index after its last amount.
    pub(crate) ends: Vec<u32>,
    pub(crate) starts: Vec<u32>,
    /// Key numbers of amounts, ascending within a bin.
    pub(crate) numbers: Vec<u32>,
    pub(crate) amounts: Vec<u64>,
    /// For links only: sum of the durations in seconds, for each amount.
    pub(crate) delays: Vec<f64>,
    pub(crate) keys: Vec<Key>,
}

/// Contents of one bin.
#[derive(Clone, Copy, Debug)]
pub struct Bin<'b> {
    bins: &'b Bins,
    at: usize,
}

impl Bins {
    pub(crate) fn empty(level: u32, first: u64) -> Self {
        Bins { level, first, ..Bins::default() }
    }

    /// Returns a bin by its position.
    ///
    /// # Panics
    /// There is no bin at this position.
    #[must_use]
    pub fn bin(&self, at: usize) -> Bin<'_> {
        assert!(at < self.ends.len(), "there are {} bins", self.ends.len());
        Bin { bins: self, at }
    }

    /// Iterates over the bins.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Bin<'_>> {
        (0..self.ends.len()).map(|at| Bin { bins: self, at })
    }

    /// Returns the key with a number.
    ///
    /// # Panics
    /// There is no key with this number.
    #[must_use]
    pub fn key(&self, number: u32) -> Key {
        self.keys[number as usize]
    }

    pub(crate) fn shrink(&mut self) {
        self.ends.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.numbers.shrink_to_fit();
        self.amounts.shrink_to_fit();
        self.delays.shrink_to_fit();
    }

    fn span(&self, at: usize) -> Range<usize> {
        let from = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        from..self.ends[at] as usize
    }

    pub(crate) fn push(&mut self, starts: u32, amounts: impl Iterator<Item = (u32, u64)>) {
        for (number, amount) in amounts {
            self.numbers.push(number);
            self.amounts.push(amount);
        }
        self.starts.push(starts);
        self.ends.push(self.numbers.len() as u32);
    }

    /// Appends the sum of two bins, given as ranges of amounts. Both ranges are sorted by key.
    fn add_both(&mut self, other: &Bins, left: Range<usize>, right: Range<usize>) {
        let (mut i, mut j) = (left.start, right.start);
        while i < left.end && j < right.end {
            let (a, b) = (other.numbers[i], other.numbers[j]);
            self.numbers.push(a.min(b));
            self.amounts.push(match a.cmp(&b) {
                Ordering::Less => other.amounts[i],
                Ordering::Equal => other.amounts[i].saturating_add(other.amounts[j]),
                Ordering::Greater => other.amounts[j],
            });
            if !other.delays.is_empty() {
                self.delays.push(match a.cmp(&b) {
                    Ordering::Less => other.delays[i],
                    Ordering::Equal => other.delays[i] + other.delays[j],
                    Ordering::Greater => other.delays[j],
                });
            }
            (i, j) = (i + usize::from(a <= b), j + usize::from(b <= a));
        }
        for rest in [i..left.end, j..right.end] {
            self.numbers.extend_from_slice(&other.numbers[rest.clone()]);
            self.amounts.extend_from_slice(&other.amounts[rest.clone()]);
            if !other.delays.is_empty() {
                self.delays.extend_from_slice(&other.delays[rest]);
            }
        }
    }

    pub(crate) fn cut(&self, range: Range<u64>, keys: &[Key]) -> Bins {
        let own = self.range();
        let from = range.start.clamp(own.start, own.end);
        let to = range.end.clamp(from, own.end);
        let (from, to) = ((from - self.first) as usize, (to - self.first) as usize);
        let begin = if from == 0 { 0 } else { self.ends[from - 1] as usize };
        let end = if to == 0 { 0 } else { self.ends[to - 1] as usize };
        let delays = if self.delays.is_empty() { &[][..] } else { &self.delays[begin..end] };
        Bins {
            level: self.level,
            first: self.first + from as u64,
            ends: self.ends[from..to].iter().map(|at| at - begin as u32).collect(),
            starts: self.starts[from..to].to_vec(),
            numbers: self.numbers[begin..end].to_vec(),
            amounts: self.amounts[begin..end].to_vec(),
            delays: delays.to_vec(),
            keys: keys.to_vec(),
        }
    }
}

impl Level for Bins {
    fn level(&self) -> u32 {
        self.level
    }

    fn range(&self) -> Range<u64> {
        self.first..self.first + self.ends.len() as u64
    }

    fn above(&self) -> Bins {
        let mut above = Bins::empty(self.level + 1, self.first / 2);
        let range = self.range();
        let child = |bin: u64| {
            let at = (bin.wrapping_sub(self.first)) as usize;
            if range.contains(&bin) { (self.span(at), self.starts[at]) } else { (0..0, 0) }
        };
        let mut bin = above.first;
        while bin * 2 < range.end {
            let ((left, starts), (right, more)) = (child(bin * 2), child(bin * 2 + 1));
            above.add_both(self, left, right);
            above.starts.push(starts.saturating_add(more));
            above.ends.push(above.numbers.len() as u32);
            bin += 1;
        }
        above
    }

    fn bytes(&self) -> u64 {
        let each = 4 + 8 * u64::from(!self.delays.is_empty()) + 8;
        self.ends.len() as u64 * 8 + self.numbers.len() as u64 * each
    }
}

/// Amount of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount {
    /// Key.
    pub key: Key,
    /// Ticks of states, or number of events or links.
    pub amount: u64,
    /// Sum of the durations of links in seconds.
    pub delay: f64,
}

impl<'b> Bin<'b> {
    /// Returns the number of rows that begin in the bin.
    #[must_use]
    pub fn starts(self) -> u32 {
        self.bins.starts[self.at]
    }

    /// Iterates over the amounts by ascending key number.
    pub fn amounts(self) -> impl ExactSizeIterator<Item = Amount> + use<'b> {
        let bins = self.bins;
        bins.span(self.at).map(move |i| Amount {
            key: bins.key(bins.numbers[i]),
            amount: bins.amounts[i],
            delay: bins.delays.get(i).copied().unwrap_or(0.0),
        })
    }
}
