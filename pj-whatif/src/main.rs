//! The program; see `--help`.

use std::process::ExitCode;

use pj_whatif_lib::cli::Cli;
use pj_whatif_lib::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: console::allocator::OrExit =
    console::allocator::OrExit { program: "pj_whatif", status: 2 };

fn main() -> ExitCode {
    pj_whatif_lib::run::main(&console::generate::parse::<Cli>(&MANUAL))
}
