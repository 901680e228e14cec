//! Work that is shared out, and whose results are taken in order: while it goes on, or when all is done.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

// Only here: what is tested elsewhere in every order of threads has this as it is.
#[cfg(all(test, feature = "loom"))]
use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(all(test, feature = "loom")))]
use std::sync::{Condvar, Mutex, MutexGuard};

use crate::Workers;

/// Results for each worker that may wait for their turn.
const AHEAD: usize = 2;

/// Makes the results of jobs `0..jobs` with all workers, and puts them one after the other, in order.
/// Only some are made before their turn, so that a slow taker slows the makers down.
///
/// # Errors
/// The first in the order of the jobs; no later result is put.
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
    /// Calls `f` with its worker and each number below `count`, once: who is free takes the next.
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

    /// Results of `f` for each number below `count`, in order.
    pub fn map<T: Send>(&self, count: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let all = Mutex::new(Vec::with_capacity(count));
        self.share_out(count, |_, number| {
            let result = f(number);
            all.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
        });
        let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.sort_unstable_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, result)| result).collect()
    }
}

/// Jobs to be made by whoever is free, and results that wait for their turn.
struct Queue<T, E, P> {
    line: Mutex<Line<T, E, P>>,
    moved: Condvar,
    jobs: usize,
    /// Jobs from the one whose result is next that may have been taken.
    ahead: usize,
}

/// Results that wait for their turn.
struct Line<T, E, P> {
    /// Number of jobs that have been taken.
    taken: usize,
    /// The job whose result is to be put next.
    next: usize,
    ready: BTreeMap<usize, Result<T, E>>,
    /// Nobody is putting.
    put: Option<P>,
    failed: Option<E>,
    /// No more jobs are to be taken.
    finished: bool,
}

impl<T, E, P: FnMut(usize, T) -> Result<(), E>> Queue<T, E, P> {
    fn new(jobs: usize, ahead: usize, put: P) -> Self {
        let line = Line {
            taken: 0,
            next: 0,
            ready: BTreeMap::new(),
            put: Some(put),
            failed: None,
            finished: false,
        };
        Queue { line: Mutex::new(line), moved: Condvar::new(), jobs, ahead }
    }

    fn lock(&self) -> MutexGuard<'_, Line<T, E, P>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a job, once it is not too far ahead; `None` if there is none left, or no use for its result.
    fn take(&self) -> Option<usize> {
        let mut now = self.lock();
        // Who has the next job never waits, so all others are woken in the end.
        while !now.finished && now.taken < self.jobs && now.taken >= now.next + self.ahead {
            now = self.moved.wait(now).unwrap_or_else(PoisonError::into_inner);
        }
        if now.finished || now.taken == self.jobs {
            return None;
        }
        now.taken += 1;
        Some(now.taken - 1)
    }

    /// Makes results until there is nothing left to do, and puts those whose turn it is if nobody else does.
    fn work(&self, make: impl Fn(usize) -> Result<T, E>) {
        let leaving = Leaving(Some(self));
        while let Some(job) = self.take() {
            let result = make(job);
            let mut now = self.lock();
            // One before it failed while it was made.
            if now.finished {
                break;
            }
            now.ready.insert(job, result);
            let Some(mut put) = now.put.take() else { continue };
            loop {
                let next = now.next;
                let Some(result) = now.ready.remove(&next) else { break };
                drop(now);
                let result = result.and_then(|result| put(next, result));
                now = self.lock();
                now.next += 1;
                if let Err(error) = result {
                    now.failed = Some(error);
                    now.finished = true;
                    now.ready.clear();
                }
                self.moved.notify_all();
                if now.finished {
                    break;
                }
            }
            now.put = Some(put);
        }
        leaving.in_peace();
    }

    fn outcome(self) -> Result<(), E> {
        let line = self.line.into_inner().unwrap_or_else(PoisonError::into_inner);
        line.failed.map_or(Ok(()), Err)
    }
}

/// Lets the others go if a worker panics, whose result they would wait for.
struct Leaving<'q, T, E, P: FnMut(usize, T) -> Result<(), E>>(Option<&'q Queue<T, E, P>>);

impl<T, E, P: FnMut(usize, T) -> Result<(), E>> Leaving<'_, T, E, P> {
    fn in_peace(mut self) {
        self.0 = None;
    }
}

impl<T, E, P: FnMut(usize, T) -> Result<(), E>> Drop for Leaving<'_, T, E, P> {
    fn drop(&mut self) {
        if let Some(queue) = self.0 {
            queue.lock().finished = true;
            queue.moved.notify_all();
        }
    }
}

/// In every order that threads may run in, results come in their order, nobody waits for ever, and a failure ends it.
#[cfg(all(test, feature = "loom"))]
mod orders {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

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
}

#[cfg(all(test, not(feature = "loom")))]
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
    fn each_number_once() {
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
    fn the_first_failure_ends_it() {
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
    fn what_was_being_made_when_one_failed_is_not_put() {
        let (failing, making) = (Barrier::new(2), Barrier::new(2));
        let make = |job: usize| {
            if job == 1 {
                making.wait();
                failing.wait();
                // The failure has yet to be told.
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
