//! In every order that threads may run in, results come in their order, nobody waits for ever, and a failure ends it.

use loom::sync::{Arc, Mutex};
use loom::thread;

use queue::Queue;

/// Loom's, in the place of `src/sync.rs`.
mod sync {
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
}

#[path = "../src/queue.rs"]
#[expect(dead_code, reason = "the outcome is looked at where it lies")]
mod queue;

/// All orders of so many workers, if making the result of `unmade` fails, or putting that of `unput`.
fn all_orders(workers: usize, jobs: usize, ahead: usize, unmade: usize, unput: usize) {
    let mut model = loom::model::Builder::new();
    // Of three, all orders are too many: those with at most two switches that nothing asks for.
    model.preemption_bound = (workers > 2).then_some(2);
    model.check(move || {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let put = {
            let seen = Arc::clone(&seen);
            move |job: usize, result: usize| {
                seen.lock().expect("no panic").push((job, result));
                if job == unput { Err(job) } else { Ok(()) }
            }
        };
        let make = move |job: usize| if job == unmade { Err(job) } else { Ok(job * job) };
        let queue = Arc::new(Queue::new(jobs, ahead, put));
        let others: Vec<_> = (1..workers)
            .map(|_| {
                let queue = Arc::clone(&queue);
                thread::spawn(move || queue.work(make))
            })
            .collect();
        queue.work(make);
        for other in others {
            other.join().expect("no panic");
        }
        let failed = unmade.min(unput);
        let now = queue.lock();
        assert_eq!(now.failed, (failed < jobs).then_some(failed));
        assert!(now.ready.is_empty());
        let last = if unput < unmade { unput + 1 } else { unmade };
        let expected: Vec<_> = (0..jobs.min(last)).map(|job| (job, job * job)).collect();
        assert_eq!(*seen.lock().expect("no panic"), expected);
    });
}

const NEVER: usize = usize::MAX;

#[test]
fn two_workers() {
    for ahead in 1..=2 {
        all_orders(2, 0, ahead, NEVER, NEVER);
        all_orders(2, 3, ahead, NEVER, NEVER);
    }
}

#[test]
fn two_workers_and_a_failure() {
    all_orders(2, 3, 1, 1, NEVER);
    all_orders(2, 3, 2, NEVER, 0);
    all_orders(2, 3, 2, 1, 1);
}

#[test]
fn three_workers() {
    all_orders(3, 3, 1, NEVER, NEVER);
    all_orders(3, 3, 2, 1, NEVER);
}
