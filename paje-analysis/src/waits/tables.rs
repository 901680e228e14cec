//! Waits by kind, by waiter and by pair, and the most-waited graph.

use std::borrow::Cow;
use std::collections::BTreeMap;

use paje_sim::{TypeId, ValueId};

use super::{Kind, Waits};
use crate::Seconds;
use crate::dot::{Edge, digraph};

/// Waits of one kind in states of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ByValue {
    pub type_: TypeId,
    pub value: ValueId,
    pub kind: Kind,
    pub total: Total,
    /// Track that is waited for longest.
    pub whom: u32,
}

/// Waits of one container for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ByPair {
    pub waiter: u32,
    pub whom: u32,
    pub total: Total,
    /// Whether the waiter waits longest for this container, as in the most-waited graph.
    pub most: bool,
}

/// Count and duration of several waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Total {
    pub count: u64,
    pub seconds: Seconds,
    pub longest: Seconds,
}

impl Total {
    pub(super) fn merge(&mut self, other: Total) {
        self.count += other.count;
        self.seconds += other.seconds;
        self.longest = self.longest.max(other.longest);
    }

    pub(super) fn add(&mut self, seconds: Seconds) {
        self.count += 1;
        self.seconds += seconds;
        self.longest = self.longest.max(seconds);
    }
}

impl Waits<'_> {
    /// Returns the time from the first enter to the last exit. A window with this time includes all
    /// waits.
    #[must_use]
    pub fn whole(&self) -> (f64, f64) {
        self.facts.tracks.span().unwrap_or((0.0, 0.0))
    }

    /// Returns the waits in the window by kind.
    #[must_use]
    pub fn by_kind(&self, window: (f64, f64)) -> BTreeMap<Kind, Total> {
        self.totals(window, |wait| wait.kind)
    }

    /// Returns the waits in the window by value of the waiting state and by kind.
    pub(crate) fn by_value(&self, window: (f64, f64)) -> Vec<ByValue> {
        let value = |wait: &super::Wait| {
            let track = &self.facts.tracks.list()[wait.waiter as usize];
            (track.type_, track.value[wait.state as usize], wait.kind)
        };
        let totals = self.totals(window, |wait| (value(wait), wait.whom));
        let rows = totals.into_iter().map(|(((type_, value, kind), whom), total)| ByValue {
            type_,
            value,
            kind,
            total,
            whom,
        });
        let mut rows: Vec<ByValue> = rows.collect();
        let mut most = Seconds::ZERO;
        rows.dedup_by(|next, row| {
            let is_same = (next.type_, next.value, next.kind) == (row.type_, row.value, row.kind);
            if is_same {
                most = if most.is_zero() { row.total.seconds } else { most };
                if next.total.seconds > most {
                    (most, row.whom) = (next.total.seconds, next.whom);
                }
                row.total.merge(next.total);
            } else {
                most = Seconds::ZERO;
            }
            is_same
        });
        rows
    }

    /// Returns the waits in the window by the track that waits.
    #[must_use]
    pub fn by_waiter(&self, window: (f64, f64)) -> BTreeMap<u32, Total> {
        self.totals(window, |wait| wait.waiter)
    }

    /// Returns the waits in the window by pair, in the order of tracks.
    #[must_use]
    pub fn by_pair(&self, window: (f64, f64)) -> Vec<ByPair> {
        let totals = self.totals(window, |wait| (wait.waiter, wait.whom));
        let pair = |((waiter, whom), total)| ByPair { waiter, whom, total, most: false };
        let mut pairs: Vec<ByPair> = totals.into_iter().map(pair).collect();
        for same in pairs.chunk_by_mut(|a, b| a.waiter == b.waiter) {
            let most = same.iter().map(|pair| pair.total.seconds).max();
            let first = same.iter_mut().find(|pair| Some(pair.total.seconds) == most);
            first.into_iter().for_each(|pair| pair.most = true);
        }
        pairs
    }

    fn totals<K: Ord>(
        &self,
        window: (f64, f64),
        key: impl Fn(&super::Wait) -> K,
    ) -> BTreeMap<K, Total> {
        let mut totals: BTreeMap<K, Total> = BTreeMap::new();
        for wait in self.iter() {
            let seconds = wait.seconds_within(window);
            if !seconds.is_zero() {
                totals.entry(key(wait)).or_default().add(seconds);
            }
        }
        totals
    }

    /// Returns the name of a track's container.
    #[must_use]
    pub fn name(&self, track: u32) -> Cow<'_, str> {
        let container = self.facts.tracks.list()[track as usize].container;
        self.facts.tracks.trace().containers().name(container).to_str_lossy()
    }

    /// Returns the most-waited graph in DOT. It has an edge from each waiting container to the
    /// container that it waits for longest. The label is the time in seconds.
    #[must_use]
    pub fn most_waited_dot(&self, window: (f64, f64)) -> String {
        let most: Vec<_> = self.by_pair(window).into_iter().filter(|pair| pair.most).collect();
        let names = most.iter().map(|pair| [pair.waiter, pair.whom].map(|track| self.name(track)));
        let names: Vec<_> = names.collect();
        let edges = most.iter().zip(&names).map(|(pair, [waiter, whom])| Edge {
            ends: [waiter, whom],
            label: format!("{:.6}", pair.total.seconds.scaled(self.scale())),
            weight: pair.total.seconds.to_f64(),
        });
        let edges: Vec<Edge<'_>> = edges.collect();
        digraph("most_waited", &edges)
    }
}
