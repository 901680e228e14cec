//! The program as it is called, and its server as strangers see it.

mod cli;
mod heads;
mod naive;
mod profile;
mod pyramid;
mod requests;
mod security;
mod tiles;
mod values;
mod world;
