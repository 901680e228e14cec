//! The program; see `--help`.

use std::process::ExitCode;

use paje_convert::cli::Cli;
use paje_convert::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: console::allocator::OrExit =
    console::allocator::OrExit { program: "pj_convert", status: 2 };

fn main() -> ExitCode {
    paje_convert::run::main(&console::generate::parse::<Cli>(&MANUAL))
}
