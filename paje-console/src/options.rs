//! Options with the same meaning in every program.

mod reading;
mod report;
mod rows;
mod talk;
mod units;
mod values;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use paje_sim::MemoryLimit;
use paje_workers::{Pin, Workers};
use splitter::Limits;

use crate::Failure;
use crate::memory::{self, Limit};

pub use reading::{Accepted, Less, Reading, VariablePrecision, Variables};
pub use report::{Coloured, Format, Formatted, When};
pub use rows::{Nature, Natures, Patterns, Span, Which};
pub use talk::{NO_WARNINGS, NO_WARNINGS_TERM, StatsFormat, Talk, Warnings};
pub use units::Units;
pub use values::{count, positive_time, size, time, whole};

/// Number of threads, and the CPUs that they run on.
#[derive(Args, Clone, Debug, Default)]
pub struct Parallel {
    /// Number of threads
    ///
    /// Default: all CPUs that this process may use, or fewer for a short trace. Results do not
    /// depend on it
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,

    /// CPUs of threads: none, compact, scatter, numa:0,1 or 0,2,4-7
    ///
    /// none: any CPU; compact: fill a NUMA node before the next; scatter: alternate between nodes;
    /// numa or numa:0,1: on these nodes; or a list of CPUs
    #[arg(long, value_name = "POLICY", default_value = "none", hide_short_help = true)]
    pub pin: Pin,
}

/// Number of bytes of text that a thread can replay while another thread starts.
pub const PART: u64 = 512 << 10;

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
    /// Memory limit: such as 4G or 50%, or none (default: 75%)
    ///
    /// A size, or a share of the machine's memory. Objects beyond it go to a temporary file.
    /// Results do not depend on it
    #[arg(long, value_name = "SIZE", value_parser = Limit::parse, hide_short_help = true)]
    pub memory_limit: Option<Limit>,

    /// Folder of the temporary file (default: $TMPDIR, or /var/tmp)
    ///
    /// The file has no name, and the system removes it when the program ends in any way
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub temp_dir: Option<PathBuf>,
}

impl Memory {
    /// Returns the limit, or `None` if all objects are kept in memory.
    #[must_use]
    pub fn limit(&self) -> Option<MemoryLimit> {
        memory::limit(self.memory_limit, self.temp_dir.as_deref())
    }

    /// Returns the limit for a trace of `text` bytes, if this size is known. For a short trace
    /// without `--memory-limit`, also returns `None`, so that the machine's memory need not be
    /// looked up.
    #[must_use]
    pub fn limit_for(&self, text: Option<u64>) -> Option<MemoryLimit> {
        let is_short = text.is_some_and(|text| text <= MemoryLimit::LEAST / 8);
        if is_short && self.memory_limit.is_none() { None } else { self.limit() }
    }
}

/// Limit on the length of a line.
#[derive(Args, Clone, Copy, Debug)]
pub struct LongestLine {
    /// Longest line that is accepted, such as 64K or 1GiB
    ///
    /// The limit detects files that are not traces
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size::<usize>(1 << 10..=Limits::LONGEST_LINE as u64, "a size from 1K to 1G"), hide_short_help = true)]
    pub max_line: usize,
}

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a number of threads, 1 or more".into())
}

/// Choice of the named files that are read.
#[derive(Args, Clone, Debug, Default)]
pub struct NamedFiles {
    /// Do not read files that the trace names, but warn about them
    ///
    /// The trace names files by PajeTraceFile and Filename. PajeNG does not read them either
    #[arg(long, hide_short_help = true)]
    pub no_files: bool,

    /// Let the trace name files below DIR, too; can be repeated
    ///
    /// By default, a trace may only name files below its own folder
    #[arg(long, value_name = "DIR", conflicts_with = "no_files", hide_short_help = true)]
    pub files_from: Vec<PathBuf>,
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
}
