//! `pj_validate`: every problem of a Pajé trace, with its place.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: paje_console::allocator::OrExit =
    paje_console::allocator::OrExit { program: "pj_validate", status: 2 };

fn main() -> ExitCode {
    pj_validate::run::main()
}
