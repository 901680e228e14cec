//! `datasets`: writes a Pajé trace of a given shape and size.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use datasets::files::{self, Style};
use datasets::{Shape, Size};

/// Writes a Pajé trace of a given shape and size. The same seed gives the same trace.
///
/// Exit status: 0 on success, 2 if the arguments are wrong or the output fails.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Arguments {
    /// Shape of the trace
    #[arg(value_name = "SHAPE", required_unless_present = "list", value_parser = PossibleValuesParser::new(Shape::ALL.map(Shape::name)))]
    shape: Option<String>,

    /// Size in bytes, with K, M, G or T (powers of 1024) or KB, MB, GB or TB (powers of 1000)
    #[arg(short, long, default_value = "16M")]
    size: Size,

    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Number of ranks or workers, for mpi (even), many-containers and task-runtime
    #[arg(long, value_name = "N", conflicts_with = "files")]
    containers: Option<u64>,

    /// Output file (default or `-`: standard output); with --files, a folder
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Split the trace by container into a root.trace and further files in the folder: `full`
    /// traces, `bare` events, or events with own numbers that the `filename` of a container names
    #[arg(long, value_name = "STYLE", requires = "output", value_parser = PossibleValuesParser::new(Style::ALL.map(Style::name)))]
    files: Option<String>,

    /// Largest number of files
    #[arg(long, value_name = "N", default_value_t = 8, requires = "files")]
    pieces: usize,

    /// List the shapes and what they stress
    #[arg(short, long)]
    list: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may also be closed.
            let _ = writeln!(io::stderr(), "datasets: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns whether standard output was closed when the program started (`>&-`). Rust's runtime then
/// opens `/dev/null` for reading and writing, whereas a shell opens it only for writing.
fn is_closed() -> bool {
    let is_null =
        std::fs::read_link("/proc/self/fd/1").is_ok_and(|file| file == Path::new("/dev/null"));
    let flags = std::fs::read_to_string("/proc/self/fdinfo/1").unwrap_or_default();
    let flags = flags.lines().find_map(|line| line.strip_prefix("flags:"));
    // The flags are octal, and the lowest two bits of O_RDWR are 2.
    is_null && flags.is_some_and(|flags| flags.trim_end().ends_with(['2', '6']))
}

fn run(arguments: &Arguments) -> io::Result<()> {
    let is_for_stdout = arguments.output.as_deref().is_none_or(|path| path == Path::new("-"));
    if is_for_stdout && is_closed() {
        return Err(io::Error::other("standard output is closed"));
    }
    if arguments.list {
        let mut out = io::stdout().lock();
        return Shape::ALL
            .into_iter()
            .try_for_each(|shape| writeln!(out, "{shape:16}{}", shape.describe()));
    }
    let name = arguments.shape.as_deref().unwrap_or_default();
    let shape = name.parse::<Shape>().map_err(io::Error::other)?;
    if let (Some(style), Some(folder)) = (&arguments.files, &arguments.output) {
        let style = style.parse::<Style>().map_err(io::Error::other)?;
        let trace = datasets::generate(shape, arguments.size.bytes(), arguments.seed);
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", folder.display()))
        };
        return files::cut(&trace, style, arguments.pieces).write(folder).map_err(named);
    }
    let write = |out: &mut dyn Write| {
        let (size, seed) = (arguments.size.bytes(), arguments.seed);
        datasets::write_containers(shape, size, seed, arguments.containers, out)
    };
    match arguments.output.as_deref().filter(|path| *path != Path::new("-")) {
        None => write(&mut io::stdout().lock())?,
        Some(path) => {
            let named = |error: io::Error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            };
            let mut file = File::create(path).map_err(named)?;
            write(&mut file).map_err(named)?
        }
    };
    Ok(())
}
