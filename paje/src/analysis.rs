//! Analyses of a trace, as in the programs `pj_profile`, `pj_hazards` and `pj_whatif`.
//!
//! Each function returns plain rows, with times in seconds. The rows implement serde's `Serialize` with the feature
//! `serde`, and `record_batch` converts them to Arrow with the feature `arrow`.
//!
//! Questions that a trace cannot answer are refused: a [`Refusal`] explains what is missing.
//!
//! ```
//! use paje::analysis::{self, Options};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");
//! let trace = paje::TraceReader::new().open(path)?;
//! let profile = analysis::profile(&trace, &Options::new())?;
//! assert_eq!(profile[0].value, "computing");
//! let waiting: f64 = analysis::waits(&trace, &Options::new())?.iter().map(|wait| wait.seconds).sum();
//! assert!(waiting > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::num::NonZeroUsize;

use paje_analysis::{By, Scope, comm, states};
use paje_comm::classes::Map;
use paje_comm::collectives::Grouping;
use paje_comm::messages::BYTES;
use paje_comm::named;
use paje_parser::EventKind;
use paje_sim::selection::ParseGlobError;
use paje_sim::{Glob, Selection, Trace};
use paje_workers::{Pin, Workers};

mod hazards;
mod record;
mod waiting;
mod what_if;

pub use hazards::{Barrier, Deadlocks, Hang, Race, deadlocks, message_races, removable_barriers};
pub use record::Record;
use record::record;
#[cfg(feature = "arrow")]
pub use record::record_batch;
pub use waiting::{PathPart, Wait, critical_path, waits};
pub use what_if::{ContainerEnd, Prediction, what_if};

/// Options of an analysis.
#[derive(Clone, Debug, Default)]
pub struct Options {
    selection: Selection,
    threads: Option<NonZeroUsize>,
    by: GroupBy,
    map: Option<Map>,
    group: Option<String>,
    root: Option<String>,
    eager: Option<u64>,
    bytes: Option<String>,
    wildcard: Option<Glob>,
}

/// Grouping of the rows of a [`profile`] and of the ends of [`communication`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupBy {
    /// A profile has one row for each type and value. Communication is between containers.
    #[default]
    Value,
    /// Separate rows for each container.
    Container,
    /// Separate rows for each container of the type with this name or alias, including everything inside it.
    Type(String),
}

impl Options {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Options::default()
    }

    /// Limits the analysis to these rows. Rows that cross the bounds of the window are cut there. [`waits`],
    /// [`critical_path`], [`what_if`] and the searches for hazards need all rows, and refuse a selection.
    #[must_use]
    pub fn select(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// Sets the number of threads. 0 is the default: all CPUs that the process may use.
    #[must_use]
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = NonZeroUsize::new(threads);
        self
    }

    /// Sets the grouping of rows.
    #[must_use]
    pub fn by(mut self, by: GroupBy) -> Self {
        self.by = by;
        self
    }

    /// Sets the map from the values of states to classes, in TOML. By default, the built-in map that fits best is used:
    /// for the states of MPI programs, or for those of StarPU. The first pattern that matches applies.
    ///
    /// ```
    /// let options = paje::analysis::Options::new().map(
    ///     r#"
    ///     types = ["MY_MPI"]
    ///     [classes]
    ///     "my_{send,isend}" = "send"
    ///     my_recv = "recv"
    ///     "my_wait*" = "wait"
    ///     my_barrier = "barrier"
    ///     my_allreduce = "nxn"
    ///     "#,
    /// )?;
    /// # Ok::<(), paje::analysis::Refusal>(())
    /// ```
    ///
    /// `types` are the types of such states. Their other values have the class `other`, and values of other types have
    /// the class `compute`. The other classes are `sendrecv`, `1xn` (such as a broadcast), `nx1` (such as a gather),
    /// `scan` and `io`.
    ///
    /// # Errors
    /// The text is not a map.
    pub fn map(mut self, toml: &str) -> Result<Self, Refusal> {
        self.map = Some(Map::parse("map", toml).map_err(|error| Refusal(error.to_string()))?);
        Ok(self)
    }

    /// Sets the type of the containers whose contents communicate in collectives, by name or alias.
    #[must_use]
    pub fn group(mut self, type_: impl Into<String>) -> Self {
        self.group = Some(type_.into());
        self
    }

    /// Sets the root of all collectives that have one, by name or alias.
    #[must_use]
    pub fn root(mut self, container: impl Into<String>) -> Self {
        self.root = Some(container.into());
        self
    }

    /// Sets the bytes from which on a message is a rendezvous: its sender waits for its receiver.
    #[must_use]
    pub const fn rendezvous(mut self, bytes: u64) -> Self {
        self.eager = Some(bytes);
        self
    }

    /// Sets the user-defined field with the sizes of messages in bytes.
    #[must_use]
    pub fn bytes(mut self, field: impl Into<String>) -> Self {
        self.bytes = Some(field.into());
        self
    }

    /// Sets the pattern of the states or links whose receives take messages from any sender.
    ///
    /// # Errors
    /// The text is not a pattern.
    pub fn wildcard(mut self, pattern: &str) -> Result<Self, Refusal> {
        let parsed = pattern.parse().map_err(|error: ParseGlobError| Refusal(error.to_string()));
        self.wildcard = Some(parsed?);
        Ok(self)
    }

    fn workers(&self) -> Result<Workers, Refusal> {
        Workers::new(self.threads, &Pin::None).map_err(|error| Refusal(error.to_string()))
    }

    /// Returns the map of a trace, and the settings for reading its communication.
    fn communication(&self, trace: &Trace) -> Result<(Map, paje_comm::Options), Refusal> {
        self.check_bytes(trace)?;
        if self.selection != Selection::default() {
            return Err(Refusal("this analysis needs all rows; select from its result".into()));
        }
        if let Some(glob) = &self.wildcard {
            named::value(trace, "wildcard", glob)?;
        }
        let type_ = |wanted: &String| named::container_type(trace, "group", wanted);
        let container = |wanted: &String| named::container(trace, "root", wanted);
        let level = self.group.as_ref().map(type_).transpose()?;
        let root = self.root.as_ref().map(container).transpose()?;
        let map = self.map.clone().unwrap_or_else(|| Map::of_trace(trace));
        let (eager, bytes) = (self.eager, self.bytes.clone());
        Ok((map, paje_comm::Options { grouping: Grouping { level, root }, eager, bytes }))
    }

    /// Checks that the sizes of messages were kept, if the trace has them.
    fn check_bytes(&self, trace: &Trace) -> Result<(), Refusal> {
        if let Some(field) = &self.bytes {
            named::field(trace, "bytes", field)?;
        }
        let links = [EventKind::StartLink, EventKind::EndLink];
        let links = trace.defs().iter().filter(|def| links.contains(&def.kind()));
        let mut fields = links.flat_map(|def| def.extras().map(|(name, _)| name));
        let is_size = |name: &str| BYTES.contains(&name) || self.bytes.as_deref() == Some(name);
        match fields.find(|name| is_size(name)).filter(|_| !trace.has_user_defined()) {
            None => Ok(()),
            Some(field) => Err(Refusal(format!(
                "the field {field} has the sizes of messages; read the trace without `TraceReader::fields(false)`"
            ))),
        }
    }

    fn scope(&self, trace: &Trace) -> Result<Scope, Refusal> {
        let selected = trace.select(&self.selection);
        match selected.unmet(trace).next() {
            Some((what, glob, hint)) => {
                Err(Refusal(format!("the trace has no {what} '{glob}'; {hint}")))
            }
            None => Ok(Scope::new(&self.selection)),
        }
    }

    fn by_label(&self, trace: &Trace) -> Result<By, Refusal> {
        Ok(match &self.by {
            GroupBy::Value => By::Value,
            GroupBy::Container => By::Container,
            GroupBy::Type(name) => {
                named::container_type(trace, "by", name)?;
                By::Type(name.as_str().into())
            }
        })
    }
}

/// Reason why a trace cannot answer a question. It is shown as a sentence.
#[derive(Clone, PartialEq, Eq)]
pub struct Refusal(String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Shows the message, because a `main` that returns an error prints it in this form.
impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Refusal(reason)
    }
}

record! {
    /// Time that containers spend in a state value.
    StateTime {
        /// The container, if each container has separate rows.
        container: Option<String>,
        /// Name of the type.
        type_name: String,
        /// The value.
        value: String,
        /// Number of states.
        count: u64,
        /// Seconds in states of the value, including nested states.
        inclusive: f64,
        /// Seconds in states of the value, without nested states.
        exclusive: f64,
        /// Exclusive time divided by the lifetimes of all containers with such states.
        share: f64,
        /// Shortest duration in seconds.
        min: f64,
        /// Mean duration in seconds.
        mean: f64,
        /// Median duration in seconds.
        median: f64,
        /// 95th percentile of the duration in seconds.
        p95: f64,
        /// Longest duration in seconds.
        max: f64,
        /// Number of containers with such states.
        containers: u64,
        /// Longest exclusive time of a container divided by the mean, minus 1.
        imbalance: f64,
    }
}

/// Returns the time in each state value. Types are in the order of their definitions, and values in descending order
/// of their time.
///
/// # Errors
/// The options name something that the trace does not have.
pub fn profile(trace: &Trace, options: &Options) -> Result<Vec<StateTime>, Refusal> {
    let mut states = states::States::new(options.scope(trace)?, options.by_label(trace)?);
    states.see(trace, &options.workers()?);
    let row = |row: states::Row| StateTime {
        container: row.container.map(|name| name.to_string()),
        type_name: row.type_.to_string(),
        value: row.value.to_string(),
        count: row.count,
        inclusive: row.inclusive.to_f64(),
        exclusive: row.exclusive.to_f64(),
        share: row.share,
        min: row.min,
        mean: row.mean.to_f64(),
        median: row.median,
        p95: row.p95,
        max: row.max,
        containers: row.containers,
        imbalance: row.imbalance,
    };
    Ok(states.rows(trace).into_iter().map(row).collect())
}

record! {
    /// Links of one value from one container to another.
    Traffic {
        /// Name of the type.
        type_name: String,
        /// The value.
        value: String,
        /// Container at the start.
        from: String,
        /// Container at the end.
        to: String,
        /// Number of links.
        count: u64,
        /// Sum of their sizes in bytes, if any link has a size.
        bytes: Option<f64>,
        /// Shortest duration in seconds. It is negative if a link ends before it starts.
        min: f64,
        /// Mean duration in seconds.
        mean: f64,
        /// Longest duration in seconds.
        max: f64,
        /// Start of the first link in seconds.
        first: f64,
        /// End of the last link in seconds.
        last: f64,
    }
}

/// Returns the links between containers. The rows are ordered by type, value and containers.
///
/// # Errors
/// The options name something that the trace does not have, or the trace was read without the sizes of its messages.
pub fn communication(trace: &Trace, options: &Options) -> Result<Vec<Traffic>, Refusal> {
    options.check_bytes(trace)?;
    let ends = match options.by_label(trace)? {
        By::Type(label) => comm::Ends::Level(label),
        By::Value | By::Container | By::Kind => comm::Ends::Containers,
    };
    let mut links = comm::Comm::new(options.scope(trace)?, options.bytes.as_deref());
    links.see(trace, &options.workers()?);
    let row = |row: comm::Row| Traffic {
        type_name: row.type_.to_string(),
        value: row.value.to_string(),
        from: row.from.to_string(),
        to: row.to.to_string(),
        count: row.count,
        bytes: row.bytes,
        min: row.min,
        mean: row.mean.to_f64(),
        max: row.max,
        first: row.first,
        last: row.last,
    };
    Ok(links.rows(trace, &ends).into_iter().map(row).collect())
}
