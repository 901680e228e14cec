//! A pool of worker threads.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use core_affinity::CoreId;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::placement::placement;
use crate::topology::SYS;
use crate::{Pin, PlacementError, Topology};

/// Returns the number of threads that the process can run at once: the CPUs of its affinity mask,
/// limited by the quota of its control group.
#[must_use]
pub fn available() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Returns the numbers of the CPUs that the calling thread may use, in ascending order, or `None`
/// if the system does not provide them. For a pinned thread and the threads that it starts, this is
/// one CPU.
#[must_use]
pub fn allowed() -> Option<Vec<usize>> {
    let cpus = core_affinity::get_core_ids()?;
    Some(cpus.into_iter().map(|cpu| cpu.id).collect())
}

/// Reason why the workers cannot start.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The workers cannot run on the requested CPUs.
    Placement(PlacementError),
    /// More threads were requested than the pool supports.
    TooMany {
        /// Requested number of threads.
        threads: usize,
        /// Largest possible number of threads.
        limit: usize,
    },
    /// The system refused to start the threads.
    Start {
        /// Requested number of threads.
        threads: usize,
        /// Cause.
        source: ThreadPoolBuildError,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Placement(error) => error.fmt(f),
            Error::TooMany { threads, limit } => {
                write!(f, "{threads} threads are too many; the limit is {limit}")
            }
            Error::Start { threads, source } => {
                write!(f, "cannot start {threads} threads: {source}")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<PlacementError> for Error {
    fn from(error: PlacementError) -> Self {
        Error::Placement(error)
    }
}

/// A pool of threads that work together.
///
/// Only one thread at a time should use the workers. A single worker is the calling thread.
#[derive(Debug)]
pub struct Workers {
    /// `None` if the only worker is the calling thread.
    pool: Option<ThreadPool>,
    threads: usize,
    cpus: Option<Vec<usize>>,
    notes: Vec<String>,
}

/// Largest useful number of workers on a small machine. Machines with more CPUs have a higher
/// limit. There are enough workers even if some of them wait for a slow disk. More workers would be
/// slower, because each worker learns all names, and idle workers search all other workers for
/// work. With a thousand workers, this takes seconds.
const SENSIBLE: usize = 8;
const SENSIBLE_PER_CPU: usize = 4;

impl Workers {
    /// Starts `threads` workers. Without a number, starts one worker for each CPU of [`Pin::Numa`]
    /// or [`Pin::List`], or [`available`] workers for other values of `pin`.
    ///
    /// A single worker that is not pinned is the calling thread. The calling thread is never
    /// pinned. It should not be pinned before the call either, because workers can only use the
    /// CPUs that the calling thread may use.
    ///
    /// Starts at most 8 workers, or four per CPU if that is more. If `threads` is larger, adds a
    /// note.
    ///
    /// # Errors
    /// Fails if `pin` is impossible, or if the system does not start the threads. If the system
    /// refuses to pin the threads, only adds a note.
    pub fn new(threads: Option<NonZeroUsize>, pin: &Pin) -> Result<Workers, Error> {
        Workers::of(threads, pin, None)
    }

    /// Starts workers for a program whose main thread is otherwise idle. Unless workers are pinned,
    /// the calling thread is worker 0, and no other thread may use the workers. Without `threads`
    /// or a list of CPUs, starts at most `useful` workers, because short work ends before another
    /// thread has started.
    ///
    /// # Errors
    /// Fails like [`Workers::new`].
    pub fn with_caller(
        threads: Option<NonZeroUsize>,
        pin: &Pin,
        useful: NonZeroUsize,
    ) -> Result<Workers, Error> {
        let wanted = threads.unwrap_or(useful);
        if *pin == Pin::None && wanted == NonZeroUsize::MIN {
            return Ok(Workers::one());
        }
        Workers::of(threads, pin, Some(useful.get()))
    }

    fn of(
        threads: Option<NonZeroUsize>,
        pin: &Pin,
        useful: Option<usize>,
    ) -> Result<Workers, Error> {
        let available = available().get();
        let limit = rayon::max_num_threads();
        let mut threads = threads.map(NonZeroUsize::get);
        if let Some(threads) = threads
            && threads > limit
        {
            return Err(Error::TooMany { threads, limit });
        }
        let sensible = SENSIBLE.max(available.saturating_mul(SENSIBLE_PER_CPU));
        let mut notes = Vec::new();
        if let Some(threads) = &mut threads
            && *threads > sensible
        {
            notes.push(format!(
                "Using {sensible} workers instead of {threads}, which would slow each other down."
            ));
            *threads = sensible;
        }
        if !matches!(pin, Pin::Numa(_) | Pin::List(_)) {
            let useful = useful.filter(|_| *pin == Pin::None).unwrap_or(available);
            threads.get_or_insert(available.min(useful));
        }

        let mut cpus = None;
        if *pin != Pin::None {
            match allowed() {
                Some(allowed) => {
                    let topology = Topology::read(Path::new(SYS));
                    let placed = placement(pin, topology.as_ref(), &allowed, threads)?;
                    notes.extend(placed.notes);
                    threads = Some(placed.cpus.len());
                    cpus = Some(placed.cpus);
                }
                None => notes.push(
                    "This system does not say which CPUs may be used: workers are not pinned."
                        .to_owned(),
                ),
            }
        }
        let threads = threads.unwrap_or(available);
        // If workers share CPUs, there is already a note about this.
        let distinct = cpus.as_ref().is_none_or(|cpus| !cpus[1..].contains(&cpus[0]));
        if distinct && threads > available {
            let cpus = if available == 1 { "CPU" } else { "CPUs" };
            notes.push(format!("{threads} workers share the time of {available} {cpus}."));
        }
        Workers::start(threads, cpus, useful.is_some(), notes, |cpu| {
            core_affinity::set_for_current(CoreId { id: cpu })
        })
    }

    /// Returns a single worker: the calling thread.
    #[must_use]
    pub const fn one() -> Workers {
        Workers { pool: None, threads: 1, cpus: None, notes: Vec::new() }
    }

    /// Starts workers. Each worker calls `pin_to` with its CPU. Worker 0 may be the calling thread,
    /// which is never pinned.
    fn start(
        threads: usize,
        mut cpus: Option<Vec<usize>>,
        with_caller: bool,
        mut notes: Vec<String>,
        pin_to: impl Fn(usize) -> bool + Sync,
    ) -> Result<Workers, Error> {
        if threads == 1 && cpus.is_none() {
            return Ok(Workers { notes, ..Workers::one() });
        }
        let pool = || {
            let pool = ThreadPoolBuilder::new().num_threads(threads);
            pool.thread_name(|worker| format!("worker {worker}"))
        };
        let pool = match with_caller && cpus.is_none() {
            // Building fails if the caller already belongs to other workers.
            true => pool().use_current_thread().build().or_else(|_| pool().build()),
            false => pool().build(),
        };
        let pool = pool.map_err(|source| Error::Start { threads, source })?;
        if let Some(planned) = &cpus {
            // The pool's start handler cannot do this, because nothing waits for it, and it returns
            // no result.
            let pinned = pool.broadcast(|context| pin_to(planned[context.index()]));
            let refused = pinned.iter().filter(|pinned| !**pinned).count();
            if refused > 0 {
                notes.push(format!(
                    "The system refused to pin {refused} of {threads} workers: they run where it \
                     puts them."
                ));
                cpus = None;
            }
        }
        Ok(Workers { pool: Some(pool), threads, cpus, notes })
    }

    /// Returns the number of workers. Workers are numbered from 0.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Returns the CPU of each worker, or `None` if workers are not pinned.
    #[must_use]
    pub fn cpus(&self) -> Option<&[usize]> {
        self.cpus.as_deref()
    }

    /// Returns notes for the user about the workers, each of them a sentence.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Runs `f` on worker 0, or on the current thread if it is a worker.
    ///
    /// `f` may call [`on_each`](Workers::on_each). It should not use rayon directly. A single
    /// worker may be the calling thread, and rayon would then start its global pool.
    ///
    /// # Panics
    /// Panics if `f` panics, with the same payload.
    pub fn run<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        let Some(pool) = &self.pool else { return f() };
        if pool.current_thread_index().is_some() {
            return f();
        }
        // `ThreadPool::install` could choose any worker, but the memory that `f` allocates should
        // be on a known node.
        let f = Mutex::new(Some(f));
        let results = pool.broadcast(|context| {
            let take = || f.lock().ok()?.take();
            if context.index() == 0 { take().map(|f| f()) } else { None }
        });
        results.into_iter().flatten().next().expect("worker 0 is one of them, and calls it")
    }

    /// Runs `f` once on every worker, at the same time, and waits until all have returned. The
    /// argument of `f` is the number of the worker.
    ///
    /// With a single worker, this calls `f(0)`. `f` must not call this function.
    ///
    /// # Panics
    /// Panics if `f` panics on any worker, with the payload of the first such worker, after `f` has
    /// returned on all other workers. So workers that wait for each other in `f` must not panic.
    pub fn on_each(&self, f: impl Fn(usize) + Sync) {
        self.on_first(self.threads, f);
    }

    /// Does the same as [`on_each`](Workers::on_each), but on the first `count` workers only. With
    /// `count` 1, a call from worker 0 wakes no other worker.
    ///
    /// # Panics
    /// Panics like [`on_each`](Workers::on_each).
    pub fn on_first(&self, count: usize, f: impl Fn(usize) + Sync) {
        match &self.pool {
            None => (0..count).for_each(f),
            Some(pool) if count == 1 && pool.current_thread_index() == Some(0) => f(0),
            Some(pool) => {
                pool.broadcast(|context| {
                    if context.index() < count {
                        f(context.index());
                    }
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_pin_is_noted() {
        let workers = Workers::start(3, Some(vec![4, 5, 6]), true, vec![], |cpu| cpu == 5).unwrap();
        assert_eq!(workers.threads(), 3);
        assert_eq!(workers.cpus(), None);
        assert_eq!(
            workers.notes(),
            ["The system refused to pin 2 of 3 workers: they run where it puts them."]
        );
    }
}
