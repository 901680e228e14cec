//! Locks for `queue`: those of the standard library here, loom's in `tests/orders.rs`.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
