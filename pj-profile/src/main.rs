//! The program; see `--help`.

use std::process::ExitCode;

use paje_profile::cli::Cli;
use paje_profile::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: console::allocator::OrExit =
    console::allocator::OrExit { program: "pj_profile", status: 2 };

fn main() -> ExitCode {
    paje_profile::run::main(&console::generate::parse::<Cli>(&MANUAL))
}
