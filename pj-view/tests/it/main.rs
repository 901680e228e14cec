//! The program as it is called, and its server as strangers see it.

mod cli;
mod security;
mod tiles;
mod world;
