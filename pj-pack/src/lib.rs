//! `pj_pack`: a Pajé trace in a file that is small and gives the very bytes back.
//!
//! The format, and what packs and unpacks, are in `paje-pack`; here are files, threads, and what is shown of a packed trace.

mod borders;
pub mod cli;
mod list;
pub mod manual;
mod output;
pub mod pack;
mod replay;
pub mod run;
mod structure;
