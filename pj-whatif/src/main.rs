//! The program described by `--help`.

use std::process::ExitCode;

use pj_whatif::cli::Cli;
use pj_whatif::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: paje_console::allocator::OrExit =
    paje_console::allocator::OrExit { program: "pj_whatif", status: 2 };

fn main() -> ExitCode {
    pj_whatif::run::main(&paje_console::generate::parse::<Cli>(&MANUAL))
}
