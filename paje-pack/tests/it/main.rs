//! Packed traces give the very bytes back, and damaged ones say so.

#![allow(clippy::unwrap_used)]

mod columns;
mod damage;
mod round;
mod summaries;
