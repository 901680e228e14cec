//! The command line.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{ArgGroup, Parser};
use paje_console::generate::About;
use paje_console::options::{Less, Memory, Natures, Parallel, Patterns, Reading, Span, Talk};
use paje_sim::Selection;

use crate::manual::MANUAL;
use crate::view::Purpose;

const WHICH: &str = "What is shown";
const OUTPUT: &str = "Where it is shown";
const READING: &str = "Reading the trace";

/// The user-defined fields and lines of traces up to this size are kept unasked, in bytes.
const SMALL: u64 = 64_000_000;

/// Shows a Pajé trace in the browser.
///
/// The trace is replayed, and a page is served to this machine's browser, which is opened; Ctrl-C ends it. With
/// --html, --svg or --png, a file is written instead.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_view",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    args_override_self = true,
    max_term_width = 100,
    mut_arg("start", |arg| arg.help("Where the picture begins, in seconds").long_help(Resettable::Reset)),
    mut_arg("end", |arg| arg.help("Where the picture ends").long_help(Resettable::Reset)),
    after_help = MANUAL.after_help(),
    after_long_help = MANUAL.after_long_help(),
    group = ArgGroup::new("drawn").args(["svg", "png"]).multiple(true)
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
    #[arg(long, value_name = "FILE", conflicts_with_all = ["svg", "png", "port", "bind", "no_open"], help_heading = OUTPUT)]
    pub html: Option<PathBuf>,

    /// How large that file may be: finer levels are left out until it fits
    #[arg(long, value_name = "SIZE", default_value = "20M", value_parser = size, requires = "html", help_heading = OUTPUT)]
    pub max_size: u64,

    /// Write a drawing to FILE, and serve nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "bind", "no_open"], help_heading = OUTPUT)]
    pub svg: Option<PathBuf>,

    /// Write that drawing as pixels to FILE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "bind", "no_open"], help_heading = OUTPUT)]
    pub png: Option<PathBuf>,

    /// How wide the drawing is, in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1200, value_parser = clap::value_parser!(u32).range(200..=20_000), requires = "drawn", help_heading = OUTPUT)]
    pub width: u32,

    /// How high the drawing is, in pixels; as high as its lanes need if not given
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(100..=50_000), requires = "drawn", help_heading = OUTPUT)]
    pub height: Option<u32>,

    /// What the picture shows at first
    #[command(flatten, next_help_heading = WHICH)]
    pub span: Span,

    /// Of which nature rows are
    #[command(flatten, next_help_heading = WHICH)]
    pub natures: Natures,

    /// Of which types, and where
    #[command(flatten, next_help_heading = WHICH)]
    pub patterns: Patterns,

    /// How the trace is read
    #[command(flatten, next_help_heading = READING)]
    pub reading: Reading,

    /// How much of it is replayed
    #[command(flatten, next_help_heading = READING)]
    pub less: Less,

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

    /// How many threads there are, and where
    #[command(flatten, next_help_heading = READING)]
    pub parallel: Parallel,

    /// What is told beside it
    #[command(flatten, next_help_heading = READING)]
    pub talk: Talk,

    /// About the program
    #[command(flatten, next_help_heading = "Help")]
    pub about: About,
}

impl Cli {
    /// Choice of rows, whenever they are: a page can be moved.
    #[must_use]
    pub fn selection(&self) -> Selection {
        let mut selection = Selection::default();
        self.natures.narrow(&mut selection);
        self.patterns.narrow(&mut selection);
        selection
    }

    /// True if user-defined fields and lines are kept of a trace of so many bytes. They take as much time and
    /// memory as all else, which nobody should wait for who has gigabytes.
    #[must_use]
    pub fn keeps_fields(&self, size: Option<u64>) -> bool {
        !self.writes() && !self.no_fields && (self.fields || size.is_none_or(|size| size <= SMALL))
    }

    /// Purpose of what is read: a drawing needs less than a page.
    #[must_use]
    pub fn purpose(&self) -> Purpose {
        match self.svg.is_some() || self.png.is_some() {
            true => Purpose::Drawing { width: self.width },
            false => Purpose::Page,
        }
    }

    /// True if a file is written, and nothing served.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.html.is_some() || self.svg.is_some() || self.png.is_some()
    }
}

fn size(text: &str) -> Result<u64, String> {
    let size = splitter::parse_size(text)?;
    if size >= 1 << 20 { Ok(size) } else { Err("expected at least 1M".into()) }
}
