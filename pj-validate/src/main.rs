//! `pj_validate`: every problem of a Pajé trace, with its place.

use std::process::ExitCode;

fn main() -> ExitCode {
    paje_validate::run::main()
}
