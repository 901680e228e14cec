//! Runs the program `pj_view`.

use std::process::ExitCode;

use pj_view::cli::Cli;
use pj_view::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: paje_console::allocator::OrExit =
    paje_console::allocator::OrExit { program: "pj_view", status: 2 };

fn main() -> ExitCode {
    pj_view::run::main(&paje_console::generate::parse::<Cli>(&MANUAL))
}
