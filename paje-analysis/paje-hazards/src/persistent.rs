//! Counts the sets of messages that may have arrived, and the steps between these sets. Leaves out
//! equivalent branches.
//!
//! (Source: Schaeli, 4.5.1.) After each set, only a *persistent* set of the possible next messages
//! is delivered. The other messages can wait: neither they nor their consequences interfere with
//! the persistent set.

use fixedbitset::FixedBitSet;

use crate::poset::{Orders, Poset, count_paths};

/// Maximum mean number of pairs of messages that are examined for each set.
const PAIRS: usize = 64;

/// Selects the messages to try next.
pub(crate) struct Persistent<'a, F> {
    poset: &'a Poset,
    now: F,
    /// For each message, the messages that must be delivered together with it, because their
    /// consequences might interfere with it.
    with: Vec<FixedBitSet>,
}

impl<'a, F: Fn(usize, usize) -> bool> Persistent<'a, F> {
    /// Creates the selector. `now(a, b)` returns whether two messages that could both come next
    /// interfere. `later(a, b)` returns whether `a`, which is a consequence of another message,
    /// might interfere with `b`. `now` must imply `later`.
    pub(crate) fn new(poset: &'a Poset, now: F, later: impl Fn(usize, usize) -> bool) -> Self {
        let with = future(&poset.after(), later);
        Persistent { poset, now, with }
    }

    /// Returns the smallest persistent set after a set of messages. Adds the number of examined
    /// pairs to `pairs`.
    fn least(&self, set: &FixedBitSet, pairs: &mut usize) -> Vec<usize> {
        let coming = self.poset.next(set);
        let mut least: Vec<usize> = Vec::new();
        let mut done = FixedBitSet::with_capacity(self.poset.len());
        for first in &coming {
            if done.contains(*first) {
                continue;
            }
            let needs = |a, b| (self.now)(a, b) || self.with[b].contains(a);
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

    /// Counts the tried orders and the deliveries, which are the edges of the graph. Returns `None`
    /// if this would need more than `limit` sets, or more than `limit` times 64 pairs of messages.
    pub(crate) fn count(&self, limit: usize) -> Option<Orders> {
        let mut pairs = 0;
        count_paths(self.poset.len(), limit, |set| {
            let next = self.least(set, &mut pairs);
            (pairs / PAIRS <= limit).then_some(next)
        })
    }
}

/// For each message `m`, returns the messages whose consequences might interfere with `m`.
/// Consequences of `m` itself do not count.
fn future(after: &[FixedBitSet], later: impl Fn(usize, usize) -> bool) -> Vec<FixedBitSet> {
    let count = after.len();
    (0..count)
        .map(|message| {
            let mut against = FixedBitSet::with_capacity(count);
            let others = (0..count).filter(|x| *x != message && !after[message].contains(*x));
            others.filter(|x| later(*x, message)).for_each(|x| against.insert(x));
            let mut found = FixedBitSet::with_capacity(count);
            let meets = |other: &usize| *other != message && !after[*other].is_disjoint(&against);
            (0..count).filter(meets).for_each(|other| found.insert(other));
            found
        })
        .collect()
}

/// Returns a message and all messages that must be delivered together with it, in the order of
/// `coming`.
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

    /// Returns the order of each pair of interfering messages.
    type Outcome = Vec<bool>;

    /// Two orders are in the same class if all pairs of interfering messages have the same order in
    /// both. At least one order of each class is tried.
    #[test]
    fn every_different_outcome_is_tried() {
        let (mut all_orders, mut tried) = (0, 0);
        for seed in 0..300 {
            let mut rng = testkit::Rng::new(seed);
            let (count, percent) = (1 + rng.index(7), rng.index(60));
            let edges: Vec<bool> = (0..count * count).map(|_| rng.index(100) < percent).collect();
            let poset = Poset::new(count, |a, b| edges[a * count + b]);
            let into: Vec<usize> = (0..count).map(|_| rng.index(4)).collect();
            let reads: Vec<bool> = (0..count).map(|_| rng.index(3) == 0).collect();
            let now = |a: usize, b: usize| into[a] == into[b] && !(reads[a] && reads[b]);
            // Each type has two containers.
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
            for (name, graph) in [
                ("exact", &|set: &FixedBitSet| exact.least(set, &mut 0)),
                ("routed", &|set: &FixedBitSet| routed.least(set, &mut 0)),
            ] as [(&str, &dyn Fn(&FixedBitSet) -> Vec<usize>); 2]
            {
                let orders = paths(count, graph);
                let found: BTreeSet<Outcome> = orders.iter().map(|order| outcome(order)).collect();
                assert_eq!(found, expected, "seed {seed}: {name}");
                tried += orders.len();
                all_orders += all.len();
            }
            let counted = exact.count(usize::MAX).expect("no limit");
            assert_eq!(counted.orders, paths(count, &|set| exact.least(set, &mut 0)).len().into());
        }
        assert!(tried * 2 < all_orders, "{tried} of {all_orders}");
    }

    fn paths(count: usize, next: &dyn Fn(&FixedBitSet) -> Vec<usize>) -> Vec<Vec<usize>> {
        let mut found: Vec<(FixedBitSet, Vec<usize>)> =
            vec![(FixedBitSet::with_capacity(count), Vec::new())];
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
