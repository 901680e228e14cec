//! Runs the program `pj_dump`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: paje_console::allocator::OrExit =
    paje_console::allocator::OrExit { program: "pj_dump", status: 2 };

fn main() -> ExitCode {
    pj_dump::run::main(&pj_dump::command_line::parse())
}
