//! Options with the same meaning in every program.

mod reading;
mod rows;

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::FalseyValueParser;
use paje_parser::number::parse_f64;
use paje_sim::MemoryLimit;
use paje_workers::{Pin, Workers};
use splitter::{Folders, Limits};

use crate::Failure;
use crate::memory::{self, Limit};

pub use reading::{Accepted, Less, Reading};
pub use rows::{Nature, Natures, Patterns, Span, Which};

/// Number of threads, and the CPUs that they run on.
#[derive(Args, Clone, Debug, Default)]
pub struct Parallel {
    /// Number of threads
    ///
    /// Default: all CPUs that this process may use, or fewer for a short trace. Results do not
    /// depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,

    /// CPUs that threads run on: none (any), compact (fill a NUMA node before the next), scatter
    /// (alternate), numa or numa:0,1 (on these nodes), or a list of CPUs such as 0,2,4-7
    #[arg(long, value_name = "POLICY", default_value = "none", hide_short_help = true)]
    pub pin: Pin,
}

/// Bytes of text that a thread can replay in the time that it takes to start another thread.
pub(crate) const PART: u64 = 512 << 10;

impl Parallel {
    /// Starts the threads.
    pub fn workers(&self) -> Result<Workers, Failure> {
        Workers::new(self.threads, &self.pin).map_err(Failure::Workers)
    }

    /// Starts the threads of a program. The main thread counts as one of them. If the input is
    /// known to have `text` bytes, starts only as many threads as are useful.
    pub fn with_caller(&self, text: Option<u64>) -> Result<Workers, Failure> {
        let useful = text.and_then(|text| usize::try_from(text.div_ceil(PART).max(1)).ok());
        let useful = useful.and_then(NonZeroUsize::new).unwrap_or(NonZeroUsize::MAX);
        Workers::with_caller(self.threads, &self.pin, useful).map_err(Failure::Workers)
    }
}

/// Memory limit of a replay, and the folder for objects beyond it.
#[derive(Args, Clone, Debug, Default)]
pub struct Memory {
    /// Memory limit: a size such as 4G, a share of the machine's memory such as 50%, or none
    /// (default: 75%). Beyond it, objects go to a temporary file; results do not depend on it
    #[arg(long, value_name = "SIZE", value_parser = Limit::parse, hide_short_help = true)]
    pub memory_limit: Option<Limit>,

    /// Folder of the temporary file (default: $TMPDIR, or /var/tmp). The file has no name, and the
    /// system removes it when the program ends in any way
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub temp_dir: Option<PathBuf>,
}

impl Memory {
    /// Returns the limit, or `None` if everything is kept in memory.
    #[must_use]
    pub fn limit(&self) -> Option<MemoryLimit> {
        memory::limit(self.memory_limit, self.temp_dir.as_deref())
    }

    /// Returns the limit for a trace of `text` bytes, if this size is known. Also returns `None`
    /// for a short trace without `--memory-limit`, which avoids looking up the machine's memory.
    #[must_use]
    pub fn limit_for(&self, text: Option<u64>) -> Option<MemoryLimit> {
        let is_short = text.is_some_and(|text| text <= memory::LEAST / 8);
        if is_short && self.memory_limit.is_none() { None } else { self.limit() }
    }
}

/// Limit on the length of a line.
#[derive(Args, Clone, Copy, Debug)]
pub struct LongestLine {
    /// Longest line that is accepted, such as 64K, 100MB or 1GiB. The limit detects files that are
    /// not traces
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = max_line, hide_short_help = true)]
    pub max_line: usize,
}

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a number of threads, 1 or more".into())
}

/// Parses a positive number.
pub fn count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "must be a number, and at least 1".into())
}

/// Choice of warnings.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Warnings {
    /// Do not print warnings; errors are still printed
    #[arg(long, env = NO_WARNINGS, hide_env_values = true, value_parser = FalseyValueParser::new(), hide_short_help = true)]
    pub no_warnings: bool,
}

/// Environment variable with the same effect as `--no-warnings`, for calls of the program that
/// cannot be changed.
pub const NO_WARNINGS: &str = "PAJE_NO_WARNINGS";

/// Entry for this variable in manuals: its name and its effect.
pub const NO_WARNINGS_TERM: (&str, &str) =
    (NO_WARNINGS, "Unless it is unset, empty, 0, no or false: the same as --no-warnings.");

/// Choice of the named files that are read.
#[derive(Args, Clone, Debug, Default)]
pub struct NamedFiles {
    /// Do not read files that the trace names (PajeTraceFile, Filename), but warn about them, as
    /// PajeNG does not read them either
    #[arg(long, hide_short_help = true)]
    pub no_files: bool,

    /// Let the trace name files below DIR too, not only below its own folder; can be repeated
    #[arg(long, value_name = "DIR", conflicts_with = "no_files", hide_short_help = true)]
    pub files_from: Vec<PathBuf>,
}

impl NamedFiles {
    /// Returns the folders in which `traces` may name files, or `None` if named files are not read.
    ///
    /// # Errors
    /// A folder does not exist. The error has its name.
    pub fn folders<'p>(
        &self,
        traces: impl IntoIterator<Item = &'p Path>,
    ) -> Result<Option<Folders>, (PathBuf, io::Error)> {
        if self.no_files {
            return Ok(None);
        }
        Folders::of(traces).and_all(&self.files_from).map(Some)
    }
}

/// Choice of messages on standard error.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Talk {
    /// Do not show progress. It is shown only after a second, and only if standard error is a
    /// terminal
    #[arg(long, hide_short_help = true)]
    pub no_progress: bool,

    /// Choice of warnings.
    #[command(flatten)]
    pub warnings: Warnings,
}

/// Parses a line length from 1 KiB to 1 GiB.
pub fn max_line(text: &str) -> Result<usize, String> {
    let size = splitter::parse_size(text)?;
    let range = 1 << 10..=Limits::LONGEST_LINE;
    let size = usize::try_from(size).ok().filter(|size| range.contains(size));
    size.ok_or_else(|| "expected a size from 1K to 1G".into())
}

/// Parses a time in seconds.
pub fn time(text: &str) -> Result<f64, String> {
    let number = parse_f64(text.as_bytes()).filter(|time| !time.is_nan());
    number.ok_or_else(|| "expected a number of seconds".into())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        line: LongestLine,
    }

    #[test]
    fn line_lengths_are_parsed() {
        let max_line =
            |size| Cli::try_parse_from(["it", "--max-line", size]).map(|cli| cli.line.max_line);
        assert_eq!(Cli::parse_from(["it"]).line.max_line, Limits::default().line);
        assert_eq!(max_line("1k").expect("a size"), 1024);
        assert_eq!(max_line("1GiB").expect("a size"), Limits::LONGEST_LINE);
        for size in ["1023", "1025M", "much", "-1"] {
            assert!(max_line(size).is_err(), "{size}");
        }
    }

    #[test]
    fn times_are_parsed() {
        assert_eq!((time("-1.5"), time("1e3")), (Ok(-1.5), Ok(1000.0)));
        for wrong in ["", "soon", "nan"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
