//! The program; see `--help`.

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: allocator::OrExit = allocator::OrExit { program: "pj_dump", status: 2 };

fn main() -> ExitCode {
    let cli = paje_dump::cli::Cli::parse();
    paje_dump::run::main(&cli)
}
