//! How far a replay is, and what it took.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How far a replay is, for others to look at meanwhile.
#[derive(Debug, Default)]
pub struct Progress {
    bytes: AtomicU64,
    events: AtomicU64,
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

    pub(crate) fn add(&self, bytes: u64, events: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.events.fetch_add(events, Ordering::Relaxed);
    }
}

/// What one worker spent its time with.
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

/// What a replay took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// From its beginning to its end.
    pub wall: Duration,
    /// The part in which one worker had something to do that others had to wait for.
    pub serial: Duration,
    /// What each worker spent its time with.
    pub workers: Vec<WorkerTimes>,
}

/// Adds the time since it was made, or since the last lap, to a duration.
pub(crate) struct Watch(Instant);

impl Watch {
    pub(crate) fn start() -> Self {
        Watch(Instant::now())
    }

    pub(crate) fn lap(&mut self, to: &mut Duration) {
        let now = Instant::now();
        *to += now - self.0;
        self.0 = now;
    }
}
