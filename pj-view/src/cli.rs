//! Command line.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{ArgGroup, Parser};
use paje_console::beside::Tasks;
use paje_console::generate::About;
use paje_console::options::{
    Less, Memory, Natures, Parallel, Patterns, Reading, Span, Talk, Units, size, whole,
};
use paje_sim::{Natures as Wanted, Selection};

use crate::manual::MANUAL;
use crate::view::Purpose;

const SELECTION: &str = "Selection";
const OUTPUT: &str = "Output";
const READING: &str = "Reading";

/// Size of traces in bytes up to which user-defined fields and lines are kept by default.
const SMALL: u64 = 64_000_000;

/// Shows a Pajé trace in the browser, or draws it.
///
/// Serves the trace to the browser on this machine and opens it there; Ctrl-C quits. With --html,
/// --svg or --png, writes a file instead.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_view",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    args_override_self = true,
    after_help = MANUAL.after_help(),
    after_long_help = MANUAL.after_long_help(),
    group = ArgGroup::new("drawn").args(["svg", "png"]).multiple(true)
)]
pub struct Cli {
    /// Trace to read, plain or compressed with gzip, zstd, xz or bzip2 [default: standard input]. Two traces are shown
    /// one above the other
    #[arg(value_name = "TRACE", num_args = 0..=2)]
    pub traces: Vec<PathBuf>,

    /// Port of the server [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, value_parser = whole::<u16>(0..=65_535), hide_default_value = true, help_heading = OUTPUT)]
    pub port: u16,

    /// Print the address, but do not open the browser
    #[arg(long, help_heading = OUTPUT)]
    pub no_open: bool,

    /// Address of the server instead of 127.0.0.1, to let other machines connect
    #[arg(long, value_name = "ADDRESS", value_parser = address, help_heading = OUTPUT)]
    pub bind: Option<IpAddr>,

    /// Write the page and the trace to one self-contained file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["svg", "png", "port", "bind", "no_open"], help_heading = OUTPUT)]
    pub html: Option<PathBuf>,

    /// Maximum size of the HTML file; the finest levels of detail are omitted to fit
    #[arg(long, value_name = "SIZE", default_value = "20M", value_parser = size::<u64>(1 << 20..=u64::MAX, "a size of at least 1M"), requires = "html", help_heading = OUTPUT)]
    pub max_size: u64,

    /// Write an SVG drawing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "bind", "no_open"], help_heading = OUTPUT)]
    pub svg: Option<PathBuf>,

    /// Write the drawing as PNG
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "bind", "no_open"], help_heading = OUTPUT)]
    pub png: Option<PathBuf>,

    /// Width of the drawing in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1200, value_parser = whole::<u32>(200..=20_000), requires = "drawn", help_heading = OUTPUT)]
    pub width: u32,

    /// Height of the drawing in pixels [default: depends on the lanes]
    #[arg(long, value_name = "PIXELS", value_parser = whole::<u32>(100..=50_000), requires = "drawn", help_heading = OUTPUT)]
    pub height: Option<u32>,

    /// Show where processes wait for one another
    #[arg(long, help_heading = OUTPUT)]
    pub waits: bool,

    /// Show the critical path
    #[arg(long, help_heading = OUTPUT)]
    pub critical_path: bool,

    /// Time window that is shown first.
    #[command(flatten, next_help_heading = SELECTION)]
    pub span: Span,

    /// Natures of rows.
    #[command(flatten, next_help_heading = SELECTION)]
    pub natures: Natures,

    /// Patterns of types and containers.
    #[command(flatten, next_help_heading = SELECTION)]
    pub patterns: Patterns,

    /// Unit of the trace's times.
    #[command(flatten, next_help_heading = READING)]
    pub units: Units,

    /// Options for reading the trace.
    #[command(flatten, next_help_heading = READING)]
    pub reading: Reading,

    /// StarPU's description of tasks.
    #[command(flatten, next_help_heading = READING)]
    pub tasks: Tasks,

    /// Time up to which the trace is replayed.
    #[command(flatten, next_help_heading = READING)]
    pub less: Less,

    /// Keep user-defined fields and line numbers to show them [default: for traces up to 64 MB]
    #[arg(long, overrides_with = "no_fields", help_heading = READING)]
    pub fields: bool,

    /// Drop user-defined fields and line numbers, to save memory and time
    #[arg(long, overrides_with = "fields", help_heading = READING)]
    pub no_fields: bool,

    /// Memory limit.
    #[command(flatten, next_help_heading = READING)]
    pub memory: Memory,

    /// Number of threads and the cores they run on.
    #[command(flatten, next_help_heading = READING)]
    pub parallel: Parallel,

    /// Progress and warnings.
    #[command(flatten, next_help_heading = READING)]
    pub talk: Talk,

    /// Help, version, completions and man page.
    #[command(flatten, next_help_heading = "Help")]
    pub about: About,
}

impl Cli {
    /// Returns the selection of rows. It covers all times, since users can move the page's window.
    #[must_use]
    pub fn selection(&self) -> Selection {
        let mut selection = Selection::default();
        self.natures.narrow(&mut selection);
        self.patterns.narrow(&mut selection);
        selection
    }

    /// Returns the selection of rows that are read. Waits and the critical path need all rows.
    #[must_use]
    pub fn read_selection(&self) -> Selection {
        if self.reads_whole() { Selection::default() } else { self.selection() }
    }

    /// Returns whether all rows are read.
    #[must_use]
    pub fn reads_whole(&self) -> bool {
        let Selection { natures, types, containers, .. } = self.selection();
        let is_all = natures == Wanted::ALL && types.is_empty() && containers.is_empty();
        is_all || self.waits || self.critical_path
    }

    /// Returns whether user-defined fields and lines of a trace of this size are kept. They double
    /// the time and the memory, which is too much for traces of gigabytes. Drawings need them only
    /// for waits and the critical path.
    #[must_use]
    pub fn keeps_fields(&self, size: Option<u64>) -> bool {
        let is_drawn = matches!(self.purpose(), Purpose::Drawing { .. }) && self.html.is_none();
        let is_used = !is_drawn || self.waits || self.critical_path;
        let is_small = size.is_none_or(|size| size <= SMALL);
        is_used && !self.no_fields && (self.fields || is_small)
    }

    /// Returns the purpose of the view.
    #[must_use]
    pub fn purpose(&self) -> Purpose {
        if self.svg.is_some() || self.png.is_some() {
            return Purpose::Drawing { width: self.width };
        }
        if self.html.is_some() { Purpose::Page } else { Purpose::SoonPage }
    }

    /// Returns whether a file is written instead of serving the page.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.html.is_some() || self.svg.is_some() || self.png.is_some()
    }
}

fn address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| "expected an IP address such as 0.0.0.0".into())
}
