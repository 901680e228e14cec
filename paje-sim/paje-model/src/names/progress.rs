//! Progress of a replay, and the times that it took.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Progress of a replay. Other threads can watch it and stop the replay.
#[derive(Debug, Default)]
pub struct Progress {
    bytes: AtomicU64,
    events: AtomicU64,
    named: Mutex<Named>,
    work: Mutex<Work>,
    done: AtomicU64,
    stopped: AtomicBool,
}

/// A phase of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Text is read. Unless events are sorted by time, it is also replayed.
    #[default]
    Reading,
    /// Lines are sorted by time.
    Sorting,
    /// Sorted lines are replayed.
    Replaying,
}

#[derive(Debug, Default)]
struct Work {
    phase: Phase,
    all: u64,
}

#[derive(Debug, Default)]
struct Named {
    size: u64,
    /// Number of bytes read from previous files.
    read: u64,
    /// Number of bytes read from the current file.
    taken: Arc<AtomicU64>,
}

impl Progress {
    /// Returns the number of decoded bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the number of decoded lines of events.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// Returns the phase, its completed bytes, and its total bytes. While reading, both numbers are 0, because the
    /// caller knows the input's size.
    #[must_use]
    pub fn phase(&self) -> (Phase, u64, u64) {
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        (work.phase, self.done.load(Ordering::Relaxed).min(work.all), work.all)
    }

    /// Begins a phase with this number of bytes to process.
    #[doc(hidden)]
    pub fn enter(&self, phase: Phase, all: u64) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        *work = Work { phase, all };
        self.done.store(0, Ordering::Relaxed);
    }

    /// Adds sorted bytes.
    #[doc(hidden)]
    pub fn advance(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Stops the replay, from any thread. The replay then ends after a few blocks of text, with
    /// [`ErrorKind::Stopped`](crate::names::error::ErrorKind::Stopped). It does not notice the request while it reads a
    /// trace to be sorted or waits for input.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns whether [`Progress::stop`] was called.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Returns how many bytes were read from the files to which the trace refers, and the total size known so far. For
    /// compressed files, these are sizes of compressed data.
    #[must_use]
    pub fn named_files(&self) -> (u64, u64) {
        let named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        (named.read + named.taken.load(Ordering::Relaxed), named.size)
    }

    #[doc(hidden)]
    pub fn expect(&self, bytes: u64) {
        self.named.lock().unwrap_or_else(PoisonError::into_inner).size += bytes;
    }

    /// Switches to another file, which has its own counter of bytes read.
    #[doc(hidden)]
    pub fn turn_to(&self, taken: Arc<AtomicU64>) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.read += std::mem::replace(&mut named.taken, taken).load(Ordering::Relaxed);
    }

    #[doc(hidden)]
    pub fn add(&self, bytes: u64, events: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.done.fetch_add(bytes, Ordering::Relaxed);
        self.events.fetch_add(events, Ordering::Relaxed);
    }
}

/// Times of one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerTimes {
    /// Time spent reading blocks.
    pub read: Duration,
    /// Time spent decoding blocks.
    pub decode: Duration,
    /// Time spent replaying lanes and merging links.
    pub replay: Duration,
}

impl WorkerTimes {
    /// Returns the total of these times.
    #[must_use]
    pub fn busy(&self) -> Duration {
        self.read + self.decode + self.replay
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Time from the beginning to the end of the replay.
    pub wall: Duration,
    /// Time during which only one worker was busy.
    pub serial: Duration,
    pub workers: Vec<WorkerTimes>,
}

/// Measures laps. Each call adds the time since the previous call to a given duration.
pub struct Watch(Instant);

impl Watch {
    pub fn start() -> Self {
        Watch(Instant::now())
    }

    pub fn lap(&mut self, to: &mut Duration) -> Duration {
        let now = Instant::now();
        let lap = now - self.0;
        *to += lap;
        self.0 = now;
        lap
    }
}
