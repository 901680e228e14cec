//! Benchmarks of Pajé Replay.
//!
//! Piece by piece, with bytes a second of each, and every answer checked before it is timed:
//!
//! ```text
//! cargo bench -p benches --bench stages             all of the next three
//! cargo bench -p benches --bench stages tokenise    bytes to fields
//! cargo bench -p benches --bench stages decode      bytes to columns: cut, decode, resolve, replay
//! cargo bench -p benches --bench stages rows        columns to the text of pj_dump
//! cargo bench -p benches --bench number             text to numbers
//! cargo bench -p benches --bench decimal            numbers to text
//! ```
//!
//! Whole programs side by side with PajeNG's, on generated traces and on any others given:
//!
//! ```text
//! cargo run --release -p benches --bin compare -- --help
//! ```
//!
//! Scaling of `pj_dump` with threads:
//!
//! ```text
//! cargo run --release -p benches --bin scaling -- --help
//! ```
//!
//! Costs of `pj_dump` where nothing can be timed, in instructions:
//!
//! ```text
//! cargo run --release -p benches --bin instructions -- --help
//! ```
//!
//! Costs of `pj_split`, and of the replay of its pieces:
//!
//! ```text
//! cargo run --release -p benches --bin pieces -- --help
//! ```
//!
//! This library holds what the benchmarks are fed, and these two studies.

#[cfg(target_os = "linux")]
pub mod pieces;
// Threads are placed and pages dropped the way Linux does.
#[cfg(target_os = "linux")]
pub mod scaling;

/// A generator of numbers that is the same everywhere: G. Marsaglia's xorshift of 64 bits
/// ("Xorshift RNGs", 2003). Good enough to keep a branch predictor from learning by heart.
#[derive(Clone, Debug)]
pub struct Numbers(u64);

impl Default for Numbers {
    fn default() -> Self {
        // The seed of the paper's examples.
        Numbers(88_172_645_463_325_252)
    }
}

impl Numbers {
    /// A number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// The examples of the document compile.
#[cfg(doctest)]
#[doc = include_str!("../../docs/rust.md")]
mod document {}
