//! The program; see `--help`.

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: allocator::OrExit = allocator::OrExit { program: "pj_equals", status: 2 };

fn main() -> ExitCode {
    let cli = paje_equals::cli::Cli::parse();
    paje_equals::run::main(&cli)
}
