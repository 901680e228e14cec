//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use paje_console::generate::About;
use paje_console::options::{Accepted, LongestLine, Memory, NamedFiles, Parallel, Warnings};
use paje_sim::{Glob, Options, Precision};
use paje_whatif::hypothesis::{Hypothesis, Random};
use paje_whatif::{EagerStart, Shape};
use splitter::Limits;

use crate::manual::MANUAL;
use crate::many::Sweep;

/// Precision of values of variables that are read and written: as `pj_dump` reads them.
pub(crate) const PRECISION: Precision = Precision::Single;

/// The heading of what is different.
const WHAT_IF: &str = "What is different";
/// The heading of how the run is understood.
const MODEL: &str = "How the run is understood";
/// The heading of the output.
const OUTPUT: &str = "Output";
/// The heading of how the trace is read.
const READING: &str = "How the trace is read";
/// Part of the memory that the rows may take: one of so many.
const ROWS: u64 = 8;

/// The heading of threads and memory.
const SPEED: &str = "Threads and memory";
/// The heading of the rest.
const OTHER: &str = "Other";

/// Tells how long a run would have taken if something had been different.
///
/// The trace of the run is re-timed: what is computed takes its changed time, messages go through the changed network,
/// and how long everybody waits follows from that. Several hypotheses hold together.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_whatif",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    max_term_width = 100,
    after_help = MANUAL.after_short_help(),
    after_long_help = MANUAL.after_long_help()
)]
pub struct Cli {
    /// The trace, plain or compressed with gzip, zstd, xz or bzip2; standard input if there is none, or if it is `-`
    #[arg(value_name = "TRACE")]
    pub file: Option<PathBuf>,

    /// Nothing: the run as it was
    #[arg(long, help_heading = WHAT_IF)]
    pub identity: bool,

    /// State NAME takes FACTOR of its own time: state=NAME[,container=GLOB],factor=F[,min-gap=SECONDS]
    ///
    /// Own is what is not spent in states inside. Parts of it that are not longer than min-gap stay as they are
    #[arg(long, value_name = "WHICH", help_heading = WHAT_IF)]
    pub scale: Vec<String>,

    /// State NAME takes equally long: state=NAME[,container=GLOB],mode=MODE
    ///
    /// global-instance: the k-th one in all containers; process-local: those of a container; global: all;
    /// scaled: all containers spend as much in sum, and each state keeps its share
    #[arg(long, value_name = "WHICH", help_heading = WHAT_IF)]
    pub balance: Vec<String>,

    /// State NAME vanishes with all that is in it, its messages and operations: state=NAME[,container=GLOB]
    #[arg(long, value_name = "WHICH", help_heading = WHAT_IF)]
    pub cut: Vec<String>,

    /// Messages vanish: 'size == 0', 'tag > 5 && from == rank-0'; size, tag, value, from, to
    #[arg(long, value_name = "CONDITION", help_heading = WHAT_IF)]
    pub cut_messages: Vec<String>,

    /// Another network: one or more of latency=SECONDS|xF,bandwidth=BYTES|xF,eager=BYTES,sharing=maxmin|none
    ///
    /// A message takes its latency, and its bytes at the bandwidth that it gets: messages share the links of the containers
    /// that they leave and enter. x10 is ten times as much as in the recorded run, which is estimated
    #[arg(long, value_name = "HOW", help_heading = WHAT_IF)]
    pub net: Vec<String>,

    /// Containers compute faster or slower, and take so long between states: [container=GLOB,]factor=F
    #[arg(long, value_name = "WHICH", help_heading = WHAT_IF)]
    pub cpu: Vec<String>,

    /// Draw how long computing takes: lognormal|normal, and maybe cv=0.1,seed=1,runs=100
    ///
    /// Each state that computes takes a random multiple of its time, 1 in the mean; tells the makespan of so many runs
    #[arg(long, value_name = "HOW", help_heading = WHAT_IF)]
    pub random: Option<Random>,

    /// Hypotheses in a file, in the language of SILAS
    #[arg(long, value_name = "FILE", help_heading = WHAT_IF)]
    pub hypothesis: Vec<PathBuf>,

    /// One run for each of N values: KEY=FROM..TO/N, of a key that hypotheses lack, such as factor=0.1..1.0/10
    #[arg(long, value_name = "RANGE", conflicts_with_all = ["output", "html", "random"], help_heading = WHAT_IF)]
    pub sweep: Option<Sweep>,

    /// What states are about, as FILE says, or one of the maps mpi and starpu
    ///
    /// If not given, that of the two which knows more of the trace's states
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub map: Option<PathBuf>,

    /// How long messages take in the recorded run: a table in TOML
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub net_table: Option<PathBuf>,

    /// When the transfer of an eager message starts: when it is sent, or when the receiver is ready, too
    ///
    /// If not given, as the messages tell
    #[arg(long, value_name = "posted|sent", value_parser = eager_start, help_heading = MODEL)]
    pub eager_start: Option<EagerStart>,

    /// From how many bytes on a message is a rendezvous in the recorded run; 0: all are
    #[arg(long, value_name = "BYTES", help_heading = MODEL)]
    pub eager: Option<u64>,

    /// Who waits for whom in the operation NAME: NAME=nxn|reduce+bcast|1xn|binomial|nx1|held|relay|reduce+relay|scan|local
    ///
    /// If not given, what explains the recorded times best. Operations that have links need no shape
    #[arg(long, value_name = "SHAPE", value_parser = shape, help_heading = MODEL)]
    pub coll: Vec<(Glob, Shape)>,

    /// Whom members of a broadcast wait for: the root, or the one above in a binomial tree
    #[arg(long, value_name = "root|binomial", value_parser = broadcast, help_heading = MODEL)]
    pub bcast: Option<Shape>,

    /// Containers in one of TYPE are a group; if not given, those with the same parent
    #[arg(long, value_name = "TYPE", help_heading = MODEL)]
    pub group: Option<String>,

    /// The container that broadcasts start from and reductions end in
    #[arg(long, value_name = "NAME", help_heading = MODEL)]
    pub root: Option<String>,

    /// The user-defined field that says how many bytes a link stands for
    ///
    /// The first of Size, size, Bytes and MessageSize that a link has, if not given
    #[arg(long, value_name = "FIELD", help_heading = MODEL)]
    pub bytes: Option<String>,

    /// Write the trace of the changed run to FILE, which appears when it is complete; `-` is standard output
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,

    /// Write the report to FILE, and not to standard output
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub report: Option<PathBuf>,

    /// Write the report to FILE, too, as a page for the browser that loads nothing: both runs above one another
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub html: Option<PathBuf>,

    /// How the report is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, help_heading = OUTPUT)]
    pub format: Format,

    /// What is accepted of the trace
    #[command(flatten, next_help_heading = READING)]
    pub accepted: Accepted,

    /// Which of the files that a trace names are read
    #[command(flatten, next_help_heading = READING)]
    pub named: NamedFiles,

    /// How long lines may be
    #[command(flatten, next_help_heading = READING)]
    pub longest: LongestLine,

    /// How many threads there are, and where
    #[command(flatten, next_help_heading = SPEED)]
    pub parallel: Parallel,

    /// How much memory there is
    #[command(flatten, next_help_heading = SPEED)]
    pub memory: Memory,

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

/// Format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// One object
    Json,
    /// Comma-separated: what, name, before, after
    Csv,
}

fn eager_start(text: &str) -> Result<EagerStart, String> {
    let all = [EagerStart::Posted, EagerStart::Sent];
    let found = all.into_iter().find(|start| start.name() == text);
    found.ok_or_else(|| "expected posted or sent".into())
}

fn broadcast(text: &str) -> Result<Shape, String> {
    match text {
        "root" => Ok(Shape::OneToN),
        "binomial" => Ok(Shape::Binomial),
        _ => Err("expected root or binomial".into()),
    }
}

fn shape(text: &str) -> Result<(Glob, Shape), String> {
    let known = Shape::ALL.map(Shape::name).join(", ");
    let (name, shape) =
        text.split_once('=').ok_or_else(|| format!("expected NAME=SHAPE, SHAPE one of {known}"))?;
    let glob = name.parse().map_err(|error| format!("{name}: {error}"))?;
    let found = Shape::ALL.into_iter().find(|it| it.name() == shape);
    Ok((glob, found.ok_or_else(|| format!("`{shape}` is no shape; there are {known}"))?))
}

impl Cli {
    /// Differences from the recorded run, in words of the command line.
    #[must_use]
    pub fn different(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (kind, texts) in self.kinds() {
            words.extend(texts.iter().map(|text| format!("--{kind} {text}")));
        }
        words.extend(self.hypothesis.iter().map(|it| format!("--hypothesis {}", it.display())));
        words.extend(self.random.as_ref().map(|random| format!("--random {random}")));
        words
    }

    fn kinds(&self) -> [(&'static str, &Vec<String>); 6] {
        [
            ("scale", &self.scale),
            ("balance", &self.balance),
            ("cut", &self.cut),
            ("cut-messages", &self.cut_messages),
            ("net", &self.net),
            ("cpu", &self.cpu),
        ]
    }

    /// The hypotheses of the options, in a sweep with this key and value where they lack the key.
    ///
    /// # Errors
    /// One is not right; what would be.
    pub fn hypotheses(&self, sweep: Option<(&str, &str)>) -> Result<Vec<Hypothesis>, String> {
        let mut found = Vec::new();
        let mut is_used = false;
        for (kind, texts) in self.kinds() {
            // One network has all that is said of it.
            let joined = [texts.join(",")];
            let texts = if kind == "net" && !texts.is_empty() { &joined[..] } else { &texts[..] };
            for text in texts {
                let mut text = text.clone();
                if let Some((key, value)) = sweep
                    && Hypothesis::has_word(kind, key)
                    && !text.split(',').any(|word| word.starts_with(&format!("{key}=")))
                {
                    text = format!("{text},{key}={value}");
                    is_used = true;
                }
                let parsed = Hypothesis::parse(kind, &text);
                found.push(parsed.map_err(|error| format!("--{kind} {text}: {error}"))?);
            }
        }
        if let Some((key @ ("latency" | "bandwidth" | "eager"), value)) = sweep
            && self.net.is_empty()
        {
            let text = format!("{key}={value}");
            let parsed = Hypothesis::parse("net", &text);
            found.push(parsed.map_err(|error| format!("--sweep {text}: {error}"))?);
            is_used = true;
        }
        match sweep {
            Some((key, _)) if !is_used => {
                Err(format!("--sweep {key}=…: no hypothesis lacks a `{key}` that it could have"))
            }
            _ => Ok(found),
        }
    }

    /// Options for the replay of the trace.
    #[must_use]
    pub fn options(&self, limits: Limits) -> Options {
        let mut options = Options::default();
        self.accepted.set(&mut options);
        (options.user_defined, options.variable_precision) = (true, PRECISION);
        // The graph takes more than the rows do, and rows are gone through once, or in order.
        options.memory = self.memory.limit();
        if let Some(memory) = &mut options.memory {
            memory.bytes /= ROWS;
        }
        options.limits = limits.with_line(self.longest.max_line);
        options
    }
}
