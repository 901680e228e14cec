//! Writes the trace of a run in which any rank sends to any other: `anybody RANKS MESSAGES`. For how time and memory grow.

use std::io::{self, Write};
use std::process::ExitCode;

use datasets::passing::Hazard;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let (Some(Ok(ranks @ 2..)), Some(Ok(messages))) = (words.next(), words.next()) else {
        eprintln!("usage: anybody RANKS MESSAGES; ranks are 2 or more");
        return ExitCode::from(2);
    };
    let trace = Hazard::Anybody { ranks, messages, seed: 1 }.trace();
    match io::stdout().write_all(&trace) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
