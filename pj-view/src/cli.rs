//! The command line.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{ArgAction, Parser, ValueEnum};
use console::generate::Generate;
use console::options::{LongestLine, Memory, NamedFiles, Parallel, Warnings, time};
use paje_parser::TypeNature;
use paje_sim::{Glob, Selection, TimeRange};

use crate::manual::MANUAL;

const WHICH: &str = "What is shown";
const OUTPUT: &str = "Where it is shown";
const READING: &str = "Reading the trace";

/// The user-defined fields and lines of traces up to this size are kept unasked, in bytes.
const SMALL: u64 = 64_000_000;

/// Shows a Pajé trace in the browser.
///
/// The trace is replayed, and a page is served to this machine's browser, which is opened; Ctrl-C ends it. With
/// --html or --svg, a file is written instead.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_view",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    args_override_self = true,
    max_term_width = 100,
    after_help = MANUAL.after_help(),
    after_long_help = MANUAL.after_long_help()
)]
pub struct Cli {
    /// The trace, plain or compressed with gzip, zstd, xz or bzip2; standard input if there is none, or if it is
    /// `-`
    #[arg(value_name = "TRACE")]
    pub trace: Option<PathBuf>,

    /// The port that the page is served at; a free one if not given
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true, help_heading = OUTPUT)]
    pub port: u16,

    /// Print the address, and do not open the browser
    #[arg(long, help_heading = OUTPUT)]
    pub no_open: bool,

    /// The address that the page is served at instead of 127.0.0.1: other machines may then ask for it
    #[arg(long, value_name = "ADDRESS", help_heading = OUTPUT)]
    pub bind: Option<IpAddr>,

    /// Write the page with the trace to one file, which needs nothing else, and serve nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["svg", "port", "bind", "no_open"], help_heading = OUTPUT)]
    pub html: Option<PathBuf>,

    /// How large that file may be: finer levels are left out until it fits
    #[arg(long, value_name = "SIZE", default_value = "20M", value_parser = size, requires = "html", help_heading = OUTPUT)]
    pub max_size: u64,

    /// Write a drawing to FILE, and serve nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "bind", "no_open"], help_heading = OUTPUT)]
    pub svg: Option<PathBuf>,

    /// How wide the drawing is, in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1200, value_parser = clap::value_parser!(u32).range(200..=20_000), requires = "svg", help_heading = OUTPUT)]
    pub width: u32,

    /// How high the drawing is, in pixels; as high as its lanes need if not given
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(100..=50_000), requires = "svg", help_heading = OUTPUT)]
    pub height: Option<u32>,

    /// Where the picture begins, in seconds
    #[arg(short, long, value_name = "START", value_parser = time, allow_hyphen_values = true, help_heading = WHICH)]
    pub start: Option<f64>,

    /// Where the picture ends
    #[arg(short, long, value_name = "END", value_parser = time, allow_hyphen_values = true, help_heading = WHICH)]
    pub end: Option<f64>,

    /// Only state, variable, event or link; several stand between commas
    #[arg(long, value_enum, ignore_case = true, value_name = "LIST", value_delimiter = ',', hide_possible_values = true, help_heading = WHICH)]
    pub nature: Vec<Nature>,

    /// Only types whose name or alias matches GLOB, such as 'MPI_*'; may be given more than once
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true, help_heading = WHICH)]
    pub of_type: Vec<Glob>,

    /// Only what is in containers whose name or alias matches GLOB, such as 'rank-1*'; may be given more than once
    #[arg(long = "in", value_name = "GLOB", allow_hyphen_values = true, help_heading = WHICH)]
    pub inside: Vec<Glob>,

    /// Ignore events later than TIME; what is open ends there
    #[arg(short = 'a', long, value_name = "TIME", value_parser = time, allow_hyphen_values = true, help_heading = READING)]
    pub stop_at: Option<f64>,

    /// Understand the field names of older traces (ContainerType, SourceContainer, …)
    #[arg(short, long, help_heading = READING)]
    pub no_strict: bool,

    /// Drop links that lack an end instead of refusing the trace
    #[arg(short = 'z', long, help_heading = READING)]
    pub ignore_incomplete_links: bool,

    /// No imbrication levels: pushes and pops become changes of one state
    #[arg(short = 'i', long, help_heading = READING)]
    pub no_imbrication: bool,

    /// Replay events in the order of their times, whatever the order of their lines
    #[arg(long, help_heading = READING)]
    pub sort: bool,

    /// Leave out or mend what is wrong, tell it, and show the rest
    #[arg(long, help_heading = READING)]
    pub recover: bool,

    /// Keep user-defined fields and lines for the page to show, however large the trace is; without this, they are
    /// kept of traces up to 64 MB
    #[arg(long, overrides_with = "no_fields", help_heading = READING)]
    pub fields: bool,

    /// Keep neither user-defined fields nor lines: less memory and time
    #[arg(long, overrides_with = "fields", help_heading = READING)]
    pub no_fields: bool,

    /// How much memory there is
    #[command(flatten, next_help_heading = READING)]
    pub memory: Memory,

    /// Which of the files that a trace names are read
    #[command(flatten, next_help_heading = READING)]
    pub named: NamedFiles,

    /// How long lines may be
    #[command(flatten, next_help_heading = READING)]
    pub longest: LongestLine,

    /// How many threads there are, and where
    #[command(flatten, next_help_heading = READING)]
    pub parallel: Parallel,

    /// Do not show progress; it is shown only if standard error is a terminal, and after a second
    #[arg(long, help_heading = READING)]
    pub no_progress: bool,

    /// What is told
    #[command(flatten, next_help_heading = READING)]
    pub warnings: Warnings,

    /// What to generate instead
    #[command(flatten, next_help_heading = "Help")]
    pub generate: Generate,

    /// Print this help
    #[arg(short = '?', long, action = ArgAction::Help, help_heading = "Help")]
    help: Option<bool>,

    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version, help_heading = "Help")]
    version: Option<bool>,
}

/// The nature of what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)] // The natures are the format's own.
pub enum Nature {
    State,
    Variable,
    Event,
    Link,
}

impl From<Nature> for TypeNature {
    fn from(nature: Nature) -> Self {
        match nature {
            Nature::State => TypeNature::State,
            Nature::Variable => TypeNature::Variable,
            Nature::Event => TypeNature::Event,
            Nature::Link => TypeNature::Link,
        }
    }
}

impl Cli {
    /// Which rows are wanted, whenever they are: a page can be moved.
    #[must_use]
    pub fn selection(&self) -> Selection {
        let mut selection = Selection::default();
        if !self.nature.is_empty() {
            selection.natures =
                self.nature.iter().map(|nature| TypeNature::from(*nature)).collect();
        }
        selection.types.clone_from(&self.of_type);
        selection.containers.clone_from(&self.inside);
        selection
    }

    /// Whether user-defined fields and lines are kept of a trace of so many bytes. They take as much time and
    /// memory as all else, which nobody should wait for who has gigabytes.
    #[must_use]
    pub fn keeps_fields(&self, size: Option<u64>) -> bool {
        let page = self.html.is_none() && self.svg.is_none();
        page && !self.no_fields && (self.fields || size.is_none_or(|size| size <= SMALL))
    }

    /// The window of time that is shown at first.
    #[must_use]
    pub fn window(&self) -> TimeRange {
        TimeRange {
            from: self.start.unwrap_or(f64::NEG_INFINITY),
            to: self.end.unwrap_or(f64::INFINITY),
        }
    }
}

fn size(text: &str) -> Result<u64, String> {
    let size = splitter::parse_size(text)?;
    if size >= 1 << 20 { Ok(size) } else { Err("expected at least 1M".into()) }
}
