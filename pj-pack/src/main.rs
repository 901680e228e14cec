//! The program; see `--help`.

use std::process::ExitCode;

use pj_pack_program::cli::Cli;
use pj_pack_program::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: console::allocator::OrExit =
    console::allocator::OrExit { program: "pj_pack", status: 2 };

fn main() -> ExitCode {
    pj_pack_program::run::main(&console::generate::parse::<Cli>(&MANUAL))
}
