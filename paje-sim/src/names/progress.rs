//! Progress of a replay, and the time it took.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Progress of a replay, for others to look at meanwhile; and their way to end it.
#[derive(Debug, Default)]
pub struct Progress {
    bytes: AtomicU64,
    events: AtomicU64,
    named: Mutex<Named>,
    work: Mutex<Work>,
    /// Part of the work that is done.
    done: AtomicU64,
    stopped: AtomicBool,
}

/// A phase of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Text is read; without [`Options::sort`](crate::Options::sort) it is replayed meanwhile.
    #[default]
    Reading,
    /// The lines of the text are sorted by time.
    Sorting,
    /// The sorted lines are replayed.
    Replaying,
}

/// A phase, and how much there is to do in it.
#[derive(Debug, Default)]
struct Work {
    phase: Phase,
    all: u64,
}

/// The files that the trace names.
#[derive(Debug, Default)]
struct Named {
    /// Bytes of all that are known so far.
    size: u64,
    /// Bytes read of those before the one at hand.
    read: u64,
    /// Bytes read of the one at hand.
    taken: Arc<AtomicU64>,
}

impl Progress {
    /// Bytes of text that have been decoded.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Lines of events that have been decoded.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// The phase of the replay, the number of bytes of text that are done, and of all. While it reads,
    /// both are 0: who gave the text knows better.
    #[must_use]
    pub fn phase(&self) -> (Phase, u64, u64) {
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        (work.phase, self.done.load(Ordering::Relaxed).min(work.all), work.all)
    }

    /// A phase begins, with so many bytes of text to work on.
    pub(crate) fn enter(&self, phase: Phase, all: u64) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        *work = Work { phase, all };
        self.done.store(0, Ordering::Relaxed);
    }

    /// So many bytes more are sorted.
    pub(crate) fn advance(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Asks the replay to end, from any thread. It does so within some blocks of text, with
    /// [`ErrorKind::Stopped`](crate::ErrorKind::Stopped); while a trace is being read to be sorted, and while a
    /// read waits for bytes, it does not look.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Tells whether the replay was asked to end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Bytes of the files that the trace names, as far as they are known, as they are kept (compressed,
    /// perhaps): how many were read, and how many there are.
    #[must_use]
    pub fn named_files(&self) -> (u64, u64) {
        let named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        (named.read + named.taken.load(Ordering::Relaxed), named.size)
    }

    /// A file of so many bytes will be read.
    pub(crate) fn expect(&self, bytes: u64) {
        self.named.lock().unwrap_or_else(PoisonError::into_inner).size += bytes;
    }

    /// A named file is read, of which so much has been taken.
    pub(crate) fn turn_to(&self, taken: Arc<AtomicU64>) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.read += std::mem::replace(&mut named.taken, taken).load(Ordering::Relaxed);
    }

    pub(crate) fn add(&self, bytes: u64, events: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.done.fetch_add(bytes, Ordering::Relaxed);
        self.events.fetch_add(events, Ordering::Relaxed);
    }
}

/// Times of one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerTimes {
    /// Reading blocks.
    pub read: Duration,
    /// Decoding blocks.
    pub decode: Duration,
    /// Replaying lanes, and merging links.
    pub replay: Duration,
}

impl WorkerTimes {
    /// The time with anything to do.
    #[must_use]
    pub fn busy(&self) -> Duration {
        self.read + self.decode + self.replay
    }
}

/// Times of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// From its beginning to its end.
    pub wall: Duration,
    /// The part in which one worker had something to do that others had to wait for.
    pub serial: Duration,
    /// Times of each worker.
    pub workers: Vec<WorkerTimes>,
}

/// Adds the time since it was made, or since the last lap, to a duration.
pub(crate) struct Watch(Instant);

impl Watch {
    pub(crate) fn start() -> Self {
        Watch(Instant::now())
    }

    pub(crate) fn lap(&mut self, to: &mut Duration) -> Duration {
        let now = Instant::now();
        let lap = now - self.0;
        *to += lap;
        self.0 = now;
        lap
    }
}
