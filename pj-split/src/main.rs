//! The program; see `--help`.

use std::process::ExitCode;

use paje_split::cli::Cli;
use paje_split::manual::MANUAL;

#[global_allocator]
static ALLOCATOR: console::allocator::OrExit =
    console::allocator::OrExit { program: "pj_split", status: 2 };

fn main() -> ExitCode {
    console::allocator::before_refusal(paje_split::partial::remove_all);
    paje_split::run::main(&console::generate::parse::<Cli>(&MANUAL))
}
