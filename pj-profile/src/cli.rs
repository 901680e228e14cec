//! The command line, with the options of `pj_dump` that apply and the options of reports.

mod misplaced;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Parser, ValueEnum};
use paje_analysis::recorded;
use paje_analysis::{By, Label, named};
use paje_console::Quotes;
use paje_console::beside::Tasks;
use paje_console::generate::About;
use paje_console::options::{
    Coloured, Format, Formatted, Memory, Parallel, Patterns, Reading, Span, Talk, Units, size,
    whole,
};
use paje_parser::TypeNature;
use paje_sim::{Options, Selection, Trace, nearest};
use splitter::Limits;

use crate::manual::MANUAL;
use crate::pictures::Kind;

const WHAT: &str = "Report";
const WAITING: &str = "Waits and critical path";
const OUTPUT: &str = "Output";
const WHICH: &str = "Which rows";
const READING: &str = "Reading";
const SPEED: &str = "Speed and memory";
const OTHER: &str = "Other";

/// Summarises a Pajé trace: time per state, communication, waiting, critical path.
///
/// The reports states, comm, time, variables and events need little memory for any trace.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_profile",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    override_usage = "pj_profile [REPORT] [OPTIONS] [FILE]...\n       pj_profile compare [OPTIONS] FILE FILE",
    mut_arg("format", |arg| {
        arg.value_parser(Format::among(&[Format::Text, Format::Csv, Format::Json, Format::Parquet]))
    }),
    after_help = MANUAL.after_short_help(),
    after_long_help = MANUAL.after_long_help()
)]
#[allow(missing_docs)]
pub struct Cli {
    /// Report: why, states (default), comm, time, variables, events, waits, critical, tasks, summary,
    /// compare or scaling; then the trace, plain or compressed
    ///
    /// gzip, zstd, xz and bzip2 are recognised. Default: standard input, also for `-`. Several
    /// files are one trace except in compare and scaling. A file named like a report needs a path: ./states
    #[arg(value_name = "REPORT|FILE")]
    pub words: Vec<OsString>,

    /// Group rows by value, container, kind of container, or containers of TYPE with everything inside
    ///
    /// The names of containers of a kind begin with the same letters, such as CPU0 and CPU1. comm: TYPE,
    /// such as a node; waits: kind (default), value, waiter, pair or path; critical: container or value
    /// (default: both); tasks: kind (default), worker, kernel or task
    #[arg(long, value_name = "value|container|kind|TYPE", help_heading = WHAT)]
    pub by: Option<String>,

    /// User-defined field with the bytes of a link (default: Size, size, Bytes or MessageSize)
    #[arg(long, value_name = "FIELD", help_heading = WHAT)]
    pub bytes: Option<String>,

    /// time, variables: number of bins of equal length (default for time: 60)
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1_000_000), help_heading = WHAT)]
    pub bins: Option<u32>,

    /// time: include nested states in the time of a state
    #[arg(long, help_heading = WHAT)]
    pub inclusive: bool,

    /// time: show classes, such as compute, send or barrier, instead of values
    #[arg(long, help_heading = WHAT)]
    pub classes: bool,

    /// Classes of state values: mpi, starpu, or a TOML file
    ///
    /// Default: of mpi and starpu, the map that knows more values of the trace
    #[arg(long, value_name = "FILE", help_heading = WAITING)]
    pub map: Option<PathBuf>,

    /// Containers below the same container of TYPE form a group (default: all, if they agree)
    ///
    /// The members of a group take part in collectives such as barriers
    #[arg(long, value_name = "TYPE", help_heading = WAITING)]
    pub group: Option<String>,

    /// Root of collectives such as broadcasts and reductions
    ///
    /// Default: for each value and group, the container that explains the recorded times best
    #[arg(long, value_name = "NAME", help_heading = WAITING)]
    pub root: Option<String>,

    /// Rendezvous threshold of the recorded run in bytes (0: every message)
    #[arg(long, value_name = "BYTES", value_parser = size::<u64>(0..=u64::MAX, "a size such as 64KiB"), help_heading = WAITING)]
    pub eager: Option<u64>,

    #[command(flatten, next_help_heading = WAITING)]
    pub tasks: Tasks,

    /// Show only the N largest rows
    ///
    /// Largest by exclusive time (states), bytes or count (comm), count (events), integral
    /// (variables), seconds (time, waits, critical), delay or seconds (tasks) or change (compare)
    #[arg(long, value_name = "N", value_parser = whole::<usize>(0..=u64::MAX), help_heading = WHAT)]
    pub top: Option<usize>,

    /// Report every second while the trace is read
    ///
    /// Open states count up to the latest time. Ctrl-C prints the last report; the status is 130
    #[arg(long, help_heading = WHAT)]
    pub live: bool,

    #[command(flatten, next_help_heading = OUTPUT)]
    pub formatted: Formatted,

    #[command(flatten, next_help_heading = OUTPUT)]
    pub coloured: Coloured,

    /// Write to FILE, which appears when it is complete
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,

    /// Write a graph of the report to FILE, for Graphviz
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub graph: Option<PathBuf>,

    /// Write the report and its pictures to FILE as a self-contained web page
    ///
    /// With summary, the page has profile, balance, communication, timelines, waiting and critical
    /// path; with compare, both runs on one time axis. These two keep all rows in memory
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub html: Option<PathBuf>,

    /// Write the report's picture to FILE as SVG
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub svg: Option<PathBuf>,

    /// Kind of the picture
    ///
    /// bars (states, variables, events, waits, critical, tasks, compare), strips (time, variables
    /// --bins), curves (scaling), quadrant (time), matrix (comm, time, waits --by pair), graph (comm, waits --by
    /// pair), density (comm, states --by container, waits --by waiter). Default: the first of these
    #[arg(long, value_enum, value_name = "KIND", help_heading = OUTPUT, hide_short_help = true, hide_possible_values = true)]
    pub(crate) picture: Option<Kind>,

    /// Value shown by the pictures matrix (time) and density (states)
    ///
    /// Default: the value with the most time
    #[arg(long, value_name = "VALUE", help_heading = OUTPUT, hide_short_help = true)]
    pub value: Option<String>,

    /// Rows and columns of a density map, such as 8x8
    #[arg(long, value_name = "RxC", help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) grid: Option<Places>,

    /// Quotes around names
    #[arg(long, value_enum, default_value_t = Quotes::Auto, help_heading = OUTPUT, hide_short_help = true)]
    pub quotes: Quotes,

    #[command(flatten, next_help_heading = WHICH)]
    pub span: Span,

    #[command(flatten, next_help_heading = WHICH)]
    pub patterns: Patterns,

    #[command(flatten, next_help_heading = READING)]
    pub units: Units,

    #[command(flatten, next_help_heading = READING)]
    pub reading: Reading,

    #[command(flatten, next_help_heading = SPEED)]
    pub parallel: Parallel,

    #[command(flatten, next_help_heading = SPEED)]
    pub memory: Memory,

    #[command(flatten, next_help_heading = OTHER)]
    pub talk: Talk,

    #[command(flatten, next_help_heading = OTHER)]
    pub about: About,
}

/// Grid of a density map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// Number of rows.
    pub(crate) rows: usize,
    /// Number of columns.
    pub(crate) columns: usize,
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
            .ok_or("expected rows and columns such as 8x8, each up to 4096")
    }
}

/// A report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Report {
    States,
    Comm,
    Time,
    Variables,
    Events,
    Waits,
    Critical,
    Tasks,
    Summary,
    Compare,
    Why,
    Scaling,
}

impl Report {
    /// Returns the name of the report.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }

    const fn groups_by_type(self) -> bool {
        matches!(self, Report::States | Report::Comm | Report::Time | Report::Compare)
    }

    /// Returns the nature of the rows that the report uses, if all of them have the same nature.
    const fn nature(self) -> Option<TypeNature> {
        match self {
            Report::States | Report::Time | Report::Compare => Some(TypeNature::State),
            Report::Comm => Some(TypeNature::Link),
            Report::Variables => Some(TypeNature::Variable),
            Report::Events => Some(TypeNature::Event),
            Report::Waits
            | Report::Critical
            | Report::Tasks
            | Report::Summary
            | Report::Why
            | Report::Scaling => None,
        }
    }
}

impl Cli {
    /// Returns the requested report.
    pub(crate) fn report(&self) -> Report {
        self.named_report().unwrap_or(Report::States)
    }

    fn named_report(&self) -> Option<Report> {
        Report::from_str(self.words.first()?.to_str()?, false).ok()
    }

    /// Returns a message if the first word is neither a report nor a file.
    pub(crate) fn misspelt(&self) -> Option<String> {
        let word = self.words.first()?.to_str()?;
        let is_name = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_wrong = is_name && self.named_report().is_none() && !Path::new(word).exists();
        let names: Vec<String> = Report::value_variants().iter().map(|it| it.name()).collect();
        let hint = nearest(word.as_bytes(), names.iter().map(String::as_bytes));
        is_wrong.then(|| format!("'{word}' is neither a report nor a file; {hint}"))
    }

    /// Returns the files of the trace, or the traces to compare.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let behind = usize::from(self.named_report().is_some());
        self.words.iter().skip(behind).map(PathBuf::from).collect()
    }

    /// Returns the file that describes the trace's tasks, if there is one.
    pub(crate) fn tasks_file(&self) -> Option<PathBuf> {
        self.tasks.file(self.files().first().map(PathBuf::as_path), &self.reading.named)
    }

    /// Returns the grouping of rows. By default, `time` is grouped by container.
    pub(crate) fn by(&self) -> By {
        match self.by.as_deref() {
            None if self.report() == Report::Time => By::Container,
            None | Some("value") => By::Value,
            Some("container") => By::Container,
            Some("kind") if self.report() != Report::Comm => By::Kind,
            Some(name) => By::Type(Label::from(name)),
        }
    }

    /// Checks that the types and fields in options exist.
    pub(crate) fn check_names(&self, trace: &Trace) -> Result<(), String> {
        let is_type = matches!(self.by(), By::Type(_)) && self.report().groups_by_type();
        if let Some(by) = self.by.as_deref().filter(|_| is_type) {
            named::container_type(trace, "--by", by)?;
        }
        match &self.bytes {
            Some(field) => named::field(trace, "--bytes", field),
            None => Ok(()),
        }
    }

    /// Returns whether time is grouped by class.
    pub(crate) fn by_class(&self) -> bool {
        self.classes || (self.report() == Report::Time && self.picture == Some(Kind::Quadrant))
    }

    /// Returns whether the report is a page that needs all rows.
    pub(crate) fn is_whole_page(&self) -> bool {
        self.html.is_some() && matches!(self.report(), Report::Summary | Report::Compare)
    }

    /// Returns whether two traces are also compared in words, which needs all rows.
    pub(crate) fn compares_in_words(&self) -> bool {
        let is_by_value = self.by.as_deref().is_none_or(|by| by == "value");
        self.report() == Report::Compare && self.formatted.format == Format::Text && is_by_value
    }

    /// Returns the options of the replay.
    #[must_use]
    pub fn options(&self, limits: Limits) -> Options {
        let mut options = self.reading.options(limits);
        options.value_names = self.quotes.value_names();
        let report = self.report();
        options.user_defined = match report {
            Report::Comm
            | Report::Summary
            | Report::Waits
            | Report::Critical
            | Report::Why
            | Report::Scaling => true,
            // The fields have the job ids of tasks.
            Report::Tasks => self.tasks_file().is_some(),
            _ => false,
        };
        // Sizes matter only with a rendezvous threshold. The built-in maps have none.
        let needs_sizes = self.eager.is_some() || self.map.is_some();
        let is_waiting = matches!(report, Report::Waits | Report::Critical);
        if is_waiting && !needs_sizes && self.tasks_file().is_none() {
            options.needed_fields = recorded::FIELDS;
        }
        options.time_unit = self.units.time_unit;
        options.memory = self.memory.limit();
        options.selection = self.selection();
        options
    }

    /// Returns the selection of rows.
    pub(crate) fn selection(&self) -> Selection {
        let mut selection = Selection::default();
        selection.natures = match self.report().nature() {
            Some(nature) => [nature].into_iter().collect(),
            None => selection.natures,
        };
        if self.compares_in_words() {
            selection.natures = [TypeNature::State, TypeNature::Link].into_iter().collect();
        }
        self.patterns.narrow(&mut selection);
        selection.window = self.span.window();
        selection
    }
}
