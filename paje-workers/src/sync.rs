//! Locks of `queue`: of the standard library here, of loom in `tests/orders.rs`.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
