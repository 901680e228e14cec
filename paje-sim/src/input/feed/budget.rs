//! Sizes of the blocks that workers take from a wave.
//!
//! A round ends when the last worker has decoded its last block, and all others wait for that. So where blocks can be cut
//! anywhere, workers take large ones at first, and smaller ones when little is left.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Text that may still be decoded in a round, in parts of a block.
#[derive(Debug)]
pub(crate) struct BlockBudget {
    left: AtomicUsize,
    workers: usize,
    /// The smallest that is taken.
    least: usize,
}

impl BlockBudget {
    /// Parts of a whole block.
    pub(crate) const PER_BLOCK: usize = 8;

    /// Parts of the smallest block behind the head of a trace: each costs something, and the shorter they are, the less is there to
    /// wait for. (Of 35 to 90 bytes a line, a quarter has thousands of lines still.)
    const LEAST: usize = 2;

    /// Parts of a wave of so many workers that may have definitions of events, as the head of a trace has: it is decoded by one, and
    /// others wait for that.
    pub(crate) const fn of_head(workers: usize) -> usize {
        if workers > 1 { 1 } else { BlockBudget::PER_BLOCK }
    }

    /// The most parts of a wave of so many workers.
    pub(crate) const fn of_full_wave(workers: usize) -> usize {
        workers * blocks_per_worker(workers) * BlockBudget::PER_BLOCK
    }

    /// So many parts for so many workers.
    pub(crate) const fn in_parts(parts: usize, workers: usize) -> Self {
        let least = if workers > 1 { BlockBudget::LEAST } else { BlockBudget::PER_BLOCK };
        BlockBudget { left: AtomicUsize::new(parts), workers, least }
    }

    /// As many as so many parts make, of blocks that are what they are.
    pub(crate) const fn in_blocks(parts: usize) -> Self {
        BlockBudget { left: AtomicUsize::new(parts), workers: 1, least: BlockBudget::PER_BLOCK }
    }

    /// Nothing.
    pub(crate) const fn none() -> Self {
        BlockBudget::in_blocks(0)
    }

    /// Number of parts that are left.
    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }

    /// Parts of the next block that a worker takes: its share of what is left, but neither more than a block nor too little.
    pub(crate) fn take(&self) -> Option<usize> {
        let size = |left: usize| {
            let share = left.div_ceil(self.workers).clamp(self.least, BlockBudget::PER_BLOCK);
            // Whole blocks are what they are, however little is left.
            if self.least == BlockBudget::PER_BLOCK { share } else { share.min(left) }
        };
        let take = |left: usize| (left > 0).then(|| left.saturating_sub(size(left)));
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        left.ok().map(size)
    }

    /// Nothing more is to be taken.
    pub(crate) fn stop(&self) {
        self.left.store(0, Ordering::Relaxed);
    }
}

/// Blocks of a wave for each of so many workers: enough that a round is long beside what its end costs, which is more where
/// more wait for one another; few enough that what was decoded is still in the caches when it is replayed.
/// (160 MB with two workers: 2,800 page faults, 3,700 with four blocks each; both take the same time.)
const fn blocks_per_worker(workers: usize) -> usize {
    match workers {
        1 => 1,
        2 | 3 => 2,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(budget: &BlockBudget) -> Vec<usize> {
        std::iter::from_fn(|| budget.take()).collect()
    }

    #[test]
    fn blocks_get_smaller_towards_the_end() {
        assert_eq!(all(&BlockBudget::in_parts(32, 2)), [8, 8, 8, 4, 2, 2]);
        assert_eq!(all(&BlockBudget::in_parts(3, 2)), [2, 1]);
        let many = all(&BlockBudget::in_parts(512, 16));
        assert_eq!(many.iter().sum::<usize>(), 512);
        assert!(many.is_sorted_by(|one, next| one >= next), "{many:?}");
        assert_eq!((many[0], many.last()), (8, Some(&2)));
    }

    /// One worker has nobody to wait for; who cannot cut blocks takes whole ones, for a part of one, too.
    #[test]
    fn others_are_whole() {
        assert_eq!(all(&BlockBudget::in_parts(16, 1)), [8, 8]);
        assert_eq!(all(&BlockBudget::in_blocks(17)), [8, 8, 8]);
        assert_eq!(all(&BlockBudget::none()), []);
    }

    #[test]
    fn stopping_leaves_nothing() {
        let budget = BlockBudget::in_parts(64, 4);
        assert_eq!(budget.take(), Some(8));
        assert_eq!(budget.left(), 56);
        budget.stop();
        assert_eq!(budget.take(), None);
    }
}
