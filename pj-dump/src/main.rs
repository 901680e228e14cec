//! The program; see `--help`.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = paje_dump::cli::Cli::parse();
    paje_dump::run::main(&cli)
}
