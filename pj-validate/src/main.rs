//! `pj_validate`: reports all problems of Pajé traces.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: paje_console::allocator::OrExit =
    paje_console::allocator::OrExit { program: "pj_validate", status: 2 };

fn main() -> ExitCode {
    pj_validate::run::main()
}
