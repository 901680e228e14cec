//! The graph of the sets of messages that may have come, with the branches left out that come to the same.
//!
//! (Source: Schaeli, 4.5.1.) At each set, some of the messages that could come next are delivered: a *persistent* set. What is
//! not in it can wait, since neither it nor what follows from it interferes with what is in it.

use num_bigint::BigUint;
use rustc_hash::FxHashMap;

use crate::poset::{Orders, Poset, Set};

/// Number of pairs of messages looked at for each set, on average at most.
const PAIRS: usize = 64;

/// Which messages have to be tried next.
pub struct Persistent<'a, F> {
    poset: &'a Poset,
    now: F,
    /// By message: those that have to come before it, if they can: something that follows from them might interfere.
    with: Vec<Set>,
}

impl<'a, F: Fn(usize, usize) -> bool> Persistent<'a, F> {
    /// `now(a, b)` is whether two messages that could both come next interfere, and `later(a, b)` whether `a`, which follows
    /// from another message, might interfere with `b`. It has to hold at least where `now` does.
    pub fn new(poset: &'a Poset, now: F, later: impl Fn(usize, usize) -> bool) -> Self {
        let with = future(&poset.after(), later);
        Persistent { poset, now, with }
    }

    /// The least set of messages that can be delivered where these have come, so that all others can wait.
    #[must_use]
    pub fn next(&self, set: &Set) -> Vec<usize> {
        self.least(set, &mut 0)
    }

    /// The same, with how often two messages were looked at.
    fn least(&self, set: &Set, pairs: &mut usize) -> Vec<usize> {
        let coming = self.poset.next(set);
        let mut least: Vec<usize> = Vec::new();
        let mut done = Set::new(self.poset.len());
        for first in &coming {
            if done.has(*first) {
                continue;
            }
            let needs = |a, b| (self.now)(a, b) || self.with[b].has(a);
            let closed = closure(*first, &coming, needs);
            *pairs += closed.len() * coming.len();
            closed.iter().for_each(|thing| done.insert(*thing));
            if least.is_empty() || closed.len() < least.len() {
                least = closed;
            }
            if least.len() == 1 {
                break;
            }
        }
        least
    }

    /// Number of orders tried, and of messages delivered for that: the edges of the graph; `None` if there
    /// are more than `limit` sets, or 64 times as many pairs of messages have to be looked at.
    #[must_use]
    pub fn count(&self, limit: usize) -> Option<Orders> {
        let mut sets: FxHashMap<Set, BigUint> = FxHashMap::default();
        sets.insert(Set::new(self.poset.len()), BigUint::from(1_u8));
        let (mut seen, mut steps, mut pairs) = (1, 0, 0);
        for _ in 0..self.poset.len() {
            let mut next: FxHashMap<Set, BigUint> = FxHashMap::default();
            for (set, orders) in &sets {
                for thing in self.least(set, &mut pairs) {
                    steps += 1;
                    let mut more = set.clone();
                    more.insert(thing);
                    *next.entry(more).or_insert_with(|| {
                        seen += 1;
                        BigUint::default()
                    }) += orders;
                    if seen > limit || pairs / PAIRS > limit {
                        return None;
                    }
                }
            }
            sets = next;
        }
        let orders = sets.into_values().next().unwrap_or_else(|| BigUint::from(1_u8));
        Some(Orders { orders, steps })
    }
}

/// For each message, those that something follows from which interferes with it, and does not follow from itself.
fn future(after: &[Set], later: impl Fn(usize, usize) -> bool) -> Vec<Set> {
    let count = after.len();
    (0..count)
        .map(|message| {
            let mut against = Set::new(count);
            let others = (0..count).filter(|x| *x != message && !after[message].has(*x));
            others.filter(|x| later(*x, message)).for_each(|x| against.insert(x));
            let mut found = Set::new(count);
            let meets = |other: &usize| *other != message && after[*other].meets(&against);
            (0..count).filter(meets).for_each(|other| found.insert(other));
            found
        })
        .collect()
}

/// A message, all that it has to be delivered with, and all that these have to be, in the order of `coming`.
fn closure(first: usize, coming: &[usize], needs: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut is_in = vec![false; coming.len()];
    let mut open = vec![first];
    while let Some(message) = open.pop() {
        for (at, other) in coming.iter().enumerate() {
            if !is_in[at] && (*other == message || needs(*other, message)) {
                is_in[at] = true;
                open.push(*other);
            }
        }
    }
    coming.iter().zip(is_in).filter(|(_, is_in)| *is_in).map(|(message, _)| *message).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Which of each two that interfere comes first.
    type Outcome = Vec<bool>;

    /// Orders that differ in the order of two messages that interfere are all tried, one of each kind at least.
    #[test]
    fn nothing_that_differs_is_left_out() {
        let (mut all_orders, mut tried) = (0, 0);
        for seed in 0..300 {
            let mut rng = testkit::Rng::new(seed);
            let (count, percent) = (1 + rng.index(7), rng.index(60));
            let edges: Vec<bool> = (0..count * count).map(|_| rng.index(100) < percent).collect();
            let poset = Poset::new(count, |a, b| edges[a * count + b]);
            let into: Vec<usize> = (0..count).map(|_| rng.index(4)).collect();
            let reads: Vec<bool> = (0..count).map(|_| rng.index(3) == 0).collect();
            let now = |a: usize, b: usize| into[a] == into[b] && !(reads[a] && reads[b]);
            // A type of two containers.
            let later = |a: usize, b: usize| into[a] / 2 == into[b] / 2 && !(reads[a] && reads[b]);
            let outcome = |order: &[usize]| -> Outcome {
                let place = |thing| order.iter().position(|other| *other == thing);
                let pairs = (0..count).flat_map(|a| (0..a).map(move |b| (a, b)));
                pairs.filter(|(a, b)| now(*a, *b)).map(|(a, b)| place(a) < place(b)).collect()
            };
            let all: Vec<Vec<usize>> = poset.list(usize::MAX);
            let expected: BTreeSet<Outcome> = all.iter().map(|order| outcome(order)).collect();
            let exact = Persistent::new(&poset, now, now);
            let routed = Persistent::new(&poset, now, later);
            for (name, graph) in
                [("exact", &|set: &Set| exact.next(set)), ("routed", &|set: &Set| routed.next(set))]
                    as [(&str, &dyn Fn(&Set) -> Vec<usize>); 2]
            {
                let orders = paths(count, graph);
                let found: BTreeSet<Outcome> = orders.iter().map(|order| outcome(order)).collect();
                assert_eq!(found, expected, "seed {seed}: {name}");
                tried += orders.len();
                all_orders += all.len();
            }
            let counted = exact.count(usize::MAX).expect("no limit");
            assert_eq!(counted.orders, paths(count, &|set| exact.next(set)).len().into());
        }
        assert!(tried * 2 < all_orders, "{tried} of {all_orders}");
    }

    fn paths(count: usize, next: &dyn Fn(&Set) -> Vec<usize>) -> Vec<Vec<usize>> {
        let mut found: Vec<(Set, Vec<usize>)> = vec![(Set::new(count), Vec::new())];
        for _ in 0..count {
            let longer = found.into_iter().flat_map(|(set, path)| {
                let with = |thing| {
                    let mut set = set.clone();
                    set.insert(thing);
                    (set, [&path[..], &[thing]].concat())
                };
                next(&set).into_iter().map(with).collect::<Vec<_>>()
            });
            found = longer.collect();
        }
        found.into_iter().map(|(_, path)| path).collect()
    }
}
