//! Where workers run, on machines that are not this one and on this one.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

mod machines;
mod pin;
mod placement;
mod pool;
mod topology;
