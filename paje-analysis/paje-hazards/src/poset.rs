//! Partial orders, and the total orders that they allow.

use fixedbitset::FixedBitSet;
use num_bigint::BigUint;
use rustc_hash::FxHashMap;

/// A transitively closed partial order of numbered elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Poset {
    before: Vec<FixedBitSet>,
}

/// Number of total orders, and size of the graph whose paths are these orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orders {
    /// Number of total orders (linear extensions).
    pub orders: BigUint,
    /// Number of edges between sets of elements that may have arrived. If the state of the run
    /// depends only on the set, this is the size of the message-passing state graph.
    pub steps: u64,
}

impl Poset {
    /// Returns the transitive closure of `before`. Ascending numbers of elements must be an allowed
    /// order.
    #[must_use]
    pub fn new(count: usize, before: impl Fn(usize, usize) -> bool) -> Self {
        let mut sets: Vec<FixedBitSet> = Vec::with_capacity(count);
        for thing in 0..count {
            let mut set = FixedBitSet::with_capacity(count);
            // Elements are visited in descending order, so indirect predecessors are already known.
            for other in (0..thing).rev() {
                if !set.contains(other) && before(other, thing) {
                    set.insert(other);
                    set.union_with(&sets[other]);
                }
            }
            sets.push(set);
        }
        Poset { before: sets }
    }

    /// Returns the number of elements.
    #[must_use]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.before.len()
    }

    /// Returns whether `a` precedes `b`.
    #[must_use]
    pub fn is_before(&self, a: usize, b: usize) -> bool {
        self.before[b].contains(a)
    }

    pub(crate) fn after(&self) -> Vec<FixedBitSet> {
        let mut after = vec![FixedBitSet::with_capacity(self.len()); self.len()];
        for (thing, before) in self.before.iter().enumerate() {
            before.ones().for_each(|other| after[other].insert(thing));
        }
        after
    }

    pub(crate) fn next(&self, set: &FixedBitSet) -> Vec<usize> {
        let fits = |thing: &usize| !set.contains(*thing) && self.before[*thing].is_subset(set);
        (0..self.len()).filter(fits).collect()
    }

    /// Puts exchangeable elements in order. `a` is put before `b` if two sets of elements can be
    /// exchanged: `a` with its predecessors that do not precede `b`, and `b` with its successors
    /// that do not succeed `a`. (Schaeli, 4.4.3.) Pairs are examined in the order of the numbers
    /// until nothing changes. Afterwards, the numbers may no longer be an allowed order.
    pub(crate) fn reduced(&self, exchange: impl Fn(usize, usize) -> bool) -> Poset {
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
                let first = |x: &usize| *x == a || !poset.before[b].contains(*x);
                let firsts = || poset.before[a].ones().chain([a]).filter(first);
                let then = |y: &usize| *y == b || !after[a].contains(*y);
                let thens = || after[b].ones().chain([b]).filter(then);
                if !firsts().all(|x| thens().all(|y| x == y || exchange(x, y))) {
                    continue;
                }
                let (mut earlier, mut later) = (poset.before[a].clone(), after[b].clone());
                earlier.insert(a);
                later.insert(b);
                later.ones().for_each(|thing| poset.before[thing].union_with(&earlier));
                earlier.ones().for_each(|thing| after[thing].union_with(&later));
                changed = true;
            }
        }
        changed
    }

    /// Divides the elements into the smallest groups such that all elements of a group precede all
    /// elements of the next group. The elements of each group are in an allowed order.
    #[must_use]
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let mut sorted: Vec<usize> = (0..self.len()).collect();
        sorted.sort_by_key(|thing| self.before[*thing].count_ones(..));
        let mut groups = Vec::new();
        let mut group = Vec::new();
        // Everything before a cut precedes everything after the cut.
        let mut cut = vec![true; self.len() + 1];
        for (at, thing) in sorted.iter().enumerate() {
            // Length of the prefix in which all elements precede this one.
            let mut reach = 0;
            while reach < at {
                if !self.before[*thing].contains(sorted[reach]) {
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

    /// Returns the partial order of some of the elements. They must be given in an allowed order.
    pub(crate) fn part(&self, things: &[usize]) -> Poset {
        Poset::new(things.len(), |a, b| self.is_before(things[a], things[b]))
    }

    /// Counts the total orders. Returns `None` if a group has more than `limit` sets of elements.
    #[must_use]
    pub fn count(&self, limit: usize) -> Option<Orders> {
        let mut all = Orders { orders: BigUint::from(1_u8), steps: 0 };
        for group in self.groups() {
            let part = self.part(&group);
            let one = count_paths(part.len(), limit, |set| Some(part.next(set)))?;
            all.orders *= one.orders;
            all.steps += one.steps;
        }
        Some(all)
    }

    /// Returns the first `limit` total orders in lexicographic order.
    #[must_use]
    pub fn list(&self, limit: usize) -> Vec<Vec<usize>> {
        let mut found = Vec::new();
        let mut path: Vec<usize> = Vec::new();
        let mut set = FixedBitSet::with_capacity(self.len());
        // Next element to try at each position of the order.
        let mut tried = vec![0];
        while found.len() < limit {
            let Some(from) = tried.last_mut() else { break };
            let fits = |thing: &usize| !set.contains(*thing) && self.before[*thing].is_subset(&set);
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
                set.remove(thing);
            }
        }
        found
    }

    /// For each element, returns an order in which it comes as late as possible, which is after all
    /// elements that are not its successors. (Schaeli, Expression 4.1.)
    #[must_use]
    pub fn late(&self) -> Vec<Vec<usize>> {
        let after = self.after();
        (0..self.len())
            .map(|a| {
                let others = (0..self.len()).filter(|x| *x != a && !after[a].contains(*x));
                others.chain([a]).chain(after[a].ones()).collect()
            })
            .collect()
    }

    /// For each pair of elements, returns an order in which the second directly follows the first,
    /// and both come as early as possible. Leaves out pairs without such an order, and equal
    /// orders. (Schaeli, Expression 4.2.)
    #[must_use]
    pub fn pairs(&self, limit: usize) -> Vec<Vec<usize>> {
        let mut found: Vec<Vec<usize>> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        for a in 0..self.len() {
            for b in (0..self.len()).filter(|b| *b != a && !self.is_before(*b, a)) {
                let mut first = self.before[a].clone();
                first.union_with(&self.before[b]);
                first.remove(a);
                // Another element must come between these two.
                if first.ones().any(|x| self.is_before(a, x)) {
                    continue;
                }
                let rest = (0..self.len()).filter(|x| *x != a && *x != b && !first.contains(*x));
                let order: Vec<usize> = first.ones().chain([a, b]).chain(rest).collect();
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

/// Counts the orders in which elements can be added to the empty set, and the edges between sets.
/// `next` returns the elements that may be added to a set. Returns `None` if there are more than
/// `limit` sets, or if `next` returns `None`.
pub(crate) fn count_paths(
    count: usize,
    limit: usize,
    mut next: impl FnMut(&FixedBitSet) -> Option<Vec<usize>>,
) -> Option<Orders> {
    let mut sets: FxHashMap<FixedBitSet, BigUint> = FxHashMap::default();
    sets.insert(FixedBitSet::with_capacity(count), BigUint::from(1_u8));
    let (mut seen, mut steps) = (1, 0);
    for _ in 0..count {
        let mut larger: FxHashMap<FixedBitSet, BigUint> = FxHashMap::default();
        for (set, orders) in &sets {
            for thing in next(set)? {
                steps += 1;
                let mut more = set.clone();
                more.insert(thing);
                *larger.entry(more).or_insert_with(|| {
                    seen += 1;
                    BigUint::default()
                }) += orders;
                if seen > limit {
                    return None;
                }
            }
        }
        sets = larger;
    }
    let orders = sets.into_values().next().unwrap_or_else(|| BigUint::from(1_u8));
    Some(Orders { orders, steps })
}
