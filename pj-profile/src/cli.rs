//! The command line: options of `pj_dump` where they mean something, and what reports need.

mod misplaced;

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::Resettable;
use clap::{Parser, ValueEnum};
use paje_analysis::{By, Label};
use paje_console::Quotes;
use paje_console::generate::About;
use paje_console::options::{Memory, Parallel, Patterns, Reading, Span, Talk};
use paje_parser::TypeNature;
use paje_sim::{Options, Selection};
use splitter::Limits;

use crate::manual::MANUAL;
use crate::pictures::Kind;

/// Headings of the help. They come in the order of their first options.
const WHAT: &str = "What is reported";
const OUTPUT: &str = "Output";
const WHICH: &str = "Which rows";
const READING: &str = "Reading";
const SPEED: &str = "Speed and memory";
const OTHER: &str = "Other";

/// The help of options that cut rows here, and do not only choose them.
const START: &str = "From START on: rows that begin before are cut there";
const END: &str = "Until END: rows that end later are cut there";

/// Tells what a Pajé trace says: where the time goes, who sends to whom, what happens when.
///
/// States, comm, time, variables and events are added up while the trace is read, in little memory.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_profile",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    args_override_self = true,
    override_usage = "pj_profile [REPORT] [OPTIONS] [FILE]...\n       pj_profile compare [OPTIONS] FILE FILE",
    mut_arg("start", |arg| arg.help(START).long_help(Resettable::Reset)),
    mut_arg("end", |arg| arg.help(END).long_help(Resettable::Reset)),
    after_help = MANUAL.after_short_help(),
    after_long_help = MANUAL.after_long_help()
)]
pub struct Cli {
    /// The report: states (if none is named), comm, time, variables, events, waits, critical, summary, or
    /// compare; and the trace, maybe compressed
    ///
    /// gzip, zstd, xz and bzip2 are recognised. Standard input if there is no file, or if it is `-`. Several
    /// files are one trace, but for compare. A file that is called like a report is ./states, for example
    #[arg(value_name = "REPORT|FILE")]
    pub words: Vec<OsString>,

    /// What has rows of its own: value, container, or each container of the type TYPE with all in it
    ///
    /// waits: kind (if not given), waiter, or pair; critical: container (if not given), or value
    #[arg(long, value_name = "value|container|TYPE", help_heading = WHAT)]
    pub by: Option<String>,

    /// comm: add up what is in containers of TYPE, such as a node
    #[arg(long, value_name = "TYPE", help_heading = WHAT)]
    pub level: Option<String>,

    /// comm, waits: the user-defined field that says how many bytes a link stands for
    ///
    /// The first of Size, size, Bytes and MessageSize that a link has, if not given
    #[arg(long, value_name = "FIELD", help_heading = WHAT)]
    pub bytes: Option<String>,

    /// time, variables: into how many equal parts the time is divided; 60 for time if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = WHAT)]
    pub bins: Option<u32>,

    /// time: states with all that is in them, and not only the innermost ones
    #[arg(long, help_heading = WHAT)]
    pub inclusive: bool,

    /// time: by class, such as compute, send or barrier, instead of by value
    #[arg(long, help_heading = WHAT)]
    pub classes: bool,

    /// waits, critical, --classes: what states are about, as FILE says, or one of the maps mpi and starpu
    ///
    /// If not given, that of the two which knows more of the trace's states
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    pub map: Option<PathBuf>,

    /// waits, critical: containers in one of TYPE are a group; if not given, those with the same parent
    #[arg(long, value_name = "TYPE", help_heading = WHAT)]
    pub group: Option<String>,

    /// waits, critical: the container that broadcasts start from and reductions end in
    ///
    /// If not given, it is assumed, for each value and group, to be the one that leaves least to explain
    #[arg(long, value_name = "NAME", help_heading = WHAT)]
    pub root: Option<String>,

    /// waits, critical: the sender of so many bytes or more waits for the receiver; 0: any sender
    #[arg(long, value_name = "BYTES", help_heading = WHAT)]
    pub eager: Option<u64>,

    /// Only the N largest rows
    ///
    /// By exclusive time (states), bytes or count (comm), count (events), integral (variables), seconds (time,
    /// waits, critical) or change (compare)
    #[arg(long, value_name = "N", help_heading = WHAT)]
    pub top: Option<usize>,

    /// Report every second while the trace is read
    ///
    /// What is open counts up to the latest time. Ctrl-C prints the last report and ends with status 130
    #[arg(long, help_heading = WHAT)]
    pub live: bool,

    /// How the report is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table, help_heading = OUTPUT)]
    pub format: Format,

    /// Write to FILE, which appears when it is complete
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,

    /// comm: write who sends to whom to FILE, for Graphviz; waits: whom each waits for most
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub dot: Option<PathBuf>,

    /// Write the report with its pictures to FILE, a page for the browser that loads nothing
    ///
    /// summary: what time is spent on, how evenly, the traffic, when, who waits for whom, and the critical path;
    /// compare: both runs on one axis of time. For these two, rows are kept until all is read
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub html: Option<PathBuf>,

    /// Write the report's picture to FILE
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub svg: Option<PathBuf>,

    /// Which picture
    ///
    /// bars (states, variables, events, waits, critical, compare), strips and quadrant (time), strips (variables
    /// --bins), matrix (comm, time, waits --by pair), graph (comm, waits --by pair), density (comm, states --by
    /// container, waits --by waiter). If not given, the first of these that the report has
    #[arg(long, value_enum, value_name = "KIND", help_heading = OUTPUT, hide_short_help = true, hide_possible_values = true)]
    pub picture: Option<Kind>,

    /// The value of which matrix (time) and density (states) show how much there is
    ///
    /// If not given, the one that took most
    #[arg(long, value_name = "VALUE", help_heading = OUTPUT, hide_short_help = true)]
    pub value: Option<String>,

    /// Into how many rows and columns a density map has its containers, such as 8x8
    #[arg(long, value_name = "RxC", help_heading = OUTPUT, hide_short_help = true)]
    pub grid: Option<Places>,

    /// How names are written as CSV
    #[arg(long, value_enum, default_value_t = Quotes::Auto, help_heading = OUTPUT, hide_short_help = true)]
    pub quotes: Quotes,

    /// When it is looked at
    #[command(flatten, next_help_heading = WHICH)]
    pub span: Span,

    /// Of which types, and where
    #[command(flatten, next_help_heading = WHICH)]
    pub patterns: Patterns,

    /// How the trace is read
    #[command(flatten, next_help_heading = READING)]
    pub reading: Reading,

    /// How many threads there are, and where
    #[command(flatten, next_help_heading = SPEED)]
    pub parallel: Parallel,

    /// How much memory there is
    #[command(flatten, next_help_heading = SPEED)]
    pub memory: Memory,

    /// Tell on standard error what was read, how long it took, and the memory taken
    #[arg(long, help_heading = OTHER)]
    pub stats: bool,

    /// What is told beside it
    #[command(flatten, next_help_heading = OTHER)]
    pub talk: Talk,

    /// About the program
    #[command(flatten, next_help_heading = OTHER)]
    pub about: About,
}

/// The places of a density map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Number of lines.
    pub rows: usize,
    /// Number of containers in each.
    pub columns: usize,
}

impl FromStr for Places {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let places = |(rows, columns): (&str, &str)| {
            let number = |text: &str| text.parse().ok().filter(|n| (1..=4096).contains(n));
            Some(Places { rows: number(rows)?, columns: number(columns)? })
        };
        text.split_once('x')
            .and_then(places)
            .ok_or("rows and columns are given as 8x8, each up to 4096")
    }
}

/// Format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Table,
    /// Comma-separated, below a header line
    Csv,
    /// A list of objects
    Json,
    /// An Apache Parquet file
    Parquet,
}

/// A report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Report {
    States,
    Comm,
    Time,
    Variables,
    Events,
    Waits,
    Critical,
    Summary,
    Compare,
}

impl Report {
    /// Returns the name of the report.
    #[must_use]
    pub fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }

    /// Returns the nature of the rows that it is made from, if there is only one.
    const fn nature(self) -> Option<TypeNature> {
        match self {
            Report::States | Report::Time | Report::Compare => Some(TypeNature::State),
            Report::Comm => Some(TypeNature::Link),
            Report::Variables => Some(TypeNature::Variable),
            Report::Events => Some(TypeNature::Event),
            // States and links.
            Report::Waits | Report::Critical | Report::Summary => None,
        }
    }
}

impl Cli {
    /// The report that is asked for.
    #[must_use]
    pub fn report(&self) -> Report {
        self.named_report().unwrap_or(Report::States)
    }

    fn named_report(&self) -> Option<Report> {
        Report::from_str(self.words.first()?.to_str()?, false).ok()
    }

    /// The files that the trace is in, or the traces that are compared.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let behind = usize::from(self.named_report().is_some());
        self.words.iter().skip(behind).map(PathBuf::from).collect()
    }

    /// Grouping of the rows. That is by container where a report is about containers.
    #[must_use]
    pub fn by(&self) -> By {
        match self.by.as_deref() {
            None if self.report() == Report::Time => By::Container,
            None | Some("value") => By::Value,
            Some("container") => By::Container,
            Some(name) => By::Type(Label::from(name)),
        }
    }

    /// Whether time is told by class.
    #[must_use]
    pub fn by_class(&self) -> bool {
        self.classes || (self.report() == Report::Time && self.picture == Some(Kind::Quadrant))
    }

    /// Whether the report is a page that is made from all rows.
    #[must_use]
    pub fn is_whole_page(&self) -> bool {
        self.html.is_some() && matches!(self.report(), Report::Summary | Report::Compare)
    }

    /// Options of the replay.
    #[must_use]
    pub fn options(&self, limits: Limits) -> Options {
        let mut options = self.reading.options(limits);
        options.value_names = self.quotes.value_names();
        options.user_defined = match self.report() {
            Report::Comm | Report::Summary => true,
            // Sizes tell which senders wait, if anything says from which on. The maps that are built in do not.
            Report::Waits | Report::Critical => self.eager.is_some() || self.map.is_some(),
            _ => false,
        };
        options.memory = self.memory.limit();
        options.selection = self.selection();
        options
    }

    /// Which rows are looked at.
    #[must_use]
    pub fn selection(&self) -> Selection {
        let mut selection = Selection::default();
        selection.natures = match self.report().nature() {
            Some(nature) => [nature].into_iter().collect(),
            None => selection.natures,
        };
        self.patterns.narrow(&mut selection);
        selection.window = self.span.window();
        selection
    }
}
