//! The program; see `--help`.

use std::process::ExitCode;

use paje_view::cli::Cli;
use paje_view::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: console::allocator::OrExit =
    console::allocator::OrExit { program: "pj_view", status: 2 };

fn main() -> ExitCode {
    paje_view::run::main(&console::generate::parse::<Cli>(&MANUAL))
}
