//! The program; see `--help`.

use std::process::ExitCode;

use paje_equals::cli::Cli;
use paje_equals::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: console::allocator::OrExit =
    console::allocator::OrExit { program: "pj_equals", status: 2 };

fn main() -> ExitCode {
    paje_equals::run::main(&console::generate::parse::<Cli>(&MANUAL))
}
