//! The program; see `--help`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: console::allocator::OrExit =
    console::allocator::OrExit { program: "pj_dump", status: 2 };

fn main() -> ExitCode {
    paje_dump::run::main(&paje_dump::command_line::parse())
}
