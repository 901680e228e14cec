//! Who does what in a round, and who waits for whom.
//!
//! All that workers share beside locked shards is here, and small enough to try every order in which
//! they may run: `tests/orders.rs` does, with a `sync` of its own.

use std::sync::PoisonError;

use super::sync::{AtomicBool, AtomicUsize, Condvar, Mutex, Ordering, YIELDS, thread};

/// The tasks of a round: which ones somebody has taken on, and which are done.
#[derive(Debug)]
pub(crate) struct Tasks {
    taken: Vec<AtomicBool>,
    replayed: AtomicUsize,
    /// Number of those who sleep until all are replayed, and how they are told.
    news: (Mutex<usize>, Condvar),
    next_merge: AtomicUsize,
    next_page: AtomicUsize,
}

impl Tasks {
    /// For so many shards.
    pub(crate) fn new(shards: usize) -> Self {
        Tasks {
            taken: (0..shards).map(|_| AtomicBool::new(false)).collect(),
            replayed: AtomicUsize::new(0),
            news: (Mutex::new(0), Condvar::new()),
            next_merge: AtomicUsize::new(0),
            next_page: AtomicUsize::new(0),
        }
    }

    /// Number of shards.
    pub(crate) fn len(&self) -> usize {
        self.taken.len()
    }

    pub(crate) fn all_replayed(&self) -> bool {
        self.replayed.load(Ordering::Acquire) == self.taken.len()
    }

    /// Takes a shard on, if nobody has; it counts as replayed when what this returns is dropped, even in
    /// a panic, for others wait for it.
    pub(crate) fn take(&self, shard: usize) -> Option<Taken<'_>> {
        let free = !self.taken[shard].swap(true, Ordering::Relaxed);
        // Not `then_some`: what it was given and does not return, it drops.
        free.then(|| Taken(self))
    }

    /// Waits until all shards are replayed: everything that was done to them can be seen then.
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

    /// A block of the wave that nobody has entered in the ledger yet, if there are so many.
    pub(crate) fn next_page(&self) -> usize {
        self.next_page.fetch_add(1, Ordering::Relaxed)
    }

    /// A part of the links to merge that nobody has taken on yet, if there are so many.
    pub(crate) fn next_merge(&self) -> usize {
        self.next_merge.fetch_add(1, Ordering::Relaxed)
    }
}

/// A shard that somebody replays.
pub(crate) struct Taken<'a>(&'a Tasks);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let Tasks { taken, replayed, news: (gate, news), .. } = self.0;
        if replayed.fetch_add(1, Ordering::Release) + 1 == taken.len() {
            // Those who come to the gate later find all replayed. To tell nobody would be a call of the system, too.
            let sleeping = *gate.lock().unwrap_or_else(PoisonError::into_inner);
            if sleeping > 0 {
                news.notify_all();
            }
        }
    }
}
