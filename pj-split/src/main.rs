//! Runs the program `pj_split`.

use std::process::ExitCode;

use pj_split::cli::Cli;
use pj_split::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: paje_console::allocator::OrExit =
    paje_console::allocator::OrExit { program: "pj_split", status: 2 };

fn main() -> ExitCode {
    paje_console::allocator::before_refusal(pj_split::partial::remove_all);
    pj_split::run::main(&paje_console::generate::parse::<Cli>(&MANUAL))
}
