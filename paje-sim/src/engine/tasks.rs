//! Who does what in a round, and who waits for whom.
//!
//! All that workers share beside locked shards is here, and small enough to try every order in which
//! they may run: `cargo test -p paje-sim --features loom --lib tasks` does.

#[cfg(all(test, feature = "loom"))]
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
#[cfg(all(test, feature = "loom"))]
use loom::sync::{Condvar, Mutex};
#[cfg(all(test, feature = "loom"))]
use loom::thread;
use std::sync::PoisonError;
#[cfg(not(all(test, feature = "loom")))]
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
#[cfg(not(all(test, feature = "loom")))]
use std::sync::{Condvar, Mutex};
#[cfg(not(all(test, feature = "loom")))]
use std::thread;

/// The tasks of a round: which ones somebody has taken on, and which are done.
#[derive(Debug)]
pub(crate) struct Tasks {
    taken: Vec<AtomicBool>,
    replayed: AtomicUsize,
    /// Told when all are replayed to those who wait for it.
    news: (Mutex<()>, Condvar),
    next_home: AtomicUsize,
    next_page: AtomicUsize,
}

/// Number of times that a worker yields before it sleeps: about as long as to be woken takes, for most waits are
/// short where each worker has a CPU. More of them only take the CPUs from those that are waited for.
const YIELDS: usize = if cfg!(all(test, feature = "loom")) { 0 } else { 100 };

impl Tasks {
    /// For so many shards, and as many homes of links.
    pub(crate) fn new(shards: usize) -> Self {
        Tasks {
            taken: (0..shards).map(|_| AtomicBool::new(false)).collect(),
            replayed: AtomicUsize::new(0),
            news: (Mutex::new(()), Condvar::new()),
            next_home: AtomicUsize::new(0),
            next_page: AtomicUsize::new(0),
        }
    }

    /// Number of shards, and of homes.
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
        let mut gate = gate.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.all_replayed() {
            gate = news.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A block of the wave that nobody has entered in the ledger yet, if there are so many.
    pub(crate) fn next_page(&self) -> usize {
        self.next_page.fetch_add(1, Ordering::Relaxed)
    }

    /// A home whose links nobody has merged yet.
    pub(crate) fn next_home(&self) -> Option<usize> {
        let home = self.next_home.fetch_add(1, Ordering::Relaxed);
        (home < self.taken.len()).then_some(home)
    }
}

/// A shard that somebody replays.
pub(crate) struct Taken<'a>(&'a Tasks);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let Tasks { taken, replayed, news: (gate, news), .. } = self.0;
        if replayed.fetch_add(1, Ordering::Release) + 1 == taken.len() {
            // Who holds the gate looks whether all are replayed, or sleeps already.
            drop(gate.lock());
            news.notify_all();
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::time::Duration;

    use super::*;

    /// Each shard is taken on once, and nobody who waits goes on before all are replayed, whether
    /// they come early, late, or in a panic.
    #[test]
    fn all_wait_for_all_shards() {
        for round in 0..300 {
            let (shards, workers) = (round % 7, 1 + round % 5);
            let tasks = Tasks::new(shards);
            let (replays, homes) = (AtomicU64::new(0), AtomicU64::new(0));
            thread::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(|| {
                        for shard in 0..shards {
                            let Some(_taken) = tasks.take(shard) else { continue };
                            // Sometimes longer than it takes those who wait to fall asleep.
                            thread::sleep(Duration::from_micros((round as u64 % 3) * 200));
                            replays.fetch_add(1, Ordering::Relaxed);
                        }
                        tasks.wait();
                        assert_eq!(replays.load(Ordering::Relaxed), shards as u64);
                        while tasks.next_home().is_some() {
                            homes.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
            });
            assert_eq!(homes.into_inner(), shards as u64);
        }
    }

    #[test]
    fn a_panic_leaves_nobody_waiting() {
        let tasks = Tasks::new(2);
        thread::scope(|scope| {
            let panics = scope.spawn(|| {
                let _taken = tasks.take(0);
                thread::sleep(Duration::from_millis(20));
                panic!("on purpose");
            });
            drop(tasks.take(1));
            tasks.wait();
            assert!(panics.join().is_err());
        });
    }
}

/// In every order that threads may run in (as far as the language's memory model allows others than one
/// after the other), nobody waits for ever, and who has waited sees what the others did.
#[cfg(all(test, feature = "loom"))]
mod orders {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;

    use super::*;

    /// Replays what shards nobody has, waits, and looks at all of them.
    fn work(tasks: &Tasks, shards: &[UnsafeCell<u32>]) {
        for (number, shard) in shards.iter().enumerate() {
            let Some(_taken) = tasks.take(number) else { continue };
            // The cell complains if somebody else may be at it.
            shard.with_mut(|_| ());
        }
        tasks.wait();
        assert!(tasks.all_replayed());
        for shard in shards {
            shard.with(|_| ());
        }
    }

    fn all_orders(workers: usize, shards: usize) {
        let mut model = loom::model::Builder::new();
        // Of three, all orders are too many: those with at most two switches that nothing asks for.
        model.preemption_bound = (workers > 2).then_some(2);
        model.check(move || {
            let tasks = Arc::new(Tasks::new(shards));
            let cells: Arc<Vec<_>> = Arc::new((0..shards).map(|_| UnsafeCell::new(0)).collect());
            let homes = Arc::new(AtomicUsize::new(0));
            let others: Vec<_> = (1..workers)
                .map(|_| {
                    let (tasks, cells) = (Arc::clone(&tasks), Arc::clone(&cells));
                    let homes = Arc::clone(&homes);
                    thread::spawn(move || {
                        work(&tasks, &cells);
                        while tasks.next_home().is_some() {
                            homes.fetch_add(1, Ordering::Relaxed);
                        }
                    })
                })
                .collect();
            work(&tasks, &cells);
            for other in others {
                other.join().expect("no panic");
            }
            while tasks.next_home().is_some() {
                homes.fetch_add(1, Ordering::Relaxed);
            }
            assert_eq!(homes.load(Ordering::Relaxed), shards);
        });
    }

    #[test]
    fn two_workers() {
        all_orders(2, 1);
        all_orders(2, 2);
        all_orders(2, 3);
    }

    #[test]
    fn three_workers() {
        all_orders(3, 2);
    }

    #[test]
    fn nothing_to_replay() {
        all_orders(2, 0);
    }
}
