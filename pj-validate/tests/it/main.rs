//! Everything that needs more than one module, or the program itself.

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

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
