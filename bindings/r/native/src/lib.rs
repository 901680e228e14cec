//! Rust part of the R package `pajereplay`.
//!
//! It needs no R to be built and tested. The package's C (`src/pajereplay.c`) calls the functions of [`abi`] from R's
//! thread. R's errors jump over stack frames, which C allows and Rust does not, so nothing of R is called from here.
//! C allocates R's vectors, and all workers fill them here. Names become codes of factors.

pub mod abi;
mod analysis;
mod fill;
mod frame;
mod reading;
