//! Divides groups of ranks if the times of their collectives contradict them.
//!
//! The ranks are divided into blocks of consecutive ranks, or into sets of ranks with the same
//! distance, such as the rows and columns of a grid. The last row may be shorter than the others.
//! Programs often use several groups in turn, so every second operation may have other members than
//! the first one.

use super::Series;
use crate::classes::Collective;
use crate::received::TIME_TOLERANCE;
use crate::tracks::Tracks;

/// Number of operations, and of calls in all of them, that a division needs. The times of fewer may fit by
/// chance.
const FEWEST_OPERATIONS: usize = 4;
const FEWEST_CALLS: usize = 40;

/// Largest number of calls after which the groups of a program may repeat.
const LONGEST_PERIOD: usize = 6;

/// Number of operations that are used to find out how the root moves.
const MOST_OPERATIONS: usize = 200;

/// Largest number of members that are divided into parts of different sizes.
const MOST_MEMBERS: usize = 64;

const fn explains(count: usize, wrong: usize) -> bool {
    wrong * 20 <= count
}

impl Series {
    /// Returns the times at which each member enters and leaves an operation, in seconds.
    #[must_use]
    pub fn times(&self, tracks: &Tracks<'_>, instance: usize) -> Vec<(f64, f64)> {
        let times = |(track, state): (&u32, &u32)| {
            let track = &tracks.list()[*track as usize];
            (track.start[*state as usize], track.end[*state as usize])
        };
        self.tracks.iter().zip(self.operation(instance)).map(times).collect()
    }

    /// Returns for how many seconds the members of an operation stay longer than they must, or
    /// `None` if their times contradict the operation.
    #[must_use]
    pub fn surplus(&self, tracks: &Tracks<'_>, instance: usize) -> Option<f64> {
        let times = self.times(tracks, instance);
        let root = times[self.root_of(instance).unwrap_or(0)];
        let latest = times.iter().map(|it| it.0).fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for it in &times {
            let since = match self.class {
                Collective::OneToN => it.0.max(root.0),
                Collective::NToOne if *it == root => latest,
                Collective::NxN | Collective::Barrier => latest,
                Collective::NToOne | Collective::Scan => it.0,
            };
            // Alone, a member has nothing to wait for.
            let is_alone = times.len() == 1 && it.1 > it.0 + TIME_TOLERANCE;
            if it.1 < since - TIME_TOLERANCE || is_alone {
                return None;
            }
            sum += it.1 - since;
        }
        Some(sum)
    }

    /// Returns for how many seconds the members stay longer than they must in all operations, and
    /// how many operations contradict the group.
    pub(crate) fn judge(&self, tracks: &Tracks<'_>) -> (f64, usize) {
        let all = (0..self.len()).map(|instance| self.surplus(tracks, instance));
        all.fold((0.0, 0), |(sum, wrong), surplus| match surplus {
            Some(surplus) => (sum + surplus, wrong),
            None => (sum, wrong + 1),
        })
    }

    /// Returns whether the group explains nearly all operations.
    fn explains(&self, wrong: usize) -> bool {
        explains(self.len(), wrong)
    }

    /// Returns whether a group may be divided, given the number of its operations and of those that
    /// contradict it.
    #[must_use]
    pub fn may_divide(count: usize, wrong: usize) -> bool {
        count >= FEWEST_OPERATIONS && !explains(count, wrong)
    }

    /// Returns a series of only these members. The root of a broadcast never waits. The root of a
    /// reduction waits longest.
    fn part(&self, tracks: &Tracks<'_>, members: &[usize]) -> Series {
        let pick = |operation: &[u32]| members.iter().map(|it| operation[*it]).collect::<Vec<_>>();
        let mut part = Series {
            tracks: members.iter().map(|it| self.tracks[*it]).collect(),
            states: (0..self.len()).flat_map(|at| pick(self.operation(at))).collect(),
            root: self.root.map(|_| 0),
            turn: 0,
            assumed: true,
            is_part: self.is_part || members.len() < self.tracks.len(),
            ..*self
        };
        let given = self.root.filter(|_| !self.assumed);
        if let Some(root) = given.and_then(|root| members.iter().position(|it| *it == root)) {
            (part.root, part.assumed) = (Some(root), false);
            return part;
        }
        let mut lasting = vec![0.0; members.len()];
        for operation in 0..part.len() {
            for (sum, (enter, exit)) in lasting.iter_mut().zip(part.times(tracks, operation)) {
                *sum += exit - enter;
            }
        }
        let by_time = |a: &usize, b: &usize| lasting[*a].total_cmp(&lasting[*b]);
        let root = match self.class {
            Collective::OneToN => (0..members.len()).min_by(by_time),
            Collective::NToOne => (0..members.len()).max_by(by_time),
            _ => return part,
        };
        let (other, moving) = (Series { root, ..part.clone() }, part.with_moving_root(tracks));
        let all = [other, part].into_iter().chain(moving);
        let by_times = |it: &Series| {
            let (surplus, wrong) = it.judge(tracks);
            (!it.explains(wrong), surplus)
        };
        let better = |a: Series, b: Series| if by_times(&b) <= by_times(&a) { b } else { a };
        all.reduce(better).unwrap_or_else(|| self.clone())
    }

    /// Returns a series whose root moves on by the same number of members after each operation, if this
    /// explains the times clearly better than one root.
    fn with_moving_root(&self, tracks: &Tracks<'_>) -> Option<Series> {
        let count = self.tracks.len();
        self.root.filter(|_| self.assumed && (3..=MOST_MEMBERS).contains(&count))?;
        let residuals = |instance| self.residuals(tracks, instance);
        let all: Vec<_> = (0..self.len().min(MOST_OPERATIONS)).map(residuals).collect();
        let sum = |root: usize, turn: usize| -> i128 {
            all.iter().enumerate().map(|(at, it)| it[(root + turn * at) % count]).sum()
        };
        let ways = (0..count).flat_map(|turn| (0..count).map(move |root| (turn, root)));
        let (turn, root) = ways.min_by_key(|(turn, root)| sum(*root, *turn))?;
        let fixed = (0..count).map(|root| sum(root, 0)).min()?;
        (5 * sum(root, turn) < 4 * fixed).then(|| Series { root: Some(root), turn, ..self.clone() })
    }

    /// Returns the series, or the parts that explain its times best.
    pub(super) fn divided(self, tracks: &Tracks<'_>) -> Vec<Series> {
        if !Series::may_divide(self.len(), self.judge(tracks).1) {
            return vec![self];
        }
        let mut best = self.best_parts(tracks);
        for period in 2..=LONGEST_PERIOD {
            let all = (0..period).map(|first| self.every(first, period).best_parts(tracks));
            let Some(all) = all.collect::<Option<Vec<_>>>() else { continue };
            let sum = all.iter().map(|it| it.0).sum::<f64>();
            // Shorter periods are simpler.
            if best.as_ref().is_none_or(|(least, _)| 5.0 * sum < 4.0 * least) {
                best = Some((sum, all.into_iter().flat_map(|it| it.1).collect()));
            }
        }
        best.map_or_else(|| vec![self], |(_, parts)| parts)
    }

    /// Returns the operation `first` and every `period`-th operation after it.
    fn every(&self, first: usize, period: usize) -> Series {
        let operations = (first..self.len()).step_by(period);
        let states = operations.flat_map(|at| self.operation(at).to_vec()).collect();
        Series { states, is_part: true, ..self.clone() }
    }

    /// Returns the parts that explain the times of all operations best, and their surplus. The group
    /// may also stay whole.
    fn best_parts(&self, tracks: &Tracks<'_>) -> Option<(f64, Vec<Series>)> {
        // If the whole is possible, parts must be clearly better. They can be better by chance if ranks
        // do not wait for all others.
        let limit = |(least, parts): &(f64, Vec<Series>)| match parts.len() {
            1 => 0.5 * least,
            _ => *least,
        };
        let better = |best, way: (f64, Vec<Series>)| if way.0 < limit(&best) { way } else { best };
        self.ways(tracks, false).reduce(better)
    }

    /// Returns the ways to divide the group that its times do not contradict, each with its surplus. The first one
    /// is the whole, if that is possible. Parts of different sizes are considered if the whole is impossible, or always.
    fn ways(
        &self,
        tracks: &Tracks<'_>,
        is_uneven: bool,
    ) -> impl Iterator<Item = (f64, Vec<Series>)> {
        let count = self.tracks.len();
        let mut ways: Vec<Vec<Vec<usize>>> = Vec::new();
        if self.len() >= FEWEST_OPERATIONS && self.states.len() >= FEWEST_CALLS {
            ways.push(vec![(0..count).collect()]);
            let with_root =
                |root| Series { root: self.root.map(|_| root), turn: 0, ..self.clone() };
            let is_whole = |root| self.explains(with_root(root).judge(tracks).1);
            let is_uneven = is_uneven || !(self.root.is_some() && (0..count).any(is_whole));
            let is_uneven = is_uneven && count <= MOST_MEMBERS;
            for size in (2..count).filter(|it| is_uneven || count.is_multiple_of(*it)) {
                let blocks =
                    (0..count).step_by(size).map(|at| (at..count.min(at + size)).collect());
                let strides = (0..size).map(|part| (part..count).step_by(size).collect());
                ways.extend([blocks.collect(), strides.collect()]);
            }
        }
        ways.into_iter().filter_map(|way| {
            let all: Vec<Series> = way.iter().map(|it| self.part(tracks, it)).collect();
            let judged: Vec<_> = all.iter().map(|part| part.judge(tracks)).collect();
            let is_possible = all.iter().zip(&judged).all(|(part, it)| part.explains(it.1));
            is_possible.then(|| (judged.iter().map(|it| it.0).sum::<f64>(), all))
        })
    }

    /// Returns the divisions into several parts that the times do not contradict. The one with the least surplus is first.
    pub(crate) fn divisions(&self, tracks: &Tracks<'_>) -> Vec<Vec<Series>> {
        let mut all: Vec<_> =
            self.ways(tracks, true).filter(|(_, parts)| parts.len() > 1).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.into_iter().map(|(_, parts)| parts).collect()
    }
}
