//! Costs of waits. The charge of each wait is computed from the charges of the waits that pass
//! something on to it.

use std::collections::BTreeMap;

use super::{Naive, State, Wait};

impl Naive {
    fn since(&self, wait: &Wait) -> u64 {
        let pair = |w: &&Wait| {
            (w.waiter, w.whom) == (wait.waiter, wait.whom)
                || (w.whom, w.waiter) == (wait.waiter, wait.whom)
        };
        let waited = self.waits.iter().filter(pair).map(|w| w.until);
        let times = waited.chain(self.meetings.iter().copied()).filter(|time| *time <= wait.from);
        times.max().unwrap_or(self.begin).max(self.begin)
    }

    /// Returns the part of a wait's charge that is passed on, and the waits that get it, with their
    /// shares.
    fn passes(&self, wait: &Wait) -> (f64, Vec<(usize, f64)>) {
        let since = self.since(wait);
        let between = |rank: usize, until: u64| -> Vec<usize> {
            let some = |at: &usize| {
                let w = &self.waits[*at];
                w.waiter == rank && w.until > since && w.until <= until
            };
            (0..self.waits.len()).filter(some).collect()
        };
        // Only the first wait may have begun before `since`.
        let waited = |waits: &[usize]| -> f64 {
            let sum: u64 =
                waits.iter().map(|at| self.waits[*at].until - self.waits[*at].from).sum();
            let before = waits.first().map_or(0, |at| since.saturating_sub(self.waits[*at].from));
            sum as f64 - before as f64
        };
        let q = between(wait.whom, wait.until);
        let waiting = waited(&q);
        if waiting <= 0.0 || q.is_empty() {
            return (0.0, Vec::new());
        }
        let mine = self.paths(wait.waiter, since, wait.from);
        let more = self.paths(wait.whom, since, wait.until).into_iter().map(|(path, time)| {
            (time - mine.get(&path).copied().unwrap_or(0).max(0)).max(0) as f64
        });
        let work: f64 = more.sum();
        let all: u64 = q.iter().map(|at| self.waits[*at].until - self.waits[*at].from).sum();
        let part = |at: &usize| {
            let wait = &self.waits[*at];
            (*at, (wait.until - wait.from) as f64 / all as f64)
        };
        (waiting / (work + waiting), q.iter().map(part).collect())
    }

    /// Returns the microseconds that a rank spends in each call path, without waits that end there.
    fn paths(&self, rank: usize, since: u64, until: u64) -> BTreeMap<String, i64> {
        let mut paths = BTreeMap::new();
        for micro in since..until {
            *paths.entry(self.open(rank, |it| it.start <= micro && it.end > micro)).or_insert(0) +=
                1;
        }
        let ends_here = |w: &&Wait| w.waiter == rank && w.until > since && w.until <= until;
        for wait in self.waits.iter().filter(ends_here) {
            let state = &self.ranks[rank][wait.state];
            let path = self.open(rank, |it| {
                std::ptr::eq(it, state)
                    || (it.start <= state.start && it.end >= state.end && it.depth < state.depth)
            });
            *paths.entry(path).or_insert(0) -= (wait.until - wait.from.max(since)) as i64;
        }
        paths
    }

    fn open(&self, rank: usize, is_open: impl Fn(&State) -> bool) -> String {
        let open = self.ranks[rank].iter().filter(|state| is_open(state));
        open.map(|state| format!("/{}", state.value)).collect()
    }

    /// Returns the charge of each rank in microseconds, or `None` if waits depend on one another.
    pub(crate) fn delays(&self) -> Option<Vec<f64>> {
        let passes: Vec<_> = self.waits.iter().map(|wait| self.passes(wait)).collect();
        let mut charged: Vec<Option<f64>> = vec![None; self.waits.len()];
        let mut delays = vec![0.0; self.ranks.len()];
        for round in 0.. {
            // The charge of a wait is known once the charges of all waits that pass something on to
            // it are known.
            let open = (0..charged.len()).filter(|at| charged[*at].is_none()).collect::<Vec<_>>();
            if open.is_empty() {
                break;
            }
            if round > self.waits.len() {
                return None;
            }
            for at in open {
                let own = (self.waits[at].until - self.waits[at].from) as f64;
                let sum = passes.iter().zip(&charged).try_fold(
                    own,
                    |sum, ((part, to), charged)| match to.iter().find(|(to, _)| *to == at) {
                        None => Some(sum),
                        Some((_, share)) => charged.map(|charged| sum + charged * part * share),
                    },
                );
                if let Some(sum) = sum {
                    charged[at] = Some(sum);
                    delays[self.waits[at].whom] += sum * (1.0 - passes[at].0);
                }
            }
        }
        Some(delays)
    }
}
