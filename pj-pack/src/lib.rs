//! `pj_pack`: packs a Pajé trace into a small file, from which every byte can be restored.
//!
//! The format is in `paje-pack`. This crate has the files, threads, extras, and lists of contents.

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
