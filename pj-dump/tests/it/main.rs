//! Tests the program from the outside, and the replay against the checker.

mod agree;
mod damaged;
mod datasets;
mod equal;
#[cfg(target_os = "linux")]
mod faults;
mod files;
mod golden;
mod inputs;
#[cfg(target_os = "linux")]
mod memory;
mod messages;
mod order;
mod otf2;
#[cfg(target_os = "linux")]
mod progress;
mod recover;
mod select;
mod sessions;
#[cfg(target_os = "linux")]
mod soak;
mod sort;
mod starvz;
mod stats;
mod strangers;
mod stream;
mod tables;
mod verdict;
mod windows;
mod world;
