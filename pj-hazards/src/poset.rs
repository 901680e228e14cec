//! Partial orders of a few things, and how many orders of all things they allow.

use std::collections::hash_map::Entry;

use num_bigint::BigUint;
use rustc_hash::FxHashMap;

/// A set of things, which are numbered from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Set(Vec<u64>);

/// Partial order of things: which have to come before which. It is transitive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Poset {
    /// By thing: all that is before it.
    before: Vec<Set>,
}

/// Number of orders, and size of the graph in which they are paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orders {
    /// Orders of all things (linear extensions).
    pub orders: BigUint,
    /// Steps from one set of things that may have come to the next: the edges of the message-passing state graph, if
    /// all that came in another order comes to the same.
    pub steps: u64,
}

impl Set {
    pub(crate) fn new(count: usize) -> Self {
        Set(vec![0; count.div_ceil(64)])
    }

    /// True if a thing is in the set.
    #[must_use]
    pub fn has(&self, thing: usize) -> bool {
        self.0[thing / 64] >> (thing % 64) & 1 == 1
    }

    pub(crate) fn insert(&mut self, thing: usize) {
        self.0[thing / 64] |= 1 << (thing % 64);
    }

    fn add(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, other)| *mine |= other);
    }

    fn is_in(&self, other: &Set) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, other)| mine & !other == 0)
    }

    /// True if some thing is in both sets.
    pub(crate) fn meets(&self, other: &Set) -> bool {
        self.0.iter().zip(&other.0).any(|(mine, other)| mine & other != 0)
    }

    fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn things(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        })
    }
}

impl Poset {
    /// The order in which `before(a, b)` says that `a` comes before `b`, and all that follows from it. The numbers of the things
    /// are an order that it allows.
    #[must_use]
    pub fn new(count: usize, before: impl Fn(usize, usize) -> bool) -> Self {
        let mut sets: Vec<Set> = Vec::with_capacity(count);
        for thing in 0..count {
            let mut set = Set::new(count);
            // From the last on, what follows is known before it is asked for.
            for other in (0..thing).rev() {
                if !set.has(other) && before(other, thing) {
                    set.insert(other);
                    set.add(&sets[other]);
                }
            }
            sets.push(set);
        }
        Poset { before: sets }
    }

    /// Number of things.
    #[must_use]
    pub fn len(&self) -> usize {
        self.before.len()
    }

    /// True if there are no things.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.before.is_empty()
    }

    /// True if `a` comes before `b`.
    #[must_use]
    pub fn is_before(&self, a: usize, b: usize) -> bool {
        self.before[b].has(a)
    }

    /// By thing: all that come after it.
    pub(crate) fn after(&self) -> Vec<Set> {
        let mut after = vec![Set::new(self.len()); self.len()];
        for (thing, before) in self.before.iter().enumerate() {
            before.things().for_each(|other| after[other].insert(thing));
        }
        after
    }

    /// Things that can come next where these have come.
    pub(crate) fn next(&self, set: &Set) -> Vec<usize> {
        let fits = |thing: &usize| !set.has(*thing) && self.before[*thing].is_in(set);
        (0..self.len()).filter(fits).collect()
    }

    /// Puts things in order where that makes no difference: `a` before `b` if all that has to come before `a`, but not
    /// before `b`, and `a` itself, can be exchanged with all that has to come after `b`, but not after `a`, and `b` itself.
    /// (Schaeli, 4.4.3.) Pairs are looked at in the order of the numbers, again and again until nothing changes; so the
    /// numbers may be no order that is allowed any more.
    #[must_use]
    pub fn reduced(&self, exchange: impl Fn(usize, usize) -> bool) -> Poset {
        let mut poset = self.clone();
        while poset.reduce_once(&exchange) {}
        poset
    }

    fn reduce_once(&mut self, exchange: impl Fn(usize, usize) -> bool) -> bool {
        let poset = self;
        let mut after = poset.after();
        let mut changed = false;
        for a in 0..poset.len() {
            for b in 0..poset.len() {
                if a == b || poset.is_before(a, b) || poset.is_before(b, a) || !exchange(a, b) {
                    continue;
                }
                let first = |x: &usize| *x == a || !poset.before[b].has(*x);
                let firsts = || poset.before[a].things().chain([a]).filter(first);
                let then = |y: &usize| *y == b || !after[a].has(*y);
                let thens = || after[b].things().chain([b]).filter(then);
                if !firsts().all(|x| thens().all(|y| x == y || exchange(x, y))) {
                    continue;
                }
                let (mut earlier, mut later) = (poset.before[a].clone(), after[b].clone());
                earlier.insert(a);
                later.insert(b);
                later.things().for_each(|thing| poset.before[thing].add(&earlier));
                earlier.things().for_each(|thing| after[thing].add(&later));
                changed = true;
            }
        }
        changed
    }

    /// The things in groups: all of one come before all of the next, and no group can be cut so. In each, they are in an
    /// order that is allowed.
    #[must_use]
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let mut sorted: Vec<usize> = (0..self.len()).collect();
        sorted.sort_by_key(|thing| self.before[*thing].len());
        let mut groups = Vec::new();
        let mut group = Vec::new();
        // All behind a cut have all before it.
        let mut cut = vec![true; self.len() + 1];
        for (at, thing) in sorted.iter().enumerate() {
            // Up to where all are before this one.
            let mut reach = 0;
            while reach < at {
                if !self.before[*thing].has(sorted[reach]) {
                    break;
                }
                reach += 1;
            }
            cut[reach + 1..=at].fill(false);
        }
        for (at, thing) in sorted.iter().enumerate() {
            if at > 0 && cut[at] {
                groups.push(std::mem::take(&mut group));
            }
            group.push(*thing);
        }
        groups.extend((!group.is_empty()).then_some(group));
        groups
    }

    /// The order of some of the things, which are given in an order that is allowed, numbered anew.
    #[must_use]
    pub fn part(&self, things: &[usize]) -> Poset {
        Poset::new(things.len(), |a, b| self.is_before(things[a], things[b]))
    }

    /// Number of orders it allows, counted over the sets of things that may have come; `None` if there are more than
    /// `limit` sets in a group.
    #[must_use]
    pub fn count(&self, limit: usize) -> Option<Orders> {
        let mut all = Orders { orders: BigUint::from(1_u8), steps: 0 };
        for group in self.groups() {
            let one = self.part(&group).count_whole(limit)?;
            all.orders *= one.orders;
            all.steps += one.steps;
        }
        Some(all)
    }

    /// The same without groups. The sets grow by one thing at a time.
    fn count_whole(&self, limit: usize) -> Option<Orders> {
        let mut sets: FxHashMap<Set, BigUint> = FxHashMap::default();
        sets.insert(Set::new(self.len()), BigUint::from(1_u8));
        let (mut seen, mut steps) = (1, 0);
        for _ in 0..self.len() {
            let mut next: FxHashMap<Set, BigUint> = FxHashMap::default();
            for (set, orders) in &sets {
                for thing in 0..self.len() {
                    if set.has(thing) || !self.before[thing].is_in(set) {
                        continue;
                    }
                    steps += 1;
                    let mut more = set.clone();
                    more.insert(thing);
                    match next.entry(more) {
                        Entry::Occupied(mut at) => *at.get_mut() += orders,
                        Entry::Vacant(at) => {
                            at.insert(orders.clone());
                            seen += 1;
                            if seen > limit {
                                return None;
                            }
                        }
                    }
                }
            }
            sets = next;
        }
        let orders = sets.into_values().next().unwrap_or_else(|| BigUint::from(1_u8));
        Some(Orders { orders, steps })
    }

    /// Its orders, the first `limit`, smaller numbers first.
    #[must_use]
    pub fn list(&self, limit: usize) -> Vec<Vec<usize>> {
        let mut found = Vec::new();
        let mut path: Vec<usize> = Vec::new();
        let mut set = Set::new(self.len());
        // The first thing that has not been tried at each place.
        let mut tried = vec![0];
        while found.len() < limit {
            let Some(from) = tried.last_mut() else { break };
            let fits = |thing: &usize| !set.has(*thing) && self.before[*thing].is_in(&set);
            if let Some(thing) = (*from..self.len()).find(fits) {
                *from = thing + 1;
                path.push(thing);
                set.insert(thing);
                tried.push(0);
                continue;
            }
            if path.len() == self.len() {
                found.push(path.clone());
            }
            tried.pop();
            if let Some(thing) = path.pop() {
                set.0[thing / 64] &= !(1 << (thing % 64));
            }
        }
        found
    }

    /// For each thing, the order in which it comes as late as possible: what need not come after it, in the order of
    /// the numbers, then it, then what has to come after it. (Schaeli, Expression 4.1.)
    #[must_use]
    pub fn late(&self) -> Vec<Vec<usize>> {
        let after = self.after();
        (0..self.len())
            .map(|a| {
                let others = (0..self.len()).filter(|x| *x != a && !after[a].has(*x));
                others.chain([a]).chain(after[a].things()).collect()
            })
            .collect()
    }

    /// For each two things, an order in which the second comes right after the first, both as early as possible,
    /// where that is allowed. (Schaeli, Expression 4.2.) Orders that are the same are given once.
    #[must_use]
    pub fn pairs(&self, limit: usize) -> Vec<Vec<usize>> {
        let mut found: Vec<Vec<usize>> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        for a in 0..self.len() {
            for b in (0..self.len()).filter(|b| *b != a && !self.is_before(*b, a)) {
                let mut first = self.before[a].clone();
                first.add(&self.before[b]);
                first.0[a / 64] &= !(1 << (a % 64));
                // Something between the two keeps them apart.
                if first.things().any(|x| self.is_before(a, x)) {
                    continue;
                }
                let rest = (0..self.len()).filter(|x| *x != a && *x != b && !first.has(*x));
                let order: Vec<usize> = first.things().chain([a, b]).chain(rest).collect();
                if seen.insert(order.clone()) {
                    found.push(order);
                    if found.len() == limit {
                        return found;
                    }
                }
            }
        }
        found
    }
}
