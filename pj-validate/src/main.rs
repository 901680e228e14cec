//! `pj_validate`: every problem of a Pajé trace, with its place.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: console::allocator::OrExit =
    console::allocator::OrExit { program: "pj_validate", status: 2 };

fn main() -> ExitCode {
    paje_validate::run::main()
}
