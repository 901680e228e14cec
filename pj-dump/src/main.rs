//! The program; see `--help`.

use std::process::ExitCode;

use paje_dump::cli::Cli;
use paje_dump::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: allocator::OrExit = allocator::OrExit { program: "pj_dump", status: 2 };

fn main() -> ExitCode {
    paje_dump::run::main(&generate::parse::<Cli>(&MANUAL))
}
