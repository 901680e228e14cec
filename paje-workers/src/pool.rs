//! The threads that replay a trace.

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

/// Number of threads that the process can run at once: as many as there are CPUs in its affinity mask,
/// but not more than the quota of its control group pays for.
#[must_use]
pub fn available() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// The numbers of the CPUs that the calling thread may use, ascending; none where the system does
/// not say. In a pinned thread, and in the threads that it starts, that is the one CPU.
#[must_use]
pub fn allowed() -> Option<Vec<usize>> {
    let cpus = core_affinity::get_core_ids()?;
    Some(cpus.into_iter().map(|cpu| cpu.id).collect())
}

/// Why there are no workers.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// They cannot run where they should.
    Placement(PlacementError),
    /// So many threads cannot be.
    TooMany {
        /// Number of threads asked for.
        threads: usize,
        /// Largest number that there can be.
        limit: usize,
    },
    /// The system did not start them.
    Start {
        /// Number of threads that were to be started.
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
                write!(f, "{threads} threads are too many; there can be {limit}")
            }
            Error::Start { threads, source } => {
                write!(f, "{threads} threads cannot be started: {source}")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Placement(error) => Some(error),
            Error::TooMany { .. } => None,
            Error::Start { source, .. } => Some(source),
        }
    }
}

impl From<PlacementError> for Error {
    fn from(error: PlacementError) -> Self {
        Error::Placement(error)
    }
}

/// Threads that work together.
///
/// One thread at a time should use them: a single worker may be the calling thread, and then there
/// is one for each thread that calls.
#[derive(Debug)]
pub struct Workers {
    /// `None` if the only worker is the calling thread.
    pool: Option<ThreadPool>,
    threads: usize,
    cpus: Option<Vec<usize>>,
    notes: Vec<String>,
}

/// So many workers there can be on any machine, and so many for each CPU, so that some can wait for a
/// slow disk. More cost more than they do: each learns all names by itself, and idle ones look for work
/// at one another, each at each, which alone takes seconds when there are a thousand.
const SENSIBLE: usize = 8;
const SENSIBLE_PER_CPU: usize = 4;

impl Workers {
    /// Starts workers. Where `threads` is none, there is one for each CPU that [`Pin::Numa`] or
    /// [`Pin::List`] means; with other pins there are [`available`] ones.
    ///
    /// A single worker that is not pinned is the thread that calls, so none is started. The calling
    /// thread itself is never pinned, and it should not be when it calls, since workers get only
    /// the CPUs that it may use.
    ///
    /// Where more threads are asked for than make sense, which is 8, or four for each CPU if that is
    /// more, there are only so many, and a note says so.
    ///
    /// # Errors
    /// `pin` cannot be done, or the system does not start the threads. It is no error, but a note,
    /// if the system refuses to pin.
    pub fn new(threads: Option<NonZeroUsize>, pin: &Pin) -> Result<Workers, Error> {
        Workers::of(threads, pin, None)
    }

    /// The same for a program whose first thread has nothing else to do: unless they are pinned, that is worker 0, and all others must leave
    /// the workers alone. Where `threads` is none, and no pin tells another number, there are no more than `useful` ones: what is soon done by
    /// one is done when another has started.
    ///
    /// # Errors
    /// As [`Workers::new`].
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

    /// With as many as are `useful`, the caller is one.
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
                "There are {sensible} workers: {threads} would be in each other's way."
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
        // Otherwise there is a note already.
        let distinct = cpus.as_ref().is_none_or(|cpus| !cpus[1..].contains(&cpus[0]));
        if distinct && threads > available {
            let cpus = if available == 1 { "CPU" } else { "CPUs" };
            notes.push(format!("{threads} workers share the time of {available} {cpus}."));
        }
        Workers::start(threads, cpus, useful.is_some(), notes, |cpu| {
            core_affinity::set_for_current(CoreId { id: cpu })
        })
    }

    /// One worker: the thread that calls.
    #[must_use]
    pub const fn one() -> Workers {
        Workers { pool: None, threads: 1, cpus: None, notes: Vec::new() }
    }

    /// Starts workers; each calls `pin_to` with its CPU. Worker 0 may be the caller, who is never pinned.
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
            // The caller may belong to other workers.
            true => pool().use_current_thread().build().or_else(|_| pool().build()),
            false => pool().build(),
        };
        let pool = pool.map_err(|source| Error::Start { threads, source })?;
        if let Some(planned) = &cpus {
            // Not in the pool's start handler: nobody waits for that, and it has no result.
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

    /// Their number; they are numbered from 0.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The CPU that each worker is pinned to; none unless all of them are.
    #[must_use]
    pub fn cpus(&self) -> Option<&[usize]> {
        self.cpus.as_deref()
    }

    /// Notes for the user about the workers, as sentences.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Runs `f` on worker 0, or where it is if a worker calls.
    ///
    /// `f` may call [`on_each`](Workers::on_each). It should leave rayon's own functions alone: a
    /// single worker may be the calling thread, where these would start a pool that nobody asked
    /// for.
    ///
    /// # Panics
    /// If `f` does, with the same payload.
    pub fn run<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        let Some(pool) = &self.pool else { return f() };
        if pool.current_thread_index().is_some() {
            return f();
        }
        // `ThreadPool::install` takes any worker. This one's memory should be on a known node.
        let f = Mutex::new(Some(f));
        let results = pool.broadcast(|context| {
            let take = || f.lock().ok()?.take();
            if context.index() == 0 { take().map(|f| f()) } else { None }
        });
        results.into_iter().flatten().next().expect("worker 0 is one of them, and calls it")
    }

    /// Runs `f` with the number of each worker, once on each and on all at the same time, and waits
    /// for all.
    ///
    /// With a single worker this is a call of `f(0)`, if a worker calls. Do not call it from `f`
    /// itself.
    ///
    /// # Panics
    /// If `f` does on any worker, with the payload of the first such worker, and once all have
    /// returned. So workers that wait for each other in `f` must not panic.
    pub fn on_each(&self, f: impl Fn(usize) + Sync) {
        self.on_first(self.threads, f);
    }

    /// As [`on_each`](Workers::on_each), but on the first `count` workers only. Worker 0 that calls this
    /// for itself wakes nobody.
    ///
    /// # Panics
    /// As `on_each`.
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
