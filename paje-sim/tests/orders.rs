//! Tries every order in which threads may run, including those that only the language's memory model allows. In each
//! order, no worker must wait forever, and a worker that has waited must see the results of the other workers.

use loom::cell::UnsafeCell;
use loom::sync::Arc;

use sync::{AtomicUsize, Ordering, thread};
use tasks::Tasks;

/// Loom's version of `src/engine/sync.rs`.
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Condvar, Mutex};
    pub(crate) use loom::thread;

    pub(crate) const YIELDS: usize = 0;
}

#[path = "../src/engine/tasks.rs"]
#[expect(dead_code, reason = "blocks for a ledger are not tested")]
#[expect(clippy::reversed_empty_ranges, reason = "workers sleep without yielding here")]
mod tasks;

fn work(tasks: &Tasks, shards: &[UnsafeCell<u32>]) {
    for (number, shard) in shards.iter().enumerate() {
        let Some(_taken) = tasks.take(number) else { continue };
        // The cell panics if another thread may access it.
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
    // Three workers have too many orders, so at most two preemptions are tried.
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
                    while tasks.next_merge() < shards {
                        homes.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        work(&tasks, &cells);
        for other in others {
            other.join().expect("no panic");
        }
        while tasks.next_merge() < shards {
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
