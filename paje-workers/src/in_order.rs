//! Parallel loops, with results in order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::Workers;
use crate::queue::Queue;

/// Number of results that may wait for their turn, for each worker.
const AHEAD: usize = 2;

/// Calls `make` for jobs `0..jobs` on all workers. Calls `put` with the results, one at a time and
/// in the order of the jobs. Only a few results can wait for their turn, so a slow `put` slows
/// `make` down.
///
/// # Errors
/// Returns the first error in the order of the jobs. `put` is not called for later jobs.
pub fn in_order<T: Send, E: Send>(
    workers: &Workers,
    jobs: usize,
    make: impl Fn(usize) -> Result<T, E> + Sync,
    put: impl FnMut(usize, T) -> Result<(), E> + Send,
) -> Result<(), E> {
    let queue = Queue::new(jobs, AHEAD * workers.threads(), put);
    workers.run(|| workers.on_each(|_| queue.work(&make)));
    queue.outcome()
}

impl Workers {
    /// Calls `f` once for each number below `count`, on any worker that is free. The first argument
    /// of `f` is the number of the worker.
    pub fn share_out(&self, count: usize, f: impl Fn(usize, usize) + Sync) {
        let next = AtomicUsize::new(0);
        self.on_each(|worker| {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return;
                }
                f(worker, number);
            }
        });
    }

    /// Returns the results of `f` for each number below `count`, in order.
    pub fn map<T: Send>(&self, count: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
        self.map_each(0..count, f)
    }

    /// Returns the results of `f` for each item, in order.
    pub fn map_each<I, T: Send>(
        &self,
        items: impl Iterator<Item = I> + Send,
        f: impl Fn(I) -> T + Sync,
    ) -> Vec<T> {
        let (items, all) = (Mutex::new(items.enumerate()), Mutex::new(Vec::new()));
        self.on_each(|_| {
            loop {
                let next = items.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((number, item)) = next else { return };
                let result = f(item);
                all.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
            }
        });
        let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.sort_unstable_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, result)| result).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pin;
    use std::num::NonZeroUsize;
    use std::sync::Barrier;
    use std::{thread, time};

    fn team(threads: usize) -> Workers {
        Workers::new(NonZeroUsize::new(threads), &Pin::None).expect("threads")
    }

    #[test]
    fn each_number_is_shared_out_once() {
        for threads in 1..=4 {
            let workers = team(threads);
            for count in [0, 1, 100] {
                let calls: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                workers.share_out(count, |worker, number| {
                    assert!(worker < threads);
                    calls[number].fetch_add(1, Ordering::Relaxed);
                });
                assert!(calls.iter().all(|calls| calls.load(Ordering::Relaxed) == 1));
                let squares = workers.map(count, |number| number * number);
                assert_eq!(squares, (0..count).map(|number| number * number).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn results_come_in_order_and_not_far_ahead() {
        for threads in 1..=4 {
            let workers = team(threads);
            let (made, put) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let mut seen = Vec::new();
            let make = |job: usize| {
                made.fetch_add(1, Ordering::Relaxed);
                thread::sleep(time::Duration::from_micros((job * 37 % 11) as u64 * 50));
                Ok(job * job)
            };
            in_order(&workers, 100, make, |job, result| {
                let ahead = made.load(Ordering::Relaxed) - put.fetch_add(1, Ordering::Relaxed);
                assert!(ahead <= (AHEAD + 1) * threads, "{ahead} ahead");
                seen.push((job, result));
                Ok::<(), ()>(())
            })
            .expect("nothing fails");
            assert_eq!(seen, (0..100).map(|job| (job, job * job)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_failure_ends_the_loop() {
        for threads in 1..=4 {
            let workers = team(threads);
            let make = |job: usize| if job % 10 == 7 { Err(job) } else { Ok(job) };
            let mut last = None;
            let failed = in_order(&workers, 100, make, |job, _| {
                last = Some(job);
                Ok(())
            });
            assert_eq!((failed, last), (Err(7), Some(6)));
        }
    }

    #[test]
    fn results_after_a_failure_are_not_sent() {
        let (failing, making) = (Barrier::new(2), Barrier::new(2));
        let make = |job: usize| {
            if job == 1 {
                making.wait();
                failing.wait();
                // Gives the other worker time to record the failure.
                thread::sleep(time::Duration::from_millis(50));
            }
            Ok(job)
        };
        let mut put = Vec::new();
        let failed = in_order(&team(2), 2, make, |job, _| {
            put.push(job);
            if job == 0 {
                making.wait();
                failing.wait();
            }
            Err(job)
        });
        assert_eq!((failed, put), (Err(0), vec![0]));
    }

    #[test]
    fn a_panic_does_not_leave_the_others_waiting() {
        let workers = team(3);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let make = |job: usize| if job == 5 { panic!("planted") } else { Ok(job) };
            in_order(&workers, 1000, make, |_, _| Ok::<(), ()>(()))
        }));
        assert!(panicked.is_err());
    }
}
