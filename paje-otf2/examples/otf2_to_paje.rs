//! Prints an archive as Pajé text.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use paje_otf2::{Archive, Trace, open_regular};

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_default();
    match print(Path::new(&path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn print(path: &Path) -> std::io::Result<()> {
    let trace = Trace::new(Arc::new(Archive::open(path, Arc::new(open_regular))?), 1)?;
    let mut out = std::io::stdout().lock();
    (0..trace.pieces()).try_for_each(|piece| out.write_all(&trace.text(piece)?))
}
