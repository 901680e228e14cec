//! Runs the program `pj_profile`.

use std::process::ExitCode;

use pj_profile::cli::Cli;
use pj_profile::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: paje_console::allocator::OrExit =
    paje_console::allocator::OrExit { program: "pj_profile", status: 2 };

fn main() -> ExitCode {
    pj_profile::run::main(&paje_console::generate::parse::<Cli>(&MANUAL))
}
