//! Counts the instructions of `pj_dump` per line and row on generated traces, with valgrind's
//! callgrind and one thread; see `--help`.
//!
//! Unlike times, these counts depend only on the compiler and the processor's instruction set, so
//! they can be compared with a record.

mod callgrind;
mod record;

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use datasets::{Shape, Size};

use callgrind::{Counts, Valgrind};
use record::{Record, Row};

/// Counts the instructions of pj_dump on a trace of each shape: per line for decoding, replaying
/// and everything else but output, and per row for output.
///
/// Prints a table, and keeps it in a record. Needs valgrind (Debian: apt-get install valgrind), and
/// a pj_dump from `cargo build --release -p pj-dump`. Exit status: 0; 1 if --check finds a shape
/// that costs more than the record says; 2 if something could not be counted.
#[derive(Debug, Parser)]
#[command(name = "instructions")]
struct Cli {
    /// Compare with the record instead of writing it, and fail if a shape costs 2 % more
    #[arg(long)]
    check: bool,

    /// Shapes of the traces (`datasets --list`)
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "mpi,task-runtime,many-containers,unique-values,all-links,variables,quoted,deep"
    )]
    shapes: Vec<Shape>,

    /// Size of the traces
    #[arg(long, default_value = "2MB")]
    size: Size,

    /// Another trace, which is counted but not recorded
    #[arg(value_name = "TRACE", conflicts_with = "check")]
    trace: Option<PathBuf>,

    /// Also count mispredicted branches and first-level cache misses of a simple processor
    #[arg(long, conflicts_with = "check")]
    misses: bool,

    /// Path of pj_dump [default: the one beside this program]
    #[arg(long)]
    program: Option<PathBuf>,

    /// File of the record
    #[arg(long, value_name = "FILE", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/records/instructions.csv"))]
    record: PathBuf,
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("instructions: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(cli: &Cli) -> Result<ExitCode, Box<dyn Error>> {
    let program = match &cli.program {
        Some(program) => program.clone(),
        None => std::env::current_exe()?.with_file_name("pj_dump"),
    };
    let valgrind = Valgrind { program, misses: cli.misses };
    if let Some(trace) = &cli.trace {
        println!("{}", Row::HEADER);
        let name = trace.file_name().unwrap_or(trace.as_os_str()).to_string_lossy();
        let counts = valgrind.count(trace)?;
        show(&Row::new(&name, &counts), &counts);
        return Ok(ExitCode::SUCCESS);
    }
    let before = if cli.check { Some(Record::read(&cli.record)?) } else { None };
    let folder = tempfile::Builder::new().prefix("paje-instructions-").tempdir()?;
    let path = folder.path().join("generated.trace");
    let mut rows = Vec::new();
    println!("{}", Row::HEADER);
    for shape in &cli.shapes {
        datasets::write(*shape, cli.size.bytes(), 1, &mut File::create(&path)?)?;
        let counts = valgrind.count(&path)?;
        let row = Row::new(shape.name(), &counts);
        show(&row, &counts);
        rows.push(row);
    }
    let now = Record { compiler: compiler()?, size: cli.size.bytes(), rows };
    match before {
        None => {
            now.write(&cli.record)?;
            eprintln!("recorded in {}", cli.record.display());
            Ok(ExitCode::SUCCESS)
        }
        Some(before) => Ok(check(&before, &now, &cli.record)),
    }
}

fn show(row: &Row, counts: &Counts) {
    println!("{row}");
    if let Some(misses) = &counts.misses {
        let a_line = |count: u64| count as f64 / counts.lines as f64;
        println!(
            "    {:.2} mispredicted branches and {:.2} first-level cache misses per line",
            a_line(misses.branches),
            a_line(misses.nearest)
        );
    }
}

fn check(before: &Record, now: &Record, path: &Path) -> ExitCode {
    if before.compiler != now.compiler || before.size != now.size {
        println!(
            "the record is of {} and {} bytes, this is {} and {} bytes: they cannot be compared; \
             record anew",
            before.compiler, before.size, now.compiler, now.size
        );
        return ExitCode::SUCCESS;
    }
    let worse = now.compare(before);
    for line in &worse {
        println!("{line}");
    }
    if worse.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("if the change is worth it, record the new counts ({})", path.display());
    ExitCode::from(1)
}

fn compiler() -> Result<String, Box<dyn Error>> {
    let output = std::process::Command::new("rustc").arg("--version").output()?;
    let version = String::from_utf8_lossy(&output.stdout);
    // Leaves out the date and a comma, because the text becomes a line of a CSV file.
    Ok(version.split(" (").next().unwrap_or_default().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_options_are_consistent() {
        Cli::command().debug_assert();
    }
}
