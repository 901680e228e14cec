//! Keeps the first items of a list that need not fit in memory.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use paje_sim::LaneId;

/// Sort key, lane and row.
pub(crate) type Item = (f64, LaneId, u64);

/// The items with the least keys, and the number of all items.
#[derive(Debug)]
pub(crate) struct Best {
    most: usize,
    total: u64,
    heap: BinaryHeap<Ranked>,
}

#[derive(Debug)]
struct Ranked(Item);

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((a, lane, row), (b, other_lane, other_row)) = (&self.0, &other.0);
        a.total_cmp(b).then_with(|| (lane, row).cmp(&(other_lane, other_row)))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

impl Best {
    pub(crate) fn new(most: usize) -> Self {
        Best { most, total: 0, heap: BinaryHeap::new() }
    }

    pub(crate) fn push(&mut self, item: Item) {
        self.total += 1;
        let item = Ranked(item);
        if self.heap.len() < self.most {
            self.heap.push(item);
        } else if let Some(mut last) = self.heap.peek_mut()
            && item < *last
        {
            *last = item;
        }
    }

    /// Returns the number of all items.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the items in ascending order.
    pub(crate) fn sorted(self) -> Vec<Item> {
        self.heap.into_sorted_vec().into_iter().map(|ranked| ranked.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_items_are_kept() {
        let mut best = Best::new(3);
        let items: Vec<Item> =
            (0..50u64).map(|i| ((i * 17 % 50 / 2) as f64, LaneId(0), i)).collect();
        items.iter().for_each(|item| best.push(*item));
        let mut sorted = items;
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        assert_eq!((best.total(), best.sorted()), (50, sorted[..3].to_vec()));
        let mut none = Best::new(0);
        none.push((1.0, LaneId(0), 0));
        assert_eq!((none.total(), none.sorted()), (1, vec![]));
    }
}
