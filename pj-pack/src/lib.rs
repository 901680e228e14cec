//! `pj_pack`: packs a Pajé trace into a small file from which every byte can be restored.
//!
//! `paje-pack` defines the format. This crate handles files and threads, computes the extras, and
//! lists the contents of packed traces.

mod borders;
pub mod cli;
mod grammar;
mod list;
pub mod manual;
mod output;
pub mod pack;
mod replay;
pub mod run;
mod structure;
