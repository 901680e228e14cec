//! Tests that unpacking restores every byte, and that damage is found.

#![allow(clippy::unwrap_used)]

mod columns;
mod damage;
mod round;
mod summaries;
