//! The program `pj_pack`. See `pj_pack --help`.

use std::process::ExitCode;

use pj_pack::cli::Cli;
use pj_pack::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: paje_console::allocator::OrExit =
    paje_console::allocator::OrExit { program: "pj_pack", status: 2 };

fn main() -> ExitCode {
    pj_pack::run::main(&paje_console::generate::parse::<Cli>(&MANUAL))
}
