//! Tests workers on this machine.

#![allow(clippy::unwrap_used)] // A panic makes a test fail.

mod pool;
