//! The program; see `--help`.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = paje_split::cli::Cli::parse();
    paje_split::run::main(&cli)
}
