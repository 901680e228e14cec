//! The program; see `--help`.

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: allocator::OrExit = allocator::OrExit { program: "pj_split", status: 2 };

fn main() -> ExitCode {
    let cli = paje_split::cli::Cli::parse();
    paje_split::run::main(&cli)
}
