//! Tests of the program and its server.

mod blocks;
mod cli;
mod explained;
mod heads;
mod lists;
mod naive;
mod paths;
mod profile;
mod pyramid;
mod requests;
mod security;
mod tasks;
mod tiles;
mod values;
mod world;
