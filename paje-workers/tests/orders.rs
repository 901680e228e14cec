//! Runs the queue in every order in which its threads may run. Results must come in order, no
//! thread may wait for ever, and a failure must end the loop.

use loom::sync::{Arc, Mutex};
use loom::thread;

use queue::Queue;

/// Loom's locks, which replace those in `src/sync.rs`.
mod sync {
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
}

#[path = "../src/queue.rs"]
#[expect(dead_code, reason = "the test reads the outcome directly")]
mod queue;

/// Tries all orders of `workers` workers. `make` and `put` fail for the given jobs.
fn all_orders(workers: usize, jobs: usize, ahead: usize, failing_make: usize, failing_put: usize) {
    let mut model = loom::model::Builder::new();
    // Three workers have too many orders, so at most two forced switches are tried.
    model.preemption_bound = (workers > 2).then_some(2);
    model.check(move || {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let put = {
            let seen = Arc::clone(&seen);
            move |job: usize, result: usize| {
                seen.lock().expect("no panic").push((job, result));
                if job == failing_put { Err(job) } else { Ok(()) }
            }
        };
        let make = move |job: usize| if job == failing_make { Err(job) } else { Ok(job * job) };
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
        let failed = failing_make.min(failing_put);
        let now = queue.lock();
        assert_eq!(now.failed, (failed < jobs).then_some(failed));
        assert!(now.ready.is_empty());
        let last = if failing_put < failing_make { failing_put + 1 } else { failing_make };
        let expected: Vec<_> = (0..jobs.min(last)).map(|job| (job, job * job)).collect();
        assert_eq!(*seen.lock().expect("no panic"), expected);
    });
}

const NEVER: usize = usize::MAX;

#[test]
fn two_workers_put_all_results() {
    for ahead in 1..=2 {
        all_orders(2, 0, ahead, NEVER, NEVER);
        all_orders(2, 3, ahead, NEVER, NEVER);
    }
}

#[test]
fn two_workers_stop_at_a_failure() {
    all_orders(2, 3, 1, 1, NEVER);
    all_orders(2, 3, 2, NEVER, 0);
    all_orders(2, 3, 2, 1, 1);
}

#[test]
fn three_workers_put_all_results() {
    all_orders(3, 3, 1, NEVER, NEVER);
    all_orders(3, 3, 2, 1, NEVER);
}
