//! Runs the program `pj_equals`.

use std::process::ExitCode;

use pj_equals::cli::Cli;
use pj_equals::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: paje_console::allocator::OrExit =
    paje_console::allocator::OrExit { program: "pj_equals", status: 2 };

fn main() -> ExitCode {
    pj_equals::run::main(&paje_console::generate::parse::<Cli>(&MANUAL))
}
