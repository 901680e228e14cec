//! Workers on this machine.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

mod pool;
