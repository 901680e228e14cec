//! Our programs and PajeNG's, side by side on the same traces; see `--help`.
//!
//! Programs take turns: one run each, then the next round, so that a machine that slows down slows
//! down all of them. Times are hyperfine's, of whole processes, with the output thrown away. Before
//! anything is timed, the two dumps are compared byte for byte; their peak memory is the kernel's
//! count (`wait4`) for these runs.
//!
//! This process stays small on purpose: until a child has replaced itself by its program, its
//! memory is its parent's, and Linux lets that count for the child's peak.

mod measure;
mod programs;
mod report;

use std::error::Error;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use datasets::{Shape, Size};

use measure::{Case, Round};
use paje_workers::Pin;
use programs::Programs;

/// Compares pj_dump and pj_validate with PajeNG's pj_dump: seconds, megabytes a second, peak memory.
///
/// Prints tables in Markdown, and keeps every single run in a CSV file. Needs PajeNG and hyperfine
/// (Debian: apt-get install pajeng hyperfine). A trace is left out if
/// its dumps differ or a program fails; the exit status is 1 then, 2 if nothing could be measured.
#[derive(Debug, Parser)]
#[command(name = "compare")]
struct Cli {
    /// Traces to measure after the generated ones
    #[arg(value_name = "TRACE")]
    traces: Vec<PathBuf>,

    /// Shapes of the generated traces (`datasets --list`)
    #[arg(long, value_delimiter = ',', default_value = "mpi,task-runtime,many-containers")]
    shapes: Vec<Shape>,

    /// Sizes of the generated traces
    #[arg(long, value_delimiter = ',', default_value = "10MB,40MB,160MB")]
    sizes: Vec<Size>,

    /// Measure the given traces only
    #[arg(long, requires = "traces")]
    only_given: bool,

    /// Rounds; the tables show medians
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Options for all the programs, such as "-n -z"
    #[arg(long, value_name = "WORDS", default_value = "", allow_hyphen_values = true)]
    options: String,

    /// Measure traces whose dumps differ, too (docs/compat.md says when they do)
    #[arg(long)]
    different_too: bool,

    /// PajeNG's pj_dump; otherwise /usr/bin/pj_dump, or the one in PATH
    #[arg(long, value_name = "PROGRAM", env = "PAJENG_PJ_DUMP")]
    pajeng: Option<PathBuf>,

    /// The folder of our programs, which are taken as they are; otherwise they are built as they are shipped
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,

    /// Where every run is recorded [default: benches/records/DATE-CPU.csv]
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Read the first TRACE, count its lines, and move BYTES: what one thread must do at least
    #[arg(long, value_name = "BYTES", hide = true)]
    floor: Option<u64>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.floor {
        Some(bytes) => floor(&cli, *bytes),
        None => compare(&cli),
    };
    match result {
        Ok(status) => status,
        Err(error) => {
            eprintln!("compare: {error}");
            ExitCode::from(2)
        }
    }
}

fn floor(cli: &Cli, bytes: u64) -> Result<ExitCode, Box<dyn Error>> {
    let trace = cli.traces.first().ok_or("which trace?")?;
    println!("{}", benches::scaling::floor::floor(trace, NonZeroUsize::MIN, &Pin::None, bytes)?);
    Ok(ExitCode::SUCCESS)
}

fn compare(cli: &Cli) -> Result<ExitCode, Box<dyn Error>> {
    let programs = Programs::find(cli.pajeng.as_deref(), cli.programs.as_deref())?;
    let options: Vec<String> = cli.options.split_whitespace().map(str::to_owned).collect();
    let folder = tempfile::Builder::new().prefix("paje-compare-").tempdir()?;
    let (mut rounds, mut failed) = (Vec::new(), 0);
    let mut measure = |name: &str, path: &Path| {
        eprintln!("{name} …");
        let case = Case { name, path, options: &options, different_too: cli.different_too };
        match measure::case(&case, &programs, cli.runs, folder.path()) {
            Ok(more) => rounds.extend(more),
            Err(error) => {
                eprintln!("compare: {name}: {error}");
                failed += 1;
            }
        }
    };
    if !cli.only_given {
        for shape in &cli.shapes {
            for size in &cli.sizes {
                let path = folder.path().join("generated.trace");
                datasets::write(*shape, size.bytes(), 1, &mut File::create(&path)?)?;
                let name = format!("{shape}, {:.0} MB", size.bytes() as f64 / 1e6);
                measure(&name, &path);
                std::fs::remove_file(&path)?;
            }
        }
    }
    for path in &cli.traces {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        measure(&name, path);
    }
    finish(cli, &programs, &rounds)?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn finish(cli: &Cli, programs: &Programs, rounds: &[Round]) -> Result<(), Box<dyn Error>> {
    println!("{}", report::tables(rounds, &programs.pajeng_version, cli.runs));
    let path = match &cli.csv {
        Some(path) => path.clone(),
        None => report::record_path()?,
    };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(&path, report::csv(rounds))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    eprintln!("every run is in {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
