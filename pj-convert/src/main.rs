//! Runs the program `pj_convert`.

use std::process::ExitCode;

use pj_convert::cli::Cli;
use pj_convert::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: paje_console::allocator::OrExit =
    paje_console::allocator::OrExit { program: "pj_convert", status: 2 };

fn main() -> ExitCode {
    pj_convert::run::main(&paje_console::generate::parse::<Cli>(&MANUAL))
}
