//! The program; see `--help`.

use std::process::ExitCode;

use paje_hazards::cli::Cli;
use paje_hazards::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: console::allocator::OrExit =
    console::allocator::OrExit { program: "pj_hazards", status: 2 };

fn main() -> ExitCode {
    paje_hazards::run::main(&console::generate::parse::<Cli>(&MANUAL))
}
