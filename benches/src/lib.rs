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
//! These programs measure whole programs. Their `--help` explains how:
//!
//! ```text
//! cargo run --release -p benches --bin compare         beside PajeNG's
//! cargo run --release -p benches --bin scaling         with threads, their placement, and pieces
//! cargo run --release -p benches --bin instructions    in instructions, where nothing can be timed
//! ```
//!
//! This library contains the common parts of these programs.

// Placing threads and dropping pages needs Linux.
#![cfg(target_os = "linux")]

pub mod cache;
pub mod floor;
pub mod machine;
pub mod process;
pub mod report;
pub mod study;

/// A result whose error is a line for the user.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Compiles the examples of the document.
#[cfg(doctest)]
#[doc = include_str!("../../docs/rust.md")]
mod document {}
