//! Synchronisation for `tasks`. It comes from the standard library here, and from loom in
//! `tests/orders.rs`.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
pub(crate) use std::sync::{Condvar, Mutex};
pub(crate) use std::thread;

/// Number of times that a worker yields before it sleeps: about as long as a wake-up takes, since
/// most waits are short. More would only take CPU time from the workers that it waits for.
pub(crate) const YIELDS: usize = 100;
