//! Unpacking restores every byte, and damage is found.

#![allow(clippy::unwrap_used)]

mod columns;
mod damage;
mod round;
mod summaries;
