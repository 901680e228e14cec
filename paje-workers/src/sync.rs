//! Locks for `queue`. They come from the standard library here, and from loom in `tests/orders.rs`.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
