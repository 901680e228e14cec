//! The command line: PajeNG's options, long and short, and ours.
//!
//! A long option may be cut short as long as no other one begins alike. Where one of ours begins like
//! one of PajeNG's, what stood for PajeNG's alone still does: that is what the aliases are for.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Parser, ValueEnum};
use console::Quotes;
use console::generate::Generate;
use console::options::{LongestLine, Memory, NamedFiles, Parallel, Warnings, time};
use paje_parser::TypeNature;
use paje_sim::{Glob, Selection};

use crate::manual::MANUAL;
use crate::stats::StatsFormat;

/// Headings of the help, in their order.
const WHICH: &str = "Which rows";
const ROWS: &str = "Rows";
const TABLES: &str = "Tables";
const READING: &str = "Reading";
const SPEED: &str = "Speed and memory";
const PAJENG: &str = "PajeNG's";

/// Dumps a Pajé trace as comma-separated rows, byte for byte as PajeNG's pj_dump prints them.
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
    after_help = MANUAL.after_help(),
    after_long_help = MANUAL.after_long_help()
)]
pub struct Cli {
    /// The trace, plain or compressed with gzip, zstd, xz or bzip2; standard input if there is none, or
    /// if it is `-`. Several are one trace: pieces that pj_split wrote, for example
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Only rows that end at START or later (containers always)
    #[arg(short, long, alias = "sta", value_name = "START", value_parser = time, allow_hyphen_values = true, help_heading = WHICH)]
    pub start: Option<f64>,

    /// Only rows that begin at END or earlier (containers always)
    #[arg(short, long, value_name = "END", value_parser = time, allow_hyphen_values = true, help_heading = WHICH)]
    pub end: Option<f64>,

    /// Ignore events later than TIME; what is open ends there
    #[arg(short = 'a', long, value_name = "TIME", value_parser = time, allow_hyphen_values = true, help_heading = WHICH, hide_short_help = true)]
    pub stop_at: Option<f64>,

    /// Understand the field names of older traces (ContainerType, SourceContainer, …)
    #[arg(short, long, help_heading = READING)]
    pub no_strict: bool,

    /// Drop links that lack an end instead of refusing the trace
    #[arg(short = 'z', long, alias = "i", help_heading = READING)]
    pub ignore_incomplete_links: bool,

    /// Do not print rows; what other options ask for is still printed, and warnings are told (see
    /// --no-warnings)
    #[arg(short, long, aliases = ["q", "qu"], help_heading = ROWS)]
    pub quiet: bool,

    /// Accepted for PajeNG's sake; there is one reader only
    #[arg(short, long, help_heading = PAJENG, hide_short_help = true)]
    pub flex: bool,

    /// Dump user-defined fields, as further columns
    #[arg(short, long, help_heading = ROWS)]
    pub user_defined: bool,

    /// Print, instead of rows, the values of this type's lanes in each interval between two times
    #[arg(short, long, aliases = ["p", "pr"], value_name = "TYPENAME", allow_hyphen_values = true, help_heading = ROWS, hide_short_help = true)]
    pub probabilistic: Option<String>,

    /// Digits after the decimal point
    #[arg(short = 'l', long, value_name = "PRECISION", default_value_t = 6, allow_hyphen_values = true, value_parser = digits, help_heading = ROWS)]
    pub float_precision: u16,

    /// No imbrication levels: pushes and pops become changes of one state
    #[arg(short = 'i', long, help_heading = READING, hide_short_help = true)]
    pub no_imbrication: bool,

    /// Print the container hierarchy instead of rows
    #[arg(short, long, help_heading = ROWS, hide_short_help = true)]
    pub container: bool,

    /// Print the type hierarchy in graphviz's language instead of rows
    #[arg(short, long, help_heading = ROWS, hide_short_help = true)]
    pub dot: bool,

    /// Print the seconds that reading and replaying took, on standard output before the rows
    #[arg(short, long, help_heading = ROWS, hide_short_help = true)]
    pub time: bool,

    /// Begin with header lines
    #[arg(short = 'h', long, help_heading = ROWS)]
    pub header: bool,

    /// Write the types and their values to FILE, as CSV
    #[arg(long, value_name = "FILE", allow_hyphen_values = true, help_heading = ROWS, hide_short_help = true)]
    pub type_hierarchy: Option<PathBuf>,

    /// Write the containers and the types of their entities to FILE, as CSV
    #[arg(long, value_name = "FILE", allow_hyphen_values = true, help_heading = ROWS, hide_short_help = true)]
    pub entity_hierarchy: Option<PathBuf>,

    /// Write rows as they complete, every 16 MiB of the trace, and forget them: memory does not grow with
    /// the trace. An invalid trace has written rows by then
    #[arg(short, long, alias = "o", help_heading = ROWS)]
    pub out_of_core: bool,

    /// Write tables to files in the folder DIR, one for each nature of rows and for the two hierarchies,
    /// instead of rows to standard output. They appear when all are complete
    #[arg(short = 'O', long, value_name = "DIR", conflicts_with_all = ["out_of_core", "container", "dot", "probabilistic"], help_heading = TABLES)]
    pub tables: Option<PathBuf>,

    /// Write rows to files instead of to standard output: PREFIX.container.csv, PREFIX.state.csv, and so on,
    /// each below its header line, as PajeNG's pj_dump_csv does
    #[arg(long, value_name = "PREFIX", conflicts_with_all = ["tables", "out_of_core", "container", "dot", "probabilistic"], help_heading = ROWS, hide_short_help = true)]
    pub prefix: Option<OsString>,

    /// What these files are. Columns are as in the header lines; times are in double precision, and so
    /// are values of variables if nothing else is asked for
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Parquet, requires = "tables", help_heading = TABLES, hide_short_help = true)]
    pub format: TableFormat,

    /// Tables have a column of the lines that the rows come from, and one of the files if there are several
    #[arg(long, requires = "tables", conflicts_with = "sort", help_heading = TABLES, hide_short_help = true)]
    pub lines: bool,

    /// How Parquet files hold times and values of variables
    #[arg(long, value_enum, value_name = "HOW", default_value_t = TimeEncoding::Split, requires = "tables", help_heading = TABLES, hide_short_help = true)]
    pub encoding: TimeEncoding,

    /// Only rows of these natures; may be given more than once
    #[arg(long, value_enum, ignore_case = true, value_name = "NATURE,…", value_delimiter = ',', help_heading = WHICH)]
    pub nature: Vec<Nature>,

    /// Only rows of types whose name or alias matches GLOB, such as 'MPI_*'; if given more than once, any
    /// of them. The row of a container is of the container's type
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true, help_heading = WHICH)]
    pub of_type: Vec<Glob>,

    /// Only rows in containers whose name or alias matches GLOB, such as 'rank-1*', and in all that is in
    /// these; if given more than once, any of them. The row of a container is in that container
    #[arg(long = "in", value_name = "GLOB", allow_hyphen_values = true, help_heading = WHICH)]
    pub inside: Vec<Glob>,

    /// Replay events in the order of their times, whatever the order of their lines; the whole text is
    /// kept in memory
    #[arg(long, help_heading = READING)]
    pub sort: bool,

    /// Do not stop at problems: leave out or mend what is wrong, tell that afterwards by kind, and exit
    /// with status 1 if there was anything to tell
    #[arg(long, help_heading = READING)]
    pub recover: bool,

    /// How much memory there is
    #[command(flatten, next_help_heading = SPEED)]
    pub memory: Memory,

    /// Which of the files that a trace names are read
    #[command(flatten, next_help_heading = READING)]
    pub named: NamedFiles,

    /// How long lines may be
    #[command(flatten, next_help_heading = READING)]
    pub longest: LongestLine,

    /// How many threads there are, and where
    #[command(flatten, next_help_heading = SPEED)]
    pub parallel: Parallel,

    /// How names are printed
    #[arg(long, value_enum, default_value_t = Quotes::Auto, help_heading = ROWS, hide_short_help = true)]
    pub quotes: Quotes,

    /// How values of variables are read; PajeNG reads them in single precision, and so are they for rows,
    /// but not for tables
    #[arg(long, value_enum, value_name = "PRECISION", help_heading = READING, hide_short_help = true)]
    pub variable_precision: Option<VariablePrecision>,

    /// Tell on standard error, after the rows, how much was read and written, how long that took by
    /// phase and by thread, and the memory used; as text if no FORMAT is given
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        help_heading = SPEED
    )]
    pub stats: Option<StatsFormat>,

    /// Tell on standard error what the trace is read from, and how many threads run where
    #[arg(long, help_heading = SPEED, hide_short_help = true)]
    pub verbose: bool,

    /// Do not show progress; it is shown only if standard error is a terminal, and after a second
    #[arg(long, help_heading = SPEED, hide_short_help = true)]
    pub no_progress: bool,

    /// What is told
    #[command(flatten, next_help_heading = READING)]
    pub warnings: Warnings,

    /// What to generate instead
    #[command(flatten)]
    pub generate: Generate,

    /// Print this help
    #[arg(short = '?', long, action = ArgAction::Help)]
    help: Option<bool>,

    /// The program that was called, which its messages begin with.
    #[arg(skip = "pj_dump")]
    pub program: &'static str,

    /// Print a short usage message
    #[arg(long, hide = true)]
    pub usage: bool,

    /// Print the version
    #[arg(short, long, aliases = ["v", "ve", "ver"], action = ArgAction::Version)]
    version: Option<bool>,
}

impl Cli {
    /// Whether `-h` is all that was said: elsewhere it asks for help.
    #[must_use]
    pub fn is_header_alone(&self) -> bool {
        self.header && self.files.is_empty() && std::env::args_os().len() == 2
    }

    /// The rows that are wanted.
    #[must_use]
    pub fn selection(&self) -> Selection {
        let mut selection = Selection::default();
        if !self.nature.is_empty() {
            selection.natures = self.nature.iter().map(|nature| nature.of_types()).collect();
        }
        selection.types.clone_from(&self.of_type);
        selection.containers.clone_from(&self.inside);
        selection.window.from = self.start.unwrap_or(f64::NEG_INFINITY);
        selection.window.to = self.end.unwrap_or(f64::INFINITY);
        selection
    }
}

/// The natures of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)] // The natures are the format's own.
pub enum Nature {
    #[value(alias = "containers")]
    Container,
    #[value(alias = "states")]
    State,
    #[value(alias = "variables")]
    Variable,
    #[value(alias = "events")]
    Event,
    #[value(alias = "links")]
    Link,
}

impl Nature {
    const fn of_types(self) -> TypeNature {
        match self {
            Nature::Container => TypeNature::Container,
            Nature::State => TypeNature::State,
            Nature::Variable => TypeNature::Variable,
            Nature::Event => TypeNature::Event,
            Nature::Link => TypeNature::Link,
        }
    }
}

/// How values of variables are read.
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

/// What the files of tables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Apache Parquet, compressed with zstd
    Parquet,
    /// Arrow's file format (Feather 2), which can be mapped
    Arrow,
    /// Comma-separated values with a line of names (RFC 4180), with a column Duration
    Csv,
}

/// How Parquet files hold times and values of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimeEncoding {
    /// Byte by byte (BYTE_STREAM_SPLIT), for all readers
    Split,
    /// As decimals (ALP), in half the room, for readers of 2026 and later
    Decimal,
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use clap::CommandFactory;
    use clap::error::ErrorKind;
    use workers::Pin;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn as_getopt_reads_them() {
        let cli = Cli::parse_from(["pj_dump", "-zl", "9", "t.paje", "-nu", "--ignore-inc", "-z"]);
        assert!(cli.ignore_incomplete_links && cli.no_strict && cli.user_defined);
        assert_eq!(cli.float_precision, 9);
        assert_eq!(cli.files, [PathBuf::from("t.paje")]);
        let cli =
            Cli::parse_from(["pj_dump", "-l3", "-s", "-1.5", "--end=2", "--float", "4", "-h"]);
        assert_eq!((cli.float_precision, cli.start, cli.end), (4, Some(-1.5), Some(2.0)));
        assert!(cli.header);
        assert!(Cli::try_parse_from(["pj_dump", "--e", "t"]).is_err());
        assert!(Cli::try_parse_from(["pj_dump", "-s", "soon"]).is_err());
    }

    /// The long options of PajeNG 1.3.6, each with a value if it takes one.
    const PAJENG: [(&str, Option<&str>); 21] = [
        ("start", Some("1")),
        ("end", Some("1")),
        ("stop-at", Some("1")),
        ("no-strict", None),
        ("ignore-incomplete-links", None),
        ("quiet", None),
        ("flex", None),
        ("user-defined", None),
        ("probabilistic", Some("1")),
        ("float-precision", Some("1")),
        ("no-imbrication", None),
        ("container", None),
        ("dot", None),
        ("time", None),
        ("header", None),
        ("type-hierarchy", Some("1")),
        ("entity-hierarchy", Some("1")),
        ("out-of-core", None),
        ("help", None),
        ("usage", None),
        ("version", None),
    ];

    /// What a command line asks for, told in full, or the kind of the error: help is one.
    fn read(option: &str, value: Option<&str>) -> Result<String, ErrorKind> {
        let words = ["pj_dump", option].into_iter().chain(value);
        let cli = Cli::try_parse_from(words).map_err(|error| error.kind())?;
        Ok(format!("{cli:?}"))
    }

    /// `--p` too: PajeNG refuses it, but only for the `--program-name` that every program of its
    /// library has.
    #[test]
    fn what_stood_for_an_option_of_pajeng_still_does() {
        let (mut short, nothing) = (0, format!("{:?}", Cli::parse_from(["pj_dump"])));
        for (name, value) in PAJENG {
            let whole = read(&format!("--{name}"), value);
            assert_ne!(whole.as_ref(), Ok(&nothing), "{name}");
            for length in 1..name.len() {
                let prefix = &name[..length];
                if PAJENG.iter().filter(|(other, _)| other.starts_with(prefix)).count() == 1 {
                    assert_eq!(read(&format!("--{prefix}"), value), whole, "--{prefix}");
                    short += 1;
                }
            }
        }
        assert!(short > 100, "{short}");
    }

    #[test]
    fn ours_can_be_cut_short_where_none_of_pajengs_begins_alike() {
        let words =
            ["pj_dump", "--of", "S", "--nat", "link", "--so", "--no-p", "--th", "3", "--pi"];
        let cli = Cli::parse_from(words.into_iter().chain(["compact"]));
        assert_eq!((cli.of_type.len(), cli.nature.as_slice()), (1, &[Nature::Link][..]));
        assert_eq!((cli.parallel.threads, cli.parallel.pin), (NonZeroUsize::new(3), Pin::Compact));
        assert!(cli.sort && cli.no_progress);
        for (name, value) in
            [("t", None), ("st", None), ("s", None), ("no", None), ("e", Some("1"))]
        {
            assert!(read(&format!("--{name}"), value).is_err(), "--{name}");
        }
    }

    #[test]
    fn what_is_wanted() {
        let selection = |words: &[&str]| {
            let cli = Cli::try_parse_from([&["pj_dump"], words].concat());
            cli.map(|cli| cli.selection()).map_err(|error| error.kind())
        };
        assert_eq!(selection(&["t"]), Ok(Selection::default()));
        let found = selection(&[
            "--nature",
            "state,link",
            "--in",
            "p*",
            "--of-type",
            "-x",
            "--nature=event",
            "--in=q",
            "-s1",
            "t",
        ]);
        let mut wanted = Selection::default();
        wanted.natures =
            [TypeNature::State, TypeNature::Link, TypeNature::Event].into_iter().collect();
        wanted.types = vec!["-x".parse().expect("a pattern")];
        wanted.containers = ["p*", "q"].map(|glob| glob.parse().expect("a pattern")).to_vec();
        wanted.window.from = 1.0;
        assert_eq!(found, Ok(wanted));
        // PajeNG's option of nearly the same name has no value: the file is `p*`.
        let cli = Cli::parse_from(["pj_dump", "--container", "p*"]);
        assert!(cli.container && cli.files == [PathBuf::from("p*")]);
        // As rows say them, and as tables are called.
        let one = selection(&["--nature", "state,link"]);
        assert!(one.is_ok());
        for same in ["State,Link", "states,links", "STATES,LINK"] {
            assert_eq!(selection(&["--nature", same]), one, "{same}");
        }
        assert_eq!(selection(&["--nature", "stat"]), Err(ErrorKind::InvalidValue));
        assert_eq!(selection(&["--in", "a[b"]), Err(ErrorKind::ValueValidation));
    }

    #[test]
    fn the_format_of_stats_may_be_left_out() {
        let stats = |words: &[&str]| Cli::parse_from([&["pj_dump"], words].concat());
        assert_eq!(stats(&["t"]).stats, None);
        let cli = stats(&["--stats", "json"]);
        assert_eq!((cli.stats, cli.files), (Some(StatsFormat::Text), vec!["json".into()]));
        assert_eq!(stats(&["--stats=json"]).stats, Some(StatsFormat::Json));
    }
}
