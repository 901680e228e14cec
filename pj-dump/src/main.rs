//! The program; see `--help`.

use std::process::ExitCode;

use paje_dump::cli::Cli;
use paje_dump::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: console::allocator::OrExit =
    console::allocator::OrExit { program: "pj_dump", status: 2 };

fn main() -> ExitCode {
    paje_dump::run::main(&console::generate::parse::<Cli>(&MANUAL))
}
