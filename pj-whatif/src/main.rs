//! The program; see `--help`.

use std::process::ExitCode;

use pj_whatif_program::cli::Cli;
use pj_whatif_program::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: console::allocator::OrExit =
    console::allocator::OrExit { program: "pj_whatif", status: 2 };

fn main() -> ExitCode {
    pj_whatif_program::run::main(&console::generate::parse::<Cli>(&MANUAL))
}
