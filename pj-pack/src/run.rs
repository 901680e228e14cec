//! Runs the program: packs, unpacks, or lists the contents of a packed trace.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use paje_console::contents::stats;
use paje_console::options::Format;
use paje_console::output::{refuse_inputs, standard_output};
use paje_console::progress::Display;
use paje_console::{Failure, Voice, failure};
use paje_pack::Settings;
use paje_workers::Workers;
use splitter::Input;

use crate::cli::Cli;
use crate::list::Contents;
use crate::output::Output;
use crate::pack::{Extras, PackError, pack, unpack};
use crate::structure::structure;

/// Prints the messages of the program, which has no hints.
const VOICE: Voice =
    Voice { program: "pj_pack", on_disorder: "", on_long_lines: None, on_damage: None };

/// Runs the program. Returns exit status 0, or 2 for wrong usage, failed input or output, and
/// damage.
#[must_use]
pub fn main(cli: &Cli) -> ExitCode {
    // If this signal is handled, a file that becomes too large causes a failed write instead of
    // ending the program. If the handler cannot be registered, the signal still ends the program.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    failure::exit(VOICE, run(cli).map(|()| true))
}

fn run(cli: &Cli) -> Result<(), Failure> {
    if cli.output.is_some() && cli.files.len() > 1 {
        let message =
            "-o names a single file; without it, each packed trace is written beside its trace";
        return Err(Failure::Other(message.into()));
    }
    let began = Instant::now();
    let workers = cli.parallel.workers()?;
    if cli.talk.verbose {
        VOICE.workers(&workers);
    }
    for file in &cli.files {
        match cli {
            Cli { unpack: true, .. } => unpack_one(cli, file, &workers)?,
            Cli { test: true, .. } => packed(file, |packed| unpack(packed, &workers, |_| Ok(())))?,
            Cli { list: true, .. } => {
                let contents = packed(file, |packed| Ok(Contents::read(packed)?))?;
                print(&match cli.formatted.format {
                    Format::Json => contents.json()?,
                    _ => contents.table(),
                })?;
            }
            Cli { structure: true, .. } => {
                let longest = cli.max_pattern.into();
                print(&packed(file, |packed| Ok(structure(packed, longest)?.to_string()))?)?;
            }
            _ => pack_one(cli, file, &workers)?,
        }
    }
    if let Some(format) = cli.talk.stats {
        let counts = [("files", cli.files.len() as u64), ("threads", workers.threads() as u64)];
        VOICE.print(&stats(format, &counts, None, began));
    }
    Ok(())
}

fn pack_one(cli: &Cli, file: &Path, workers: &Workers) -> Result<(), Failure> {
    let began = Instant::now();
    let place = cli.place(file).map_err(Failure::Other)?;
    let unreadable = |error| Failure::File(file.to_owned(), error);
    let input = Input::open(Some(file)).map_err(unreadable)?;
    if cli.talk.verbose {
        VOICE.input(&input);
    }
    refuse_inputs(&[file], [place.as_path()])?;
    let output = Output::open(Some(&place))?;
    let shown = Display::new(!cli.talk.no_progress, began).reading("packing", &input);
    let text = input.size().filter(|_| input.compression().is_none());
    let mut settings = Settings::default();
    (settings.segment, settings.level) = (cli.segment_of(text), cli.level.into());
    let extras = if cli.no_summary { Extras::Nothing } else { Extras::Small };
    let packed = pack(input, output.file(), settings, workers, extras);
    drop(shown);
    packed.map_err(|error| match error {
        PackError::Input(error) => unreadable(error),
        PackError::Output(error) => output.failed(error),
    })?;
    output.finish()
}

fn unpack_one(cli: &Cli, file: &Path, workers: &Workers) -> Result<(), Failure> {
    refuse_inputs(&[file], cli.output.as_deref())?;
    let output = Output::open(cli.output.as_deref())?;
    let mut failed = None;
    let unpacked = packed(file, |packed| {
        unpack(packed, workers, |text| {
            output.file().write_all(text).map_err(|error| {
                let kind = error.kind();
                failed = Some(error);
                kind.into()
            })
        })
    });
    match failed {
        Some(error) => Err(output.failed(error)),
        None => unpacked.and_then(|()| output.finish()),
    }
}

/// Calls `read` with a packed trace. Failures contain the name of the file.
fn packed<T>(
    file: &Path,
    read: impl FnOnce(Box<dyn Read + Send>) -> Result<T, PackError>,
) -> Result<T, Failure> {
    let named = |name: &Path, error| Failure::File(name.to_owned(), error);
    let (name, from): (PathBuf, Box<dyn Read + Send>) = if file == Path::new("-") {
        ("<stdin>".into(), Box::new(io::stdin()))
    } else {
        let opened = File::open(file).map_err(|error| named(file, error))?;
        (file.to_owned(), Box::new(BufReader::with_capacity(1 << 18, opened)))
    };
    read(from).map_err(|error| match error {
        PackError::Input(error) | PackError::Output(error) => named(&name, error),
    })
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = standard_output().map_err(Failure::Output)?;
    out.write_all(text.as_bytes()).map_err(Failure::Output)
}
