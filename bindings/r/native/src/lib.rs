//! Rust part of the R package `pajereplay`.
//!
//! It can be built and tested without R. The package's C code (`src/pajereplay.c`) calls the
//! functions of [`abi`] from R's thread. R's errors jump over stack frames, which C allows and Rust
//! does not, so this crate calls no R. C allocates R's vectors, and all workers fill them here.

pub mod abi;
mod analysis;
mod fill;
mod frame;
mod reading;
