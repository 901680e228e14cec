//! The command line, with the options of `pj_dump` that apply and the options of hazards.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use paje_analysis::named;
use paje_console::Quotes;
use paje_console::generate::About;
use paje_console::options::{
    Formatted, Memory, Parallel, Patterns, Reading, Span, Talk, Units, whole,
};
use paje_parser::TypeNature;
use paje_sim::{Glob, Options, Selection, Trace};
use splitter::Limits;

use crate::manual::MANUAL;
use crate::memory;

const WHAT: &str = "Hazards";
const OUTPUT: &str = "Output";
const WHICH: &str = "Which messages";
const READING: &str = "Reading";
const SPEED: &str = "Speed and memory";
const OTHER: &str = "Other";

/// Finds message races, untried message orders, deadlocks and removable barriers.
///
/// The exit status is the answer: 0 if nothing was found, 1 if something was found or the trace is
/// invalid, 2 if there is no answer.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_hazards",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    override_usage = "pj_hazards races|orders|deadlock|barriers [OPTIONS] [FILE]...",
    after_help = MANUAL.after_short_help(),
    after_long_help = MANUAL.after_long_help()
)]
#[allow(missing_docs)]
pub struct Cli {
    /// Hazard to find: races, orders, deadlock or barriers; then the trace, plain or compressed
    ///
    /// gzip, zstd, xz and bzip2 are recognised. Default: standard input, also for `-`. Several
    /// files are one trace
    #[arg(value_name = "WHAT|FILE")]
    pub words: Vec<OsString>,

    /// Wildcard receives, by state or value
    ///
    /// Default: every receive, as traces do not record which are; this overestimates hazards
    #[arg(long, value_name = "GLOB", help_heading = WHAT)]
    pub wildcard: Option<Glob>,

    /// Channel of a message: value, type, or a user-defined field
    ///
    /// Only messages of different channels can overtake one another. Default: one channel
    #[arg(long, value_name = "value|type|FIELD", help_heading = WHAT)]
    pub channel: Option<String>,

    /// orders: messages that only read, by receiving state or value; others write
    #[arg(long, value_name = "GLOB", help_heading = WHAT)]
    pub reads: Option<Glob>,

    /// orders: user-defined field with a link's access to variables, such as rw-
    ///
    /// One letter per variable: r reads it, w writes it, anything else ignores it
    #[arg(long, value_name = "FIELD", help_heading = WHAT)]
    pub access: Option<String>,

    /// orders: sends depend only on what their state received
    ///
    /// For message-driven programs (Charm++, actors, flow graphs) with at most 2000 messages
    #[arg(long, help_heading = WHAT)]
    pub message_driven: bool,

    /// orders --count: only the container type of future receivers is known
    ///
    /// Models messages that are routed when sent; less of the graph can be omitted then
    #[arg(long, requires = "count", help_heading = WHAT)]
    pub routed: bool,

    /// deadlock: blocking states; may be given more than once
    ///
    /// Default: all communicating states except those with names such as Isend and Bsend
    #[arg(long, value_name = "STATES", help_heading = WHAT)]
    pub blocking: Vec<Glob>,

    /// deadlock: user-defined field with the container that a state waits for
    ///
    /// By name or rank
    ///
    /// Default: the sender of the last message in a state of the same value
    #[arg(long, value_name = "FIELD", help_heading = WHAT)]
    pub peer_field: Option<String>,

    /// orders: count the orders before and after each reduction
    #[arg(long, conflicts_with_all = ["late", "pairs"], help_heading = WHAT)]
    pub count: bool,

    /// orders: list only orders with one message as late as possible
    #[arg(long, conflicts_with = "pairs", help_heading = WHAT)]
    pub late: bool,

    /// orders: list only orders with two messages in direct succession
    #[arg(long, help_heading = WHAT)]
    pub pairs: bool,

    /// Containers below the same container of TYPE form a group (default: all, if they agree)
    ///
    /// The members of a group take part in collectives such as barriers
    #[arg(long, value_name = "TYPE", help_heading = WHAT)]
    pub group: Option<String>,

    /// Root of collectives such as broadcasts and reductions
    ///
    /// Default: for each value and group, the container that explains the recorded times best
    #[arg(long, value_name = "NAME", help_heading = WHAT)]
    pub root: Option<String>,

    /// Classes of state values: mpi, starpu, or a TOML file
    ///
    /// Default: of mpi and starpu, the map that knows more values of the trace
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    pub map: Option<PathBuf>,

    /// List at most N findings; all are counted (default: 1000)
    ///
    /// With --count: maximum number of sets of messages examined per group (default: 1000000)
    #[arg(long, value_name = "N", value_parser = whole::<usize>(0..=u64::MAX), help_heading = OUTPUT)]
    pub limit: Option<usize>,

    #[command(flatten, next_help_heading = OUTPUT)]
    pub formatted: Formatted,

    /// Write to FILE, which appears when it is complete
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,

    /// Write a graph of the report to FILE, for Graphviz
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub graph: Option<PathBuf>,

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

/// Kind of hazard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Hazard {
    Races,
    Orders,
    Deadlock,
    Barriers,
}

impl Cli {
    /// Returns the kind of hazard, if the first word is one.
    pub(crate) fn hazard(&self) -> Option<Hazard> {
        Hazard::from_str(self.words.first()?.to_str()?, false).ok()
    }

    /// Returns the files of the trace.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.words.iter().skip(1).map(PathBuf::from).collect()
    }

    /// Returns an option that does not apply to the hazard, with the hazards to which it applies.
    pub(crate) fn out_of_place(&self) -> Option<(&'static str, &'static str)> {
        use Hazard::{Barriers, Deadlock, Orders, Races};
        let receives: (&[Hazard], _) = (&[Races, Orders, Barriers], "races, orders and barriers");
        let rows: (&[Hazard], _) = (&[Races, Orders], "races and orders");
        let orders: (&[Hazard], _) = (&[Orders], "orders");
        let deadlock: (&[Hazard], _) = (&[Deadlock], "deadlock");
        let all = [
            (self.wildcard.is_some(), "--wildcard", receives),
            (self.channel.is_some(), "--channel", rows),
            (self.span.start.is_some(), "--start", receives),
            (self.span.end.is_some(), "--end", receives),
            (!self.patterns.inside.is_empty(), "--in", rows),
            (!self.patterns.of_type.is_empty(), "--of-type", rows),
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

    /// Checks that the values and fields in options exist.
    pub(crate) fn check_names(&self, trace: &Trace) -> Result<(), String> {
        let globs = [(&self.wildcard, "--wildcard"), (&self.reads, "--reads")];
        let globs = globs.into_iter().filter_map(|(glob, option)| Some((glob.as_ref()?, option)));
        for (glob, option) in globs.chain(self.blocking.iter().map(|glob| (glob, "--blocking"))) {
            named::value(trace, option, glob)?;
        }
        let channel =
            self.channel.as_ref().filter(|name| !matches!(name.as_str(), "value" | "type"));
        let fields = [
            (channel, "--channel"),
            (self.access.as_ref(), "--access"),
            (self.peer_field.as_ref(), "--peer-field"),
        ];
        let mut fields = fields.into_iter().filter_map(|(field, option)| Some((field?, option)));
        fields.try_for_each(|(field, option)| named::field(trace, option, field))
    }

    /// Returns the options of the replay.
    pub(crate) fn options(&self, limits: Limits) -> Options {
        let mut options = self.reading.options(limits);
        options.value_names = self.quotes.value_names();
        // The trace of a run that hangs has messages in flight.
        options.ignore_incomplete_links |= self.hazard() == Some(Hazard::Deadlock);
        let field = self.channel.as_deref().is_some_and(|name| !matches!(name, "value" | "type"));
        options.user_defined = true;
        if !field && self.access.is_none() && self.peer_field.is_none() {
            options.needed_fields = paje_comm::recorded::FIELDS;
        }
        options.time_unit = self.units.time_unit;
        options.keep_lines = true;
        options.lines_of = [TypeNature::Link].into_iter().collect();
        options.memory = self.memory.limit().map(memory::rows);
        // Events may record communicators and requests.
        options.selection.natures =
            [TypeNature::State, TypeNature::Link, TypeNature::Event].into_iter().collect();
        options
    }

    /// Returns the selection of receives.
    pub(crate) fn selection(&self) -> Selection {
        let mut selection = Selection::default();
        self.patterns.narrow(&mut selection);
        selection.window = self.span.window();
        selection
    }
}
