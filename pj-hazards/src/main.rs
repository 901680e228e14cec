//! Runs the program `pj_hazards`.

use std::process::ExitCode;

use pj_hazards::cli::Cli;
use pj_hazards::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: paje_console::allocator::OrExit =
    paje_console::allocator::OrExit { program: "pj_hazards", status: 2 };

fn main() -> ExitCode {
    pj_hazards::run::main(&paje_console::generate::parse::<Cli>(&MANUAL))
}
