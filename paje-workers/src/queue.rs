//! The queue of [`in_order`](crate::in_order()). It is small enough for `tests/orders.rs` to try
//! every order in which workers may run. In that test, loom replaces `sync`.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use super::sync::{Condvar, Mutex, MutexGuard};

/// Jobs for idle workers, and results that wait for their turn.
pub(crate) struct Queue<T, E, P> {
    state: Mutex<State<T, E, P>>,
    changed: Condvar,
    jobs: usize,
    /// How many jobs may be taken before the result of the first of them has been put.
    ahead: usize,
}

pub(crate) struct State<T, E, P> {
    taken: usize,
    /// Number of the job whose result must be put next.
    next: usize,
    pub(crate) ready: BTreeMap<usize, Result<T, E>>,
    /// `None` while a worker puts results.
    put: Option<P>,
    pub(crate) failed: Option<E>,
    finished: bool,
}

impl<T, E, P: FnMut(usize, T) -> Result<(), E>> Queue<T, E, P> {
    pub(crate) fn new(jobs: usize, ahead: usize, put: P) -> Self {
        let state = State {
            taken: 0,
            next: 0,
            ready: BTreeMap::new(),
            put: Some(put),
            failed: None,
            finished: false,
        };
        Queue { state: Mutex::new(state), changed: Condvar::new(), jobs, ahead }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State<T, E, P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next job. If this job is too far ahead, waits first. Returns `None` if no more
    /// jobs are needed.
    fn take(&self) -> Option<usize> {
        let mut now = self.lock();
        // The worker with the next job never waits, so it eventually wakes the other workers.
        while !now.finished && now.taken < self.jobs && now.taken >= now.next + self.ahead {
            now = self.changed.wait(now).unwrap_or_else(PoisonError::into_inner);
        }
        if now.finished || now.taken == self.jobs {
            return None;
        }
        now.taken += 1;
        Some(now.taken - 1)
    }

    /// Calls `make` until no job is left. Puts the results whose turn has come, unless another
    /// worker is doing so.
    pub(crate) fn work(&self, make: impl Fn(usize) -> Result<T, E>) {
        let guard = PanicGuard(Some(self));
        while let Some(job) = self.take() {
            let result = make(job);
            let mut now = self.lock();
            // A previous job has failed in the meantime.
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
                self.changed.notify_all();
                if now.finished {
                    break;
                }
            }
            now.put = Some(put);
        }
        guard.disarm();
    }

    pub(crate) fn outcome(self) -> Result<(), E> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failed.map_or(Ok(()), Err)
    }
}

/// If a worker panics, releases the other workers, which would wait for its result.
struct PanicGuard<'q, T, E, P: FnMut(usize, T) -> Result<(), E>>(Option<&'q Queue<T, E, P>>);

impl<T, E, P: FnMut(usize, T) -> Result<(), E>> PanicGuard<'_, T, E, P> {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl<T, E, P: FnMut(usize, T) -> Result<(), E>> Drop for PanicGuard<'_, T, E, P> {
    fn drop(&mut self) {
        if let Some(queue) = self.0 {
            queue.lock().finished = true;
            queue.changed.notify_all();
        }
    }
}
