//! Tests of several modules together, and of the program.

#![allow(clippy::unwrap_used)] // A test that cannot continue fails.

mod faults;
mod files;
mod files_together;
mod inputs;
mod messages;
mod program;
mod quickly;
mod random;
mod replay;
mod world;
