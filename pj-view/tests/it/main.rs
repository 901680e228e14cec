//! Tests of the program and its server.

mod cli;
mod heads;
mod naive;
mod paths;
mod profile;
mod pyramid;
mod requests;
mod security;
mod tiles;
mod values;
mod world;
