//! Amount of text in a wave, and sizes of the blocks that workers take from it.
//!
//! At the end of a round, all workers wait until the last worker has decoded its last block. To shorten this wait,
//! workers first take large blocks, and smaller blocks when little is left, if blocks can be cut anywhere.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Text that may still be decoded in a round, in [parts](Self::PER_BLOCK).
#[derive(Debug)]
pub struct BlockBudget {
    left: AtomicUsize,
    workers: usize,
    least: usize,
}

impl BlockBudget {
    pub const PER_BLOCK: usize = 8;

    /// Size in parts of the smallest block after the head of a trace. Smaller blocks mean shorter waits, but each has a
    /// cost. A quarter of a block still has thousands of lines.
    const LEAST: usize = 2;

    /// Returns the size in parts of a wave that may contain event definitions, like the head of a trace. One worker
    /// decodes such a wave while the other workers wait.
    pub const fn of_head(workers: usize) -> usize {
        if workers > 1 { 1 } else { BlockBudget::PER_BLOCK }
    }

    /// Returns the size in parts of the largest wave for a number of workers.
    pub const fn of_full_wave(workers: usize) -> usize {
        workers * blocks_per_worker(workers) * BlockBudget::PER_BLOCK
    }

    pub const fn in_parts(parts: usize, workers: usize) -> Self {
        let least = if workers > 1 { BlockBudget::LEAST } else { BlockBudget::PER_BLOCK };
        BlockBudget { left: AtomicUsize::new(parts), workers, least }
    }

    pub const fn in_blocks(parts: usize) -> Self {
        BlockBudget { left: AtomicUsize::new(parts), workers: 1, least: BlockBudget::PER_BLOCK }
    }

    pub const fn none() -> Self {
        BlockBudget::in_blocks(0)
    }

    pub fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }

    /// Takes a worker's share of the remaining text, but at most a whole block. Returns the size of the block in parts.
    pub fn take(&self) -> Option<usize> {
        let size = |left: usize| {
            let share = left.div_ceil(self.workers).clamp(self.least, BlockBudget::PER_BLOCK);
            // Blocks that cannot be cut are taken whole, even if less is left.
            if self.least == BlockBudget::PER_BLOCK { share } else { share.min(left) }
        };
        let take = |left: usize| (left > 0).then(|| left.saturating_sub(size(left)));
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        left.ok().map(size)
    }

    pub fn stop(&self) {
        self.left.store(0, Ordering::Relaxed);
    }
}

/// Returns how many blocks of a wave there are for each worker. If more workers wait at the end of a round, a wave
/// should be longer. But decoded blocks should still be in the caches when they are replayed.
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

    /// A single worker takes whole blocks. All workers do if blocks cannot be cut.
    #[test]
    fn other_blocks_are_whole() {
        assert_eq!(all(&BlockBudget::in_parts(16, 1)), [8, 8]);
        assert_eq!(all(&BlockBudget::in_blocks(17)), [8, 8, 8]);
        assert_eq!(all(&BlockBudget::none()), []);
    }

    #[test]
    fn a_stopped_budget_is_empty() {
        let budget = BlockBudget::in_parts(64, 4);
        assert_eq!(budget.take(), Some(8));
        assert_eq!(budget.left(), 56);
        budget.stop();
        assert_eq!(budget.take(), None);
    }
}
