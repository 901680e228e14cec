//! Compares our programs with PajeNG's on the same traces; see `--help`.
//!
//! All programs take turns within a repetition, so that a slow phase of the machine affects all of
//! them. The dumps are first compared byte for byte.
//!
//! This process must stay small, because Linux includes the memory of a parent in a child's peak
//! until the child runs its program.

mod measure;
mod report;

use std::error::Error;
use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use benches::{floor, process};
use clap::Parser;
use datasets::{Shape, Size};
use measure::{Case, Programs, Run};
use paje_workers::Pin;

/// Compares pj_dump and pj_validate with PajeNG's pj_dump: seconds, megabytes per second, peak
/// memory.
///
/// Prints tables in Markdown, and writes every run to a CSV file. Needs PajeNG (Debian: apt-get
/// install pajeng). Traces are skipped if their dumps differ or a program fails. The exit status is
/// 1 then, and 2 if nothing could be measured.
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

    /// Number of repetitions; the tables show medians
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Options for all the programs, such as "-n -z"
    #[arg(long, value_name = "WORDS", default_value = "", allow_hyphen_values = true)]
    options: String,

    /// Also measure traces whose dumps differ (docs/dev/compat.md says when they do)
    #[arg(long)]
    different_too: bool,

    /// PajeNG's pj_dump [default: /usr/bin/pj_dump or the one in PATH]
    #[arg(long, value_name = "PROGRAM", env = "PAJENG_PJ_DUMP")]
    pajeng: Option<PathBuf>,

    /// Folder of our programs [default: build them for release]
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,

    /// File for every run [default: benches/records/DATE-CPU.csv]
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Do the minimum work of one thread: read the first TRACE, count its lines and copy BYTES
    #[arg(long, value_name = "BYTES", hide = true)]
    floor: Option<u64>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match (cli.floor, cli.traces.first()) {
        (Some(bytes), Some(trace)) => {
            floor::floor(trace, NonZeroUsize::MIN, &Pin::None, bytes).map(|_| ExitCode::SUCCESS)
        }
        _ => compare(&cli),
    };
    result.unwrap_or_else(|error| {
        eprintln!("compare: {error}");
        ExitCode::from(2)
    })
}

fn compare(cli: &Cli) -> Result<ExitCode, Box<dyn Error>> {
    let pajeng = find_pajeng(cli.pajeng.as_deref())?;
    let ours = match &cli.programs {
        Some(folder) => folder.clone(),
        None => process::build(&["pj-dump", "pj-validate"])?,
    };
    let programs = Programs { ours, pajeng, compare: std::env::current_exe()? };
    let options: Vec<String> = cli.options.split_whitespace().map(str::to_owned).collect();
    let (mut runs, mut failed) = (Vec::new(), false);
    let mut measure = |name: &str, path: &Path| {
        eprintln!("{name} …");
        let different_too = cli.different_too;
        let case = Case { programs: &programs, name, path, options: &options, different_too };
        match case.measure(cli.runs) {
            Ok(more) => runs.extend(more),
            Err(error) => {
                eprintln!("compare: {name}: {error}");
                failed = true;
            }
        }
    };
    for shape in cli.shapes.iter().filter(|_| !cli.only_given) {
        for size in &cli.sizes {
            let file = tempfile::NamedTempFile::with_suffix(".trace")?;
            datasets::write(*shape, size.bytes(), 1, &mut File::create(file.path())?)?;
            measure(&format!("{shape}, {:.0} MB", size.bytes() as f64 / 1e6), file.path());
        }
    }
    for path in &cli.traces {
        measure(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy(), path);
    }
    finish(cli, &programs, &runs)?;
    Ok(ExitCode::from(u8::from(failed)))
}

fn finish(cli: &Cli, programs: &Programs, runs: &[Run]) -> Result<(), Box<dyn Error>> {
    if runs.is_empty() {
        return Err("nothing could be measured".into());
    }
    println!("{}", report::tables(runs, &version(&programs.pajeng), cli.runs));
    let path = match &cli.csv {
        Some(path) => path.clone(),
        None => report::record_path()?,
    };
    fs::write(&path, report::csv(runs)?).map_err(|error| format!("{}: {error}", path.display()))?;
    eprintln!("every run is in {}", path.display());
    Ok(())
}

/// Returns the path of PajeNG's program. Our Debian package renames that program.
fn find_pajeng(given: Option<&Path>) -> Result<PathBuf, &'static str> {
    // Only PajeNG's help mentions a reader made with flex.
    let is_pajeng = |program: &Path| {
        let output = Command::new(program).arg("--help").output();
        output.is_ok_and(|output| {
            let help = [output.stdout, output.stderr].concat();
            String::from_utf8_lossy(&help).contains("flex-based")
        })
    };
    let usual = ["/usr/bin/pj_dump.pajeng", "/usr/bin/pj_dump", "pj_dump"].map(Path::new);
    let candidates = given.as_ref().map_or(&usual[..], std::slice::from_ref);
    candidates.iter().find(|program| is_pajeng(program)).map(|program| (*program).into()).ok_or(
        "PajeNG's pj_dump is not installed; on Debian `apt-get install pajeng`, otherwise give its path \
         with --pajeng",
    )
}

/// Returns the version of PajeNG's Debian package. The program itself prints "Development build".
fn version(pajeng: &Path) -> String {
    let query = ["--show", "--showformat=${Version}", "pajeng"];
    match Command::new("dpkg-query").args(query).output() {
        Ok(output) if output.status.success() && pajeng.starts_with("/usr/bin") => {
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
        _ => "of unknown version".into(),
    }
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
