//! The command line: options of `pj_dump` where they mean something, and what hazards need.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use paje_console::Quotes;
use paje_console::generate::About;
use paje_console::options::{Memory, Parallel, Reading, Warnings, time};
use paje_parser::TypeNature;
use paje_sim::{Glob, Options, Selection, TimeRange};
use splitter::Limits;

use crate::manual::MANUAL;
use crate::memory;

/// Headings of the help. They come in the order of their first options.
const WHAT: &str = "What is looked for";
const OUTPUT: &str = "Output";
const WHICH: &str = "Which messages";
const READING: &str = "Reading";
const SPEED: &str = "Speed and memory";
const OTHER: &str = "Other";

/// Tells what could have gone differently in a run that passes messages: races, orders that were not tried, deadlocks,
/// barriers that nobody needs.
///
/// Exit status 0: nothing found; 1: something found, or the trace is invalid; 2: no answer.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_hazards",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    args_override_self = true,
    override_usage = "pj_hazards races|orders|deadlock|barriers [OPTIONS] [FILE]...",
    after_help = MANUAL.after_short_help(),
    after_long_help = MANUAL.after_long_help()
)]
pub struct Cli {
    /// What is looked for: races, orders, deadlock or barriers; and the trace, maybe compressed
    ///
    /// gzip, zstd, xz and bzip2 are recognised. Standard input if there is no file, or if it is `-`. Several
    /// files are one trace
    #[arg(value_name = "WHAT|FILE")]
    pub words: Vec<OsString>,

    /// Only receives whose state or value matches GLOB take any message
    ///
    /// If not given, every receive might: traces do not say which do
    #[arg(long, value_name = "GLOB", help_heading = WHAT)]
    pub wildcard: Option<Glob>,

    /// What tells messages between the same containers apart: value, type, or a user-defined field
    ///
    /// If not given, they keep their order
    #[arg(long, value_name = "value|type|FIELD", help_heading = WHAT)]
    pub channel: Option<String>,

    /// orders: messages whose receiving state or value matches GLOB only read; others write
    #[arg(long, value_name = "GLOB", help_heading = WHAT)]
    pub reads: Option<Glob>,

    /// orders: the user-defined field of a link that says how it accesses each variable: rw-
    ///
    /// A letter for each variable: r reads it, w writes it, anything else ignores it
    #[arg(long, value_name = "FIELD", help_heading = WHAT)]
    pub access: Option<String>,

    /// orders: what a state sends depends on what that state received, and on nothing else done before
    ///
    /// For programs whose operations are triggered by messages: Charm++, actors, flow graphs. Of at most 2000 messages
    #[arg(long, help_heading = WHAT)]
    pub message_driven: bool,

    /// orders --count: only the type is known of the container that a message to come will go to
    ///
    /// As if each message were routed when it is sent; then less can be left out of the graph of all messages
    #[arg(long, requires = "count", help_heading = WHAT)]
    pub routed: bool,

    /// deadlock: the states that block; may be given more than once
    ///
    /// If not given, those about other containers, but for names such as Isend and Bsend
    #[arg(long, value_name = "STATES", help_heading = WHAT)]
    pub blocking: Vec<Glob>,

    /// deadlock: the user-defined field of a state that says whom it waits for, by name or rank
    ///
    /// If not given, whoever the last message in a state of the same value came from
    #[arg(long, value_name = "FIELD", help_heading = WHAT)]
    pub peer_field: Option<String>,

    /// orders: count them, before and after each reduction
    #[arg(long, conflicts_with_all = ["late", "pairs"], help_heading = WHAT)]
    pub count: bool,

    /// orders: only those in which one message comes as late as possible
    #[arg(long, conflicts_with = "pairs", help_heading = WHAT)]
    pub late: bool,

    /// orders: only those in which one message comes right after another
    #[arg(long, help_heading = WHAT)]
    pub pairs: bool,

    /// Containers in one of TYPE are a group; if not given, those with the same parent
    ///
    /// Operations such as barriers are of the members of a group
    #[arg(long, value_name = "TYPE", help_heading = WHAT)]
    pub group: Option<String>,

    /// races, orders, barriers: the container that broadcasts start from and reductions end in
    ///
    /// If not given, it is assumed, for each value and group, to be the one that leaves least to explain
    #[arg(long, value_name = "NAME", help_heading = WHAT)]
    pub root: Option<String>,

    /// What states are about, as FILE says, or one of the maps mpi and starpu
    ///
    /// If not given, that of the two which knows more of the trace's states
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    pub map: Option<PathBuf>,

    /// List at most N findings; all are counted. 1000 if not given
    ///
    /// With --count: look at no more than N sets of messages in a group; 1000000 if not given
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    pub limit: Option<usize>,

    /// How findings are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, help_heading = OUTPUT)]
    pub format: Format,

    /// Write to FILE, which appears when it is complete
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,

    /// Write a graph of the first findings to FILE, for Graphviz
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub dot: Option<PathBuf>,

    /// How names are written as CSV
    #[arg(long, value_enum, default_value_t = Quotes::Auto, help_heading = OUTPUT, hide_short_help = true)]
    pub quotes: Quotes,

    /// From START on: what is received or entered before is not looked at
    #[arg(short, long, value_name = "START", value_parser = time, allow_hyphen_values = true, help_heading = WHICH)]
    pub start: Option<f64>,

    /// Until END: what is received or entered later is not looked at
    #[arg(short, long, value_name = "END", value_parser = time, allow_hyphen_values = true, help_heading = WHICH)]
    pub end: Option<f64>,

    /// Only what containers such as 'rank-1*' receive
    ///
    /// Only messages into containers whose name or alias matches GLOB, and into all that is in these; if given more
    /// than once, any of them
    #[arg(long = "in", value_name = "GLOB", allow_hyphen_values = true, help_heading = WHICH)]
    pub inside: Vec<Glob>,

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

    /// Do not show progress; it is shown only if standard error is a terminal, and after a second
    #[arg(long, help_heading = OTHER, hide_short_help = true)]
    pub no_progress: bool,

    /// What is told
    #[command(flatten, next_help_heading = OTHER)]
    pub warnings: Warnings,

    /// About the program
    #[command(flatten, next_help_heading = OTHER)]
    pub about: About,
}

/// Format of the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// Comma-separated, below a header line
    Csv,
    /// A list of objects
    Json,
}

/// Kind of hazard that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Hazard {
    Races,
    Orders,
    Deadlock,
    Barriers,
}

impl Cli {
    /// Kind of hazard that is looked for, if the first word says it.
    #[must_use]
    pub fn hazard(&self) -> Option<Hazard> {
        Hazard::from_str(self.words.first()?.to_str()?, false).ok()
    }

    /// The files that the trace is in.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        self.words.iter().skip(1).map(PathBuf::from).collect()
    }

    /// An option that is of no use for what is looked for, and what it is for.
    #[must_use]
    pub fn out_of_place(&self) -> Option<(&'static str, &'static str)> {
        use Hazard::{Barriers, Deadlock, Orders, Races};
        let receives: (&[Hazard], _) = (&[Races, Orders, Barriers], "races, orders and barriers");
        let rows: (&[Hazard], _) = (&[Races, Orders], "races and orders");
        let orders: (&[Hazard], _) = (&[Orders], "orders");
        let deadlock: (&[Hazard], _) = (&[Deadlock], "deadlock");
        let all = [
            (self.wildcard.is_some(), "--wildcard", receives),
            (self.channel.is_some(), "--channel", rows),
            (self.start.is_some(), "--start", receives),
            (self.end.is_some(), "--end", receives),
            (!self.inside.is_empty(), "--in", rows),
            (self.root.is_some(), "--root", receives),
            (self.reads.is_some(), "--reads", orders),
            (self.access.is_some(), "--access", orders),
            (self.message_driven, "--message-driven", orders),
            (self.count, "--count", orders),
            (self.late, "--late", orders),
            (self.pairs, "--pairs", orders),
            (!self.blocking.is_empty(), "--blocking", deadlock),
            (self.peer_field.is_some(), "--peer-field", deadlock),
        ];
        let hazard = self.hazard()?;
        let wrong = |(given, _, (hazards, _)): &(bool, _, (&[Hazard], _))| {
            *given && !hazards.contains(&hazard)
        };
        all.into_iter().find(wrong).map(|(_, option, (_, whose))| (option, whose))
    }

    /// Options of the replay.
    #[must_use]
    pub fn options(&self, limits: Limits) -> Options {
        let mut options = self.reading.options(limits);
        options.value_names = self.quotes.value_names();
        // A run that stopped has messages on their way.
        options.ignore_incomplete_links |= self.hazard() == Some(Hazard::Deadlock);
        let field = self.channel.as_deref().is_some_and(|name| !matches!(name, "value" | "type"));
        options.user_defined = field || self.access.is_some() || self.peer_field.is_some();
        options.keep_lines = true;
        options.lines_of = [TypeNature::Link].into_iter().collect();
        options.memory = self.memory.limit().map(memory::rows);
        options.selection.natures = [TypeNature::State, TypeNature::Link].into_iter().collect();
        options
    }

    /// Which receives are looked at.
    #[must_use]
    pub fn selection(&self) -> Selection {
        let mut selection = Selection::default();
        selection.containers = self.inside.clone();
        selection.window = TimeRange {
            from: self.start.unwrap_or(f64::NEG_INFINITY),
            to: self.end.unwrap_or(f64::INFINITY),
        };
        selection
    }
}
