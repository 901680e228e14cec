//! Benchmarks of Pajé Replay.
//!
//! These benchmarks measure parts of the engine, in bytes per second. Every result is checked
//! before it is timed:
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
//! The programs in `benches/python` measure whole programs. Their `--help` explains how:
//!
//! ```text
//! compare.py         beside PajeNG's
//! scaling.py         with threads, their placement, and pieces
//! instructions.py    in instructions, where nothing can be timed
//! ```

/// Compiles the examples of the document.
#[cfg(doctest)]
#[doc = include_str!("../../docs/rust.md")]
mod document {}
