//! Counts links, which are sorted by their ends.

use std::ops::Range;

use super::bins::Bins;
use super::clock::TOP;

#[derive(Clone, Copy, Debug)]
struct Run {
    bin: u64,
    count: u64,
    delay: f64,
}

/// Links of one key. Links that end later mostly start later too, so most of them extend the last
/// run.
#[derive(Debug, Default)]
struct Runs {
    list: Vec<Run>,
    is_mixed: bool,
}

impl Runs {
    fn sum_up(&mut self) {
        if std::mem::take(&mut self.is_mixed) {
            self.list.sort_by_key(|run| run.bin);
        }
        self.list.dedup_by(|next, run| {
            let same = next.bin == run.bin;
            if same {
                run.count += next.count;
                run.delay += next.delay;
            }
            same
        });
    }
}

/// Counts links in any order, by bin of the start and by key.
#[derive(Debug)]
pub(crate) struct LinkTally {
    level: u32,
    range: Range<u64>,
    /// Maximum number of amounts, or `None` for no limit. If it is exceeded, bins become twice as
    /// wide.
    most: Option<usize>,
    keys: Vec<Runs>,
    /// Number of runs, and the number at which runs are merged.
    count: usize,
    room: usize,
}

const LEAST_ROOM: usize = 1 << 12;

impl LinkTally {
    /// Creates a counter for links that begin in a range of bins, with at most `most` amounts.
    pub(crate) fn new(level: u32, range: Range<u64>, most: Option<usize>) -> Self {
        let room = most.unwrap_or(0).max(LEAST_ROOM);
        LinkTally { level, range, most, keys: Vec::new(), count: 0, room }
    }

    #[inline]
    pub(crate) fn add(&mut self, number: u32, start: u64, delay: f64) {
        let bin = start >> self.level;
        if !self.range.contains(&bin) {
            return;
        }
        match self.keys.get_mut(number as usize).and_then(|runs| runs.list.last_mut()) {
            Some(run) if run.bin == bin => {
                run.count += 1;
                run.delay += delay;
            }
            _ => self.begin(number as usize, Run { bin, count: 1, delay }),
        }
    }

    fn begin(&mut self, number: usize, run: Run) {
        if self.keys.len() <= number {
            self.keys.resize_with(number + 1, Runs::default);
        }
        let runs = &mut self.keys[number];
        runs.is_mixed |= runs.list.last().is_some_and(|last| last.bin > run.bin);
        runs.list.push(run);
        self.count += 1;
        if self.count >= self.room {
            self.make_room();
        }
    }

    fn make_room(&mut self) {
        self.sum_up();
        while self.most.is_some_and(|most| self.count > most / 2) && self.level < TOP {
            self.level += 1;
            self.range = self.range.start / 2..self.range.end.div_ceil(2);
            let runs = self.keys.iter_mut().flat_map(|runs| &mut runs.list);
            runs.for_each(|run| run.bin /= 2);
            self.sum_up();
        }
        self.room = self.room.max(2 * self.count);
    }

    fn sum_up(&mut self) {
        self.keys.iter_mut().for_each(Runs::sum_up);
        self.count = self.keys.iter().map(|runs| runs.list.len()).sum();
    }

    pub(crate) fn finish(mut self) -> Bins {
        self.sum_up();
        if self.most.is_some_and(|most| self.count > most) {
            self.make_room();
        }
        let ends =
            self.keys.iter().filter_map(|runs| Some((runs.list.first()?, runs.list.last()?)));
        let (first, last) = ends.fold((u64::MAX, 0), |(first, last), (from, to)| {
            (first.min(from.bin), last.max(to.bin))
        });
        if first > last {
            return Bins::empty(self.level, self.range.start);
        }
        let mut bins = Bins::empty(self.level, first);
        let mut starts = vec![0u64; (last - first) as usize + 1];
        // Index of each bin's next amount. In the end, it is the end of the bin.
        let mut places = vec![0u32; starts.len()];
        let runs = || self.keys.iter().flat_map(|runs| &runs.list);
        for run in runs() {
            starts[(run.bin - first) as usize] += run.count;
            places[(run.bin - first) as usize] += 1;
        }
        let mut all = 0;
        for place in &mut places {
            (*place, all) = (all, all + *place);
        }
        bins.numbers = vec![0; self.count];
        bins.amounts = vec![0; self.count];
        bins.delays = vec![0.0; self.count];
        for (number, runs) in (0..).zip(&self.keys) {
            for run in &runs.list {
                let place = &mut places[(run.bin - first) as usize];
                bins.numbers[*place as usize] = number;
                bins.amounts[*place as usize] = run.count;
                bins.delays[*place as usize] = run.delay;
                *place += 1;
            }
        }
        bins.starts =
            starts.iter().map(|count| u32::try_from(*count).unwrap_or(u32::MAX)).collect();
        bins.ends = places;
        bins
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    type Sums = BTreeMap<(u64, u32), (u64, f64)>;

    fn count(most: Option<usize>, links: &[(u32, u64)]) -> (u32, Sums) {
        let mut tally = LinkTally::new(0, 0..1 << 20, most);
        links.iter().for_each(|(number, start)| tally.add(*number, *start, 0.5));
        let bins = tally.finish();
        let mut sums = Sums::new();
        for at in 0..bins.ends.len() {
            let from = if at == 0 { 0 } else { bins.ends[at - 1] } as usize;
            for i in from..bins.ends[at] as usize {
                let place = (bins.first + at as u64, bins.numbers[i]);
                assert_eq!(sums.insert(place, (bins.amounts[i], bins.delays[i])), None);
            }
        }
        (bins.level, sums)
    }

    #[test]
    fn alternating_runs_are_merged() {
        // Links of each key alternate between early and late ones, so that each run has a single
        // link.
        let links: Vec<(u32, u64)> =
            (0..60_000).map(|i| ((i / 2) % 5, u64::from(i % 2) * 700 + u64::from(i % 3))).collect();
        let mut plain = Sums::new();
        for (number, start) in &links {
            let sum = plain.entry((*start, *number)).or_default();
            *sum = (sum.0 + 1, sum.1 + 0.5);
        }
        assert_eq!(count(None, &links), (0, plain));
    }

    #[test]
    fn bins_widen_to_limit_amounts() {
        let links: Vec<(u32, u64)> =
            (0..50_000u64).map(|i| (i as u32 % 3, i * 7919 % (1 << 20))).collect();
        let (level, sums) = count(Some(6000), &links);
        assert!(level > 0 && sums.len() <= 6000, "level {level}, {} amounts", sums.len());
        let mut plain = Sums::new();
        for (number, start) in &links {
            let sum = plain.entry((*start >> level, *number)).or_default();
            *sum = (sum.0 + 1, sum.1 + 0.5);
        }
        assert_eq!(sums, plain);
    }
}
