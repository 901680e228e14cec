//! Synchronisation for `tasks`. It comes from the standard library here, and from loom in
//! `tests/orders.rs`.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
pub(crate) use std::sync::{Condvar, Mutex};
pub(crate) use std::thread;

/// Number of times that a worker yields before it sleeps. This takes about as long as waking a thread, and most waits
/// are shorter. Yielding more often would take CPU time from the other workers.
pub(crate) const YIELDS: usize = 100;
