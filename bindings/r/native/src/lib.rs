//! The part of the R package `pajereplay` that is Rust.
//!
//! It knows nothing of R, and needs none to be built and tested. The package's C (`src/pajereplay.c`) calls
//! the functions of [`abi`], from R's thread only: R's errors jump over whatever is on the stack, which C
//! allows and Rust does not, so that nothing of R is ever called from here. C makes R's vectors, and they
//! are filled here, by all workers at once; names become factors' codes on the way.

pub mod abi;
mod analysis;
mod fill;
mod frame;
mod reading;
