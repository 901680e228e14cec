//! Tasks of a round, and how workers wait for one another.
//!
//! This module contains everything that workers share except locked shards. It is small enough for loom to try every
//! order of execution in `tests/orders.rs`. That test supplies its own `sync`.

use std::sync::PoisonError;

use super::sync::{AtomicBool, AtomicUsize, Condvar, Mutex, Ordering, YIELDS, thread};

/// Records which tasks of a round have been taken, and how many shards have been replayed.
#[derive(Debug)]
pub(crate) struct Tasks {
    taken: Vec<AtomicBool>,
    replayed: AtomicUsize,
    /// Number of sleeping workers, and the condition variable that wakes them when all shards are replayed.
    news: (Mutex<usize>, Condvar),
    next_merge: AtomicUsize,
    next_block: AtomicUsize,
}

impl Tasks {
    pub(crate) fn new(shards: usize) -> Self {
        Tasks {
            taken: (0..shards).map(|_| AtomicBool::new(false)).collect(),
            replayed: AtomicUsize::new(0),
            news: (Mutex::new(0), Condvar::new()),
            next_merge: AtomicUsize::new(0),
            next_block: AtomicUsize::new(0),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.taken.len()
    }

    pub(crate) fn all_replayed(&self) -> bool {
        self.replayed.load(Ordering::Acquire) == self.taken.len()
    }

    /// Takes a shard if it is free. The shard counts as replayed when the guard is dropped, even in a panic, because
    /// other workers wait for it.
    pub(crate) fn take(&self, shard: usize) -> Option<Taken<'_>> {
        let free = !self.taken[shard].swap(true, Ordering::Relaxed);
        // `then_some` would always create a guard, and drop it if the shard is not free.
        free.then(|| Taken(self))
    }

    /// Waits until all shards are replayed. Afterwards, their contents are visible.
    pub(crate) fn wait(&self) {
        for _ in 0..YIELDS {
            if self.all_replayed() {
                return;
            }
            thread::yield_now();
        }
        let (gate, news) = &self.news;
        let mut sleeping = gate.lock().unwrap_or_else(PoisonError::into_inner);
        *sleeping += 1;
        while !self.all_replayed() {
            sleeping = news.wait(sleeping).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the number of the next block for the ledger. If none is left, returns a number beyond the last.
    pub(crate) fn next_block(&self) -> usize {
        self.next_block.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the number of the next part of the links to merge. If none is left, returns a number beyond the last.
    pub(crate) fn next_merge(&self) -> usize {
        self.next_merge.fetch_add(1, Ordering::Relaxed)
    }
}

pub(crate) struct Taken<'a>(&'a Tasks);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let Tasks { taken, replayed, news: (gate, news), .. } = self.0;
        if replayed.fetch_add(1, Ordering::Release) + 1 == taken.len() {
            // Workers that come later need not wait. If no worker sleeps, skipping the notification saves a system
            // call.
            let sleeping = *gate.lock().unwrap_or_else(PoisonError::into_inner);
            if sleeping > 0 {
                news.notify_all();
            }
        }
    }
}
