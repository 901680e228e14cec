//! Divides groups of ranks if the times of their collectives contradict them.
//!
//! The ranks are divided into blocks of consecutive ranks, or into sets of ranks with the same
//! distance, such as the rows and columns of a grid. The last row may be shorter than the others.

use super::Series;
use crate::classes::Collective;
use crate::received::TIME_TOLERANCE;
use crate::tracks::Tracks;

/// Number of operations that a division needs. The times of fewer operations may fit by chance.
const FEWEST_OPERATIONS: usize = 10;

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
            if it.1 < since - TIME_TOLERANCE {
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

    /// Returns whether the group may be divided, if so many of its operations contradict it.
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
            is_turning: false,
            assumed: true,
            is_part: true,
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
        let first = part.judge(tracks);
        let other = Series { root, ..part.clone() };
        let found = other.judge(tracks);
        let prefers_first =
            part.explains(first.1) && (!other.explains(found.1) || first.0 <= found.0);
        if prefers_first { part } else { other }
    }

    /// Returns the series, or the parts that explain its times best.
    pub(super) fn divided(self, tracks: &Tracks<'_>) -> Vec<Series> {
        if !Series::may_divide(self.len(), self.judge(tracks).1) {
            return vec![self];
        }
        let count = self.tracks.len();
        let mut best: Option<(f64, Vec<Series>)> = None;
        let with_root = |root| Series { root: self.root.map(|_| root), ..self.clone() };
        let is_whole = |root| self.explains(with_root(root).judge(tracks).1);
        let is_uneven = count <= MOST_MEMBERS && !(self.root.is_some() && (0..count).any(is_whole));
        for size in (2..count).filter(|it| is_uneven || count.is_multiple_of(*it)) {
            let blocks = (0..count).step_by(size).map(|at| (at..count.min(at + size)).collect());
            let strides = (0..size).map(|part| (part..count).step_by(size).collect());
            let ways: [Vec<Vec<usize>>; 2] = [blocks.collect(), strides.collect()];
            for way in ways {
                let all: Vec<Series> = way.iter().map(|it| self.part(tracks, it)).collect();
                let judged: Vec<_> = all.iter().map(|part| part.judge(tracks)).collect();
                let sum = judged.iter().map(|it| it.0).sum::<f64>();
                let is_better = best.as_ref().is_none_or(|(least, _)| sum < *least);
                if is_better && all.iter().zip(&judged).all(|(part, it)| part.explains(it.1)) {
                    best = Some((sum, all));
                }
            }
        }
        best.map_or_else(|| vec![self], |(_, parts)| parts)
    }
}
