//! Threads, and what they share in `tasks`: of the standard library here, of loom in `tests/orders.rs`.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
pub(crate) use std::sync::{Condvar, Mutex};
pub(crate) use std::thread;

/// Number of times that a worker yields before it sleeps: about as long as to be woken takes, for most waits are
/// short where each worker has a CPU. More of them only take the CPUs from those that are waited for.
pub(crate) const YIELDS: usize = 100;
