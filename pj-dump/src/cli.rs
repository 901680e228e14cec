//! The command line: PajeNG's options, long and short, and ours.
//!
//! A long option may be cut short as long as no other one begins alike. Where one of ours begins like
//! one of PajeNG's, what stood for PajeNG's alone still does: that is what the aliases are for.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Parser, ValueEnum};
use paje_console::Quotes;
use paje_console::generate::Generate;
use paje_console::options::{Less, Memory, Parallel, Reading, Talk, Which};

use crate::manual::MANUAL;
use crate::stats::StatsFormat;

/// Headings of the help. They come in the order of their first options.
const ROWS: &str = "Rows";
const WHICH: &str = "Which rows";
const TABLES: &str = "Tables";
const READING: &str = "Reading";
const SPEED: &str = "Speed and memory";
const PAJENG: &str = "PajeNG's";
const OTHER: &str = "Other";

// The first paragraph of each option is what `-?` has, on one screen.

/// Dumps a Pajé trace as comma-separated rows, byte for byte as PajeNG does.
///
/// Rows go to standard output once the whole trace has been found valid (but see -o); everything else
/// goes to standard error.
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
    /// gzip, zstd, xz and bzip2 are recognised. Standard input if there is none, or if it is `-`. Several
    /// may be pieces that pj_split wrote, for example
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Begin with header lines
    #[arg(short = 'h', long, help_heading = ROWS)]
    pub header: bool,

    /// Digits after the point
    #[arg(short = 'l', long, value_name = "N", default_value_t = 6, allow_hyphen_values = true, value_parser = digits, help_heading = ROWS)]
    pub float_precision: u16,

    /// User-defined fields, as further columns
    #[arg(short, long, help_heading = ROWS)]
    pub user_defined: bool,

    /// No rows, but what else is asked for
    ///
    /// What other options ask for is still printed, and warnings are told (see --no-warnings)
    #[arg(short, long, aliases = ["q", "qu"], help_heading = ROWS)]
    pub quiet: bool,

    /// Rows as they complete, in little memory
    ///
    /// Rows are written every 16 MiB of the trace, and forgotten: memory does not grow with the trace. An
    /// invalid trace has written rows by then
    #[arg(short, long, alias = "o", help_heading = ROWS)]
    pub out_of_core: bool,

    /// Print the container hierarchy instead of rows
    #[arg(short, long, help_heading = ROWS, hide_short_help = true)]
    pub container: bool,

    /// Print the type hierarchy in graphviz's language instead of rows
    #[arg(short, long, help_heading = ROWS, hide_short_help = true)]
    pub dot: bool,

    /// Print, instead of rows, the values of this type's lanes in each interval between two times
    #[arg(short, long, aliases = ["p", "pr"], value_name = "TYPENAME", allow_hyphen_values = true, help_heading = ROWS, hide_short_help = true)]
    pub probabilistic: Option<String>,

    /// Print the seconds that reading and replaying took, on standard output before the rows
    #[arg(short, long, help_heading = ROWS, hide_short_help = true)]
    pub time: bool,

    /// Write the types and their values to FILE, as CSV
    #[arg(long, value_name = "FILE", allow_hyphen_values = true, help_heading = ROWS, hide_short_help = true)]
    pub type_hierarchy: Option<PathBuf>,

    /// Write the containers and the types of their entities to FILE, as CSV
    #[arg(long, value_name = "FILE", allow_hyphen_values = true, help_heading = ROWS, hide_short_help = true)]
    pub entity_hierarchy: Option<PathBuf>,

    /// Write rows to files instead of to standard output: PREFIX.container.csv, PREFIX.state.csv, and so on,
    /// each below its header line, as PajeNG's pj_dump_csv does
    #[arg(long, value_name = "PREFIX", conflicts_with_all = ["tables", "out_of_core", "container", "dot", "probabilistic"], help_heading = ROWS, hide_short_help = true)]
    pub prefix: Option<OsString>,

    /// How names are printed
    #[arg(long, value_enum, default_value_t = Quotes::Auto, help_heading = ROWS, hide_short_help = true)]
    pub quotes: Quotes,

    /// Which rows are wanted
    #[command(flatten, next_help_heading = WHICH)]
    pub which: Which,

    /// Write tables to files in the folder DIR instead
    ///
    /// There is one for each nature of rows and for the two hierarchies. They appear when all are complete
    #[arg(short = 'O', long, value_name = "DIR", conflicts_with_all = ["out_of_core", "container", "dot", "probabilistic"], help_heading = TABLES)]
    pub tables: Option<PathBuf>,

    /// What these files are. Columns are as in the header lines; times are in double precision, and so
    /// are values of variables if nothing else is asked for
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Parquet, requires = "tables", help_heading = TABLES, hide_short_help = true)]
    pub format: TableFormat,

    /// How Parquet files hold times and values of variables
    #[arg(long, value_enum, value_name = "HOW", default_value_t = TimeEncoding::Split, requires = "tables", help_heading = TABLES, hide_short_help = true)]
    pub encoding: TimeEncoding,

    /// Tables have a column of the lines that the rows come from, and one of the files if there are several
    #[arg(long, requires = "tables", conflicts_with = "sort", help_heading = TABLES, hide_short_help = true)]
    pub lines: bool,

    /// How the trace is read
    #[command(flatten, next_help_heading = READING)]
    pub reading: Reading,

    /// How much of it is replayed
    #[command(flatten, next_help_heading = READING)]
    pub less: Less,

    /// How values of variables are read; PajeNG reads them in single precision, and so are they for rows,
    /// but not for tables
    #[arg(long, value_enum, value_name = "PRECISION", help_heading = READING, hide_short_help = true)]
    pub variable_precision: Option<VariablePrecision>,

    /// How many threads there are, and where
    #[command(flatten, next_help_heading = SPEED)]
    pub parallel: Parallel,

    /// How much memory there is
    #[command(flatten, next_help_heading = SPEED)]
    pub memory: Memory,

    /// Tell how much there was and how long it took
    ///
    /// On standard error, after the rows: how much was read and written, how long that took by phase and by
    /// thread, and the memory used; as text if no FORMAT is given
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        hide_possible_values = true,
        help_heading = SPEED
    )]
    pub stats: Option<StatsFormat>,

    /// What is told beside it
    #[command(flatten, next_help_heading = SPEED)]
    pub talk: Talk,

    /// Tell on standard error what the trace is read from, and how many threads run where
    #[arg(long, help_heading = SPEED, hide_short_help = true)]
    pub verbose: bool,

    /// Accepted for PajeNG's sake; there is one reader only
    #[arg(short, long, help_heading = PAJENG, hide_short_help = true)]
    pub flex: bool,

    /// What to generate instead
    #[command(flatten, next_help_heading = OTHER)]
    pub generate: Generate,

    /// Print this help; --help tells more, of all options
    #[arg(short = '?', long, action = ArgAction::Help, help_heading = OTHER)]
    help: Option<bool>,

    /// Print the version
    #[arg(short, visible_short_alias = 'V', long, aliases = ["v", "ve", "ver"], action = ArgAction::Version, help_heading = OTHER)]
    version: Option<bool>,

    /// Print a short usage message
    #[arg(long, hide = true)]
    pub usage: bool,

    /// The program that was called, which its messages begin with.
    #[arg(skip = "pj_dump")]
    pub program: &'static str,
}

impl Cli {
    /// Whether `-h` is all that was said: elsewhere it asks for help.
    #[must_use]
    pub fn is_header_alone(&self) -> bool {
        self.header && self.files.is_empty() && std::env::args_os().len() == 2
    }
}

/// Precision in which values of variables are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VariablePrecision {
    /// As PajeNG does: 16777217 becomes 16777216
    Single,
    /// Correctly rounded to double
    Double,
}

fn digits(text: &str) -> Result<u16, String> {
    let digits = text.parse().ok().filter(|digits| *digits <= 1000);
    digits.ok_or_else(|| "expected a number of digits from 0 to 1000".into())
}

/// Format of the files of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Apache Parquet, compressed with zstd
    Parquet,
    /// Arrow's file format (Feather 2), which can be mapped
    Arrow,
    /// Comma-separated values with a line of names (RFC 4180), with a column Duration
    Csv,
}

/// Encoding of times and values of variables in Parquet files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimeEncoding {
    /// Byte by byte (BYTE_STREAM_SPLIT), for all readers
    Split,
    /// As decimals (ALP), in half the room, for readers of 2026 and later
    Decimal,
}

#[cfg(test)]
mod tests;
