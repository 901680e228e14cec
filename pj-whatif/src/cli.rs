//! The command line.

use std::path::PathBuf;

use clap::Parser;
use paje_console::beside::Tasks;
use paje_console::generate::About;
use paje_console::options::{Formatted, Memory, Parallel, Reading, Talk, Units, size};
use paje_sim::{Glob, Options, Precision, TypeNature};
use paje_whatif::hypothesis::{Hypothesis, Random};
use paje_whatif::tasks::TaskChange;
use paje_whatif::{EagerStart, Progress, Shape};
use splitter::Limits;

use crate::manual::MANUAL;
use crate::many::Sweep;

/// Precision of variables that are read and written, which is the same as in `pj_dump`.
pub(crate) const PRECISION: Precision = Precision::Single;

const WHAT_IF: &str = "Hypotheses";
const MODEL: &str = "Model";
const OUTPUT: &str = "Output";
const READING: &str = "Reading";
const SPEED: &str = "Threads and memory";
const OTHER: &str = "Other";

/// Rows may use at most the memory limit divided by this number.
const ROWS: u64 = 8;

/// Predicts how long a run would have taken with a different computing speed, load balance or network.
///
/// Re-times the run's trace: computing takes its changed time, messages pass the changed network,
/// and waiting follows from both. Several hypotheses apply together.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_whatif",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    after_help = MANUAL.after_short_help(),
    after_long_help = MANUAL.after_long_help()
)]
#[allow(missing_docs)]
pub struct Cli {
    /// The trace, plain or compressed with gzip, zstd, xz or bzip2 (default: standard input)
    #[arg(value_name = "TRACE")]
    pub file: Option<PathBuf>,

    /// Change nothing
    #[arg(long, help_heading = WHAT_IF)]
    pub identity: bool,

    /// Scale the exclusive time of states: state=NAME[,container=GLOB],factor=F[,min-gap=SECONDS]
    ///
    /// Parts of up to min-gap seconds are not scaled
    #[arg(long, value_name = "WHICH", help_heading = WHAT_IF)]
    pub scale: Vec<String>,

    /// Make states equally long: state=NAME[,container=GLOB],mode=MODE
    ///
    /// Modes: global-instance (the k-th state of all containers), process-local (the states of each
    /// container), global (all states), scaled (sums of containers; states keep their shares)
    #[arg(long, value_name = "WHICH", help_heading = WHAT_IF)]
    pub balance: Vec<String>,

    /// Remove states with everything inside: state=NAME[,container=GLOB]
    ///
    /// Their messages and collectives are removed, too
    #[arg(long, value_name = "WHICH", help_heading = WHAT_IF)]
    pub cut: Vec<String>,

    /// Remove messages, such as 'size == 0' or 'tag > 5 && from == rank-0'
    ///
    /// Properties: size, tag, value, from, to
    #[arg(long, value_name = "CONDITION", help_heading = WHAT_IF)]
    pub cut_messages: Vec<String>,

    /// Change the network: latency=SECONDS|xF,bandwidth=BYTES|xF,eager=BYTES,sharing=maxmin|none
    ///
    /// A message takes its latency and the time of its bytes; messages share the links of their
    /// sender and receiver. xF is relative to the recorded network, which is estimated: latency=x10
    /// is ten times the recorded latency
    #[arg(long, value_name = "HOW", help_heading = WHAT_IF)]
    pub net: Vec<String>,

    /// Scale the time for computing: [container=GLOB,]factor=F
    ///
    /// The time between states counts as computing. A factor of 2 is slower
    #[arg(long, value_name = "WHICH", help_heading = WHAT_IF)]
    pub cpu: Vec<String>,

    /// Add or remove workers of StarPU: KIND=+N, KIND=-N or KIND=N
    ///
    /// Schedules the tasks of the file tasks.rec again, by their dependencies, priorities and times
    #[arg(long, value_name = "KIND=N", value_parser = TaskChange::workers, help_heading = WHAT_IF)]
    pub workers: Vec<TaskChange>,

    /// Simulate noise: lognormal or normal, such as normal,cv=0.1,seed=1,runs=100
    ///
    /// Multiplies the time of every computing state by a random number of mean 1 in each run
    #[arg(long, value_name = "HOW", help_heading = WHAT_IF)]
    pub random: Option<Random>,

    /// Read hypotheses from FILE, in the language of SILAS
    #[arg(long, value_name = "FILE", help_heading = WHAT_IF)]
    pub hypothesis: Vec<PathBuf>,

    /// Run once for each of N values of a missing key: KEY=FROM..TO/N
    ///
    /// For example factor=0.1..1.0/10, with hypotheses that lack the factor
    #[arg(long, value_name = "RANGE", conflicts_with_all = ["output", "html", "random"], help_heading = WHAT_IF)]
    pub sweep: Option<Sweep>,

    /// Classes of state values: mpi, starpu, or a TOML file
    ///
    /// Default: of mpi and starpu, the map that knows more values of the trace
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub map: Option<PathBuf>,

    #[command(flatten, next_help_heading = MODEL)]
    pub tasks: Tasks,

    /// Table of message times in the recorded run, in TOML
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub net_table: Option<PathBuf>,

    /// Host file of mpirun; ranks of a host share its links
    ///
    /// Default: hosts that the trace records as containers of a type host, node or machine, or one
    /// for each rank
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub hosts: Option<PathBuf>,

    /// Start of an eager transfer: when the receiver is ready, or when it is sent
    ///
    /// Default: estimated from the messages
    #[arg(long, value_name = "posted|sent", value_parser = eager_start, help_heading = MODEL)]
    pub eager_start: Option<EagerStart>,

    /// Progress of messages: at any time, or only in calls of the receiver
    ///
    /// Default: estimated from the waits
    #[arg(long, value_name = "async|calls", value_parser = progress, help_heading = MODEL)]
    pub progress: Option<Progress>,

    /// Rendezvous threshold of the recorded run in bytes (0: every message)
    #[arg(long, value_name = "BYTES", value_parser = size::<u64>(0..=u64::MAX, "a size such as 64KiB"), help_heading = MODEL)]
    pub eager: Option<u64>,

    /// Schedule of a collective, such as NAME=nxn
    ///
    /// Schedules: nxn, 1xn, nx1, flat, binomial, reduce+bcast, reduce+scatter, doubling, bruck, ring,
    /// direct, pairwise, dissemination, scan and local
    ///
    /// Default: the one that explains the recorded times best. Ignored for collectives with links
    #[arg(long, value_name = "SHAPE", value_parser = shape, help_heading = MODEL)]
    pub coll: Vec<(Glob, Shape)>,

    /// Broadcasts: members wait for the root, or their parent in a tree
    #[arg(long, value_name = "root|binomial", value_parser = broadcast, help_heading = MODEL)]
    pub bcast: Option<Shape>,

    /// Containers below the same container of TYPE form a group (default: all, if they agree)
    ///
    /// The members of a group take part in collectives such as barriers
    #[arg(long, value_name = "TYPE", help_heading = MODEL)]
    pub group: Option<String>,

    /// Root of collectives such as broadcasts and reductions
    ///
    /// Default: for each value and group, the container that explains the recorded times best
    #[arg(long, value_name = "NAME", help_heading = MODEL)]
    pub root: Option<String>,

    /// User-defined field with the bytes of a link (default: Size, size, Bytes or MessageSize)
    #[arg(long, value_name = "FIELD", help_heading = MODEL)]
    pub bytes: Option<String>,

    /// Write the trace of the changed run to FILE, or to standard output for `-`
    ///
    /// Not for tasks of StarPU, because only their makespan is predicted
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,

    /// Write the report to FILE instead of standard output
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub report: Option<PathBuf>,

    /// Also write the report to FILE as a self-contained web page that shows both runs
    ///
    /// Not for tasks of StarPU
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub html: Option<PathBuf>,

    #[command(flatten, next_help_heading = OUTPUT)]
    pub formatted: Formatted,

    #[command(flatten, next_help_heading = READING)]
    pub reading: Reading,

    #[command(flatten, next_help_heading = READING)]
    pub units: Units,

    #[command(flatten, next_help_heading = SPEED)]
    pub parallel: Parallel,

    #[command(flatten, next_help_heading = SPEED)]
    pub memory: Memory,

    #[command(flatten, next_help_heading = OTHER)]
    pub talk: Talk,

    #[command(flatten, next_help_heading = OTHER)]
    pub about: About,
}

fn eager_start(text: &str) -> Result<EagerStart, String> {
    let all = [EagerStart::Posted, EagerStart::Sent];
    let found = all.into_iter().find(|start| start.name() == text);
    found.ok_or_else(|| "expected posted or sent".into())
}

fn progress(text: &str) -> Result<Progress, String> {
    let all = [Progress::Async, Progress::Calls];
    let found = all.into_iter().find(|progress| progress.name() == text);
    found.ok_or_else(|| "expected async or calls".into())
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
    Ok((glob, found.ok_or_else(|| format!("`{shape}` is not a shape; shapes are {known}"))?))
}

impl Cli {
    /// Returns the hypotheses in the order of the command line.
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

    /// Parses the hypotheses that the options give. If a hypothesis lacks the key of the sweep, the
    /// key and its value are added.
    ///
    /// # Errors
    /// Fails with a message that says what was expected.
    pub fn hypotheses(&self, sweep: Option<(&str, &str)>) -> Result<Vec<Hypothesis>, String> {
        let mut found = Vec::new();
        let mut is_used = false;
        for (kind, texts) in self.kinds() {
            // All `--net` options describe one network.
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
            Some((key, _)) if !is_used => Err(format!(
                "--sweep {key}=…: no hypothesis leaves `{key}` open; omit {key}= in one that has it"
            )),
            _ => Ok(found),
        }
    }

    /// Returns the file that describes the trace's tasks, if there is one.
    #[must_use]
    pub fn tasks_file(&self) -> Option<PathBuf> {
        self.tasks.file(self.file.as_deref(), &self.reading.named)
    }

    /// Returns the options for the replay of the trace.
    #[must_use]
    pub fn options(&self, limits: Limits) -> Options {
        let mut options = self.reading.options(limits);
        (options.user_defined, options.variable_precision) = (true, PRECISION);
        if self.output.is_none() {
            options.selection.natures =
                [TypeNature::State, TypeNature::Event, TypeNature::Link].into_iter().collect();
        }
        options.time_unit = self.units.time_unit;
        // SMPI writes no ends for links that MPI_Test completes, and wrong ones for MPI_Sendrecv. If
        // many links remain incomplete, changes are refused.
        (options.keep_link_halves, options.ignore_incomplete_links) = (true, true);
        // Most of the memory is needed for the graph, because rows are only read sequentially.
        options.memory = self.memory.limit();
        if let Some(memory) = &mut options.memory {
            memory.bytes /= ROWS;
        }
        options
    }
}
