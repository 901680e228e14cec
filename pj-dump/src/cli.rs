//! The command line: PajeNG's long and short options, and ours.
//!
//! A long option may be abbreviated to a unique prefix. Where one of our options shares a prefix
//! with a PajeNG option, an alias makes the prefix select the PajeNG option.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgAction, Parser, ValueEnum};
use paje_console::Quotes;
use paje_console::generate::Generate;
use paje_console::options::{Less, Memory, Parallel, Reading, Talk, Variables, Which};

use crate::manual::MANUAL;

const ROWS: &str = "Rows";
const WHICH: &str = "Which rows";
const TABLES: &str = "Tables";
const READING: &str = "Reading";
const SPEED: &str = "Speed and memory";
const PAJENG: &str = "PajeNG's";
const OTHER: &str = "Other";

// `-?` prints the first paragraph of each option, on one screen.

/// Dumps a Pajé trace as comma-separated rows, byte for byte as PajeNG does.
///
/// Rows are printed to standard output once the whole trace has been found valid (except with -o),
/// messages to standard error.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_dump",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    args_override_self = true,
    mut_arg("start", |arg| arg.alias("sta")),
    mut_arg("ignore_incomplete_links", |arg| arg.alias("i")),
    after_help = MANUAL.after_short_help(),
    after_long_help = MANUAL.after_long_help()
)]
pub struct Cli {
    /// The trace, maybe compressed; several files are one trace
    ///
    /// gzip, zstd, xz and bzip2 are recognised. Standard input if there is none, or if it is `-`.
    /// Several files may be the pieces that pj_split writes, for example
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Print header lines first
    #[arg(short = 'h', long, help_heading = ROWS)]
    pub header: bool,

    /// Digits after the point
    #[arg(short = 'l', long, value_name = "N", default_value_t = 6, allow_hyphen_values = true, value_parser = digits, help_heading = ROWS)]
    pub float_precision: u16,

    /// Print user-defined fields as further columns
    #[arg(short, long, help_heading = ROWS)]
    pub user_defined: bool,

    /// Print no rows
    ///
    /// Other requested output is still printed, and so are warnings (see --no-warnings)
    #[arg(short, long, aliases = ["q", "qu"], help_heading = ROWS)]
    pub quiet: bool,

    /// Print rows as they complete, in little memory
    ///
    /// Rows are printed and dropped every 16 MiB of the trace, so memory does not grow with its
    /// length. If the trace is invalid, some rows have already been printed
    #[arg(short, long, alias = "o", help_heading = ROWS)]
    pub out_of_core: bool,

    /// Print the container hierarchy instead of rows
    #[arg(short, long, help_heading = ROWS, hide_short_help = true)]
    pub container: bool,

    /// Print the type hierarchy for graphviz instead of rows
    #[arg(short, long, help_heading = ROWS, hide_short_help = true)]
    pub dot: bool,

    /// Print the values of this type in each interval between two times
    ///
    /// Printed instead of rows
    #[arg(short, long, aliases = ["p", "pr"], value_name = "TYPENAME", allow_hyphen_values = true, help_heading = ROWS, hide_short_help = true)]
    pub probabilistic: Option<String>,

    /// Print the seconds of reading and replaying to standard output, before the rows
    #[arg(short, long, help_heading = ROWS, hide_short_help = true)]
    pub time: bool,

    /// Write the types and their values to FILE, as CSV
    #[arg(long, value_name = "FILE", allow_hyphen_values = true, help_heading = ROWS, hide_short_help = true)]
    pub type_hierarchy: Option<PathBuf>,

    /// Write the containers and the types of their entities to FILE, as CSV
    #[arg(long, value_name = "FILE", allow_hyphen_values = true, help_heading = ROWS, hide_short_help = true)]
    pub entity_hierarchy: Option<PathBuf>,

    /// Write rows to PREFIX.state.csv and so on, as PajeNG's pj_dump_csv
    ///
    /// One file for each nature, each with its header line
    #[arg(long, value_name = "PREFIX", conflicts_with_all = ["tables", "out_of_core", "container", "dot", "probabilistic"], help_heading = ROWS, hide_short_help = true)]
    pub prefix: Option<OsString>,

    /// Quotes around names
    #[arg(long, value_enum, default_value_t = Quotes::Auto, help_heading = ROWS, hide_short_help = true)]
    pub quotes: Quotes,

    /// Choice of rows.
    #[command(flatten, next_help_heading = WHICH)]
    pub which: Which,

    /// Write tables to files in the folder DIR instead
    ///
    /// One for each nature of rows, and one for each hierarchy. They appear when all are complete
    #[arg(short = 'O', long, value_name = "DIR", conflicts_with_all = ["out_of_core", "container", "dot", "probabilistic"], help_heading = TABLES)]
    pub tables: Option<PathBuf>,

    /// Format of the tables. Columns are as in the header lines; times are in double precision, and
    /// so are values of variables by default
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Parquet, requires = "tables", help_heading = TABLES, hide_short_help = true)]
    pub format: TableFormat,

    /// Encoding of times and values of variables in Parquet files
    #[arg(long, value_enum, value_name = "HOW", default_value_t = TimeEncoding::Split, requires = "tables", help_heading = TABLES, hide_short_help = true)]
    pub encoding: TimeEncoding,

    /// Divide the tables by `container` or `time:N`, as a dataset
    ///
    /// Tables of states, variables, events and links become folders, for Spark, DuckDB and similar
    /// programs. `time` and `time:N` divide by the times at which rows begin, in N parts (default
    /// 16). DIR must not exist
    #[arg(long, value_name = "BY", requires = "tables", help_heading = TABLES, hide_short_help = true)]
    pub partition_by: Option<PartitionBy>,

    /// Add a column with the line of each row, and one with its file
    ///
    /// The column of files appears if there are several
    #[arg(long, requires = "tables", conflicts_with = "sort", help_heading = TABLES, hide_short_help = true)]
    pub lines: bool,

    /// Options of reading.
    #[command(flatten, next_help_heading = READING)]
    pub reading: Reading,

    /// Options that replay less.
    #[command(flatten, next_help_heading = READING)]
    pub less: Less,

    /// Precision of the values of variables.
    #[command(flatten, next_help_heading = READING)]
    pub variables: Variables,

    /// Number and place of threads.
    #[command(flatten, next_help_heading = SPEED)]
    pub parallel: Parallel,

    /// Memory limit.
    #[command(flatten, next_help_heading = SPEED)]
    pub memory: Memory,

    /// Choice of messages.
    #[command(flatten, next_help_heading = SPEED)]
    pub talk: Talk,

    /// Ignored; accepted for compatibility with PajeNG
    #[arg(short, long, help_heading = PAJENG, hide_short_help = true)]
    pub flex: bool,

    /// Option to generate documentation.
    #[command(flatten, next_help_heading = OTHER)]
    pub generate: Generate,

    /// Print this help; --help describes all options
    #[arg(short = '?', long, action = ArgAction::Help, help_heading = OTHER)]
    help: Option<bool>,

    /// Print the version
    #[arg(short, visible_short_alias = 'V', long, aliases = ["v", "ve", "ver"], action = ArgAction::Version, help_heading = OTHER)]
    version: Option<bool>,

    /// Print a short usage message
    #[arg(long, hide = true)]
    pub usage: bool,

    /// Name by which the program was called. Messages begin with this name.
    #[arg(skip = "pj_dump")]
    pub program: &'static str,
}

impl Cli {
    /// Returns whether `-h` is the only argument, which would request help in other programs.
    #[must_use]
    pub fn is_header_alone(&self) -> bool {
        self.header && self.files.is_empty() && std::env::args_os().len() == 2
    }
}

fn digits(text: &str) -> Result<u16, String> {
    let digits = text.parse().ok().filter(|digits| *digits <= 1000);
    digits.ok_or_else(|| "expected a number of digits from 0 to 1000".into())
}

/// Division of tables into files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionBy {
    /// By the time at which a row begins, in this many parts of equal length.
    Time(u32),
    /// By the container of a row.
    Container,
}

impl FromStr for PartitionBy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = match text {
            "container" => return Ok(PartitionBy::Container),
            "time" => Some(16),
            other => other.strip_prefix("time:").and_then(|parts| parts.parse().ok()),
        };
        let parts = parts.filter(|parts| (1..=10_000).contains(parts));
        parts
            .map(PartitionBy::Time)
            .ok_or("expected container, time, or time:N with N from 1 to 10000")
    }
}

/// Formats of table files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Apache Parquet, compressed with zstd
    Parquet,
    /// Arrow's file format (Feather 2), which can be memory-mapped
    Arrow,
    /// Comma-separated values with a header line (RFC 4180) and a column Duration
    Csv,
}

/// Encoding of times and values of variables in Parquet files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimeEncoding {
    /// Byte stream split (BYTE_STREAM_SPLIT), which all readers support
    Split,
    /// Decimal (ALP), half the size, for readers of 2026 and later
    Decimal,
}

#[cfg(test)]
mod tests;
