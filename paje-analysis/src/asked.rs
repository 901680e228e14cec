//! Analyses that are selected by name, as in the Python and R packages.

use std::ops::Range;

use paje_sim::{Selection, TimeRange, Trace};
use paje_workers::Workers;

use crate::classes::{Classes, Map};
use crate::collectives::Grouping;
use crate::comm::{self, Comm, CommParts, Ends};
use crate::critical::{CriticalPath, refusal};
use crate::kept::Lanes;
use crate::named;
use crate::states::{self, States, StatesParts};
use crate::time::{self, Time};
use crate::waits::portions::{First, Growing};
use crate::waits::{Options, Waits};
use crate::{Bins, By, Label, Scope, Table};

/// An analysis and its settings.
#[derive(Clone, Debug)]
pub enum Asked {
    /// Time by state value, computed by [`states`].
    States(By),
    /// Links between containers, computed by [`comm`].
    Comm {
        /// Type of the containers to which links are attributed.
        level: Option<String>,
        /// User-defined field with the bytes of a link.
        bytes: Option<String>,
    },
    /// Time per bin, computed by [`time`].
    Time {
        /// Grouping of rows.
        by: By,
        /// Number of bins.
        bins: u32,
        /// Whether the time of states includes nested states.
        inclusive: bool,
        /// Whether rows are per class instead of per value.
        classes: bool,
        /// Map from values to classes. By default, the built-in map that fits best.
        map: Option<Map>,
    },
    /// Wait states, computed by [`waits`](crate::waits).
    Waits(WaitsBy, About),
    /// The critical path, computed by [`critical`](crate::critical).
    Critical {
        /// Whether to report values with their imbalance instead of containers.
        by_value: bool,
        /// Settings of the wait-state analysis.
        about: About,
    },
}

/// Grouping of wait states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum WaitsBy {
    Kind,
    Waiter,
    Pair,
}

/// Settings of the wait-state analysis.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Map from state values to classes. By default, the built-in map that fits best.
    pub map: Option<Map>,
    /// Name of a container type. Containers below the same container of this type form a group.
    pub group: Option<String>,
    /// Name of the root container of collectives.
    pub root: Option<String>,
    /// As [`Options::eager`].
    pub eager: Option<u64>,
    /// As [`Options::bytes`].
    pub bytes: Option<String>,
}

/// Parses a grouping: `value`, `container`, `kind`, or the name of a container type.
#[must_use]
pub fn by(name: &str) -> By {
    match name {
        "value" => By::Value,
        "container" => By::Container,
        "kind" => By::Kind,
        type_ => By::Type(Label::from(type_)),
    }
}

/// Returns the built-in map with this name, or else parses the text as a map in TOML.
///
/// # Errors
/// Fails if the text is not a valid map.
pub fn map(given: &str) -> Result<Map, String> {
    match Map::built_in(given) {
        Some(map) => Ok(map),
        None => Map::parse("map", given).map_err(|error| format!("map: {error}")),
    }
}

/// Sum of parts of a report.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Parts {
    States(StatesParts),
    Comm(CommParts),
}

impl Parts {
    /// Encodes the sum as one part.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Parts::States(all) => all.to_bytes(),
            Parts::Comm(all) => all.to_bytes(),
        }
    }
}

impl Asked {
    /// Runs the analysis on the rows of a part of a trace, which begin in this range. The sum of
    /// all parts gives the report of the whole trace, in [`of_parts`](Self::of_parts). Returns
    /// `None` if the analysis needs the whole trace. Must be called inside the worker pool.
    #[must_use]
    pub fn part(
        &self,
        trace: &Trace,
        selection: &Selection,
        begins: Range<f64>,
        workers: &Workers,
    ) -> Option<Vec<u8>> {
        let scope = Scope::new(selection);
        match self {
            Asked::States(by) => {
                let mut states = States::new(scope, by.clone()).beginning_in(begins);
                states.see(trace, workers);
                Some(states.part(trace).to_bytes())
            }
            Asked::Comm { bytes, .. } => {
                let mut comm = Comm::new(scope, bytes.as_deref()).beginning_in(begins);
                comm.see(trace, workers);
                Some(comm.part(trace).to_bytes())
            }
            _ => None,
        }
    }

    /// Adds up parts of the report. Returns `None` if one of them is invalid.
    #[must_use]
    pub fn add_parts<'p>(&self, mut parts: impl Iterator<Item = &'p [u8]>) -> Option<Parts> {
        match self {
            Asked::States(_) => {
                let mut all = StatesParts::default();
                parts.try_for_each(|part| all.add(part))?;
                Some(Parts::States(all))
            }
            Asked::Comm { .. } => {
                let mut all = CommParts::default();
                parts.try_for_each(|part| all.add(part))?;
                Some(Parts::Comm(all))
            }
            _ => None,
        }
    }

    /// Returns the report of all parts. `trace` may be any part of the trace.
    #[must_use]
    pub fn of_parts(&self, trace: &Trace, parts: &Parts) -> Option<Table> {
        match (self, parts) {
            (Asked::States(by), Parts::States(all)) => {
                Some(states::table(&all.rows(trace, &Scope::default(), by)))
            }
            (Asked::Comm { level, .. }, Parts::Comm(all)) => {
                Some(comm::table(&all.rows(trace, &Ends::of_level(level.as_deref()))))
            }
            _ => None,
        }
    }

    /// Returns an error if the analysis needs more than this many bytes of memory beside the rows.
    ///
    /// # Errors
    /// The error has the needed memory.
    pub fn fits(&self, trace: &Trace, limit: u64) -> Result<(), String> {
        let needed = match self {
            Asked::Waits(..) | Asked::Critical { .. } => Waits::bytes(trace),
            _ => 0,
        };
        within_limit(needed, limit)
    }

    /// Returns whether the analysis depends only on the rows in the window.
    #[must_use]
    pub const fn adds_up_rows(&self) -> bool {
        matches!(self, Asked::States(_) | Asked::Comm { .. } | Asked::Time { classes: false, .. })
    }

    /// Runs the analysis on a replayed trace. If only the part in the window was read, `lanes` are
    /// those of the whole trace. Must be called inside the worker pool.
    ///
    /// # Errors
    /// Fails if the trace lacks the container type of the groups or the root, or if the map
    /// contains none of the trace's state values.
    pub fn table(
        &self,
        trace: &Trace,
        selection: &Selection,
        lanes: Option<&Lanes>,
        workers: &Workers,
    ) -> Result<Table, String> {
        let (window, scope) = (selection.window, Scope::new(selection));
        Ok(match self {
            Asked::States(by) => {
                let mut states = States::new(scope, by.clone());
                if let Some(lanes) = lanes {
                    states = states.in_part_of(lanes.clone());
                }
                states.see(trace, workers);
                states::table(&states.rows(trace))
            }
            Asked::Comm { level, bytes } => {
                let mut comm = Comm::new(scope, bytes.as_deref());
                comm.see(trace, workers);
                comm::table(&comm.rows(trace, &Ends::of_level(level.as_deref())))
            }
            Asked::Time { by, bins, inclusive, classes, map } => {
                let (start, end) = within(time::range(trace, &scope), window);
                let mut time =
                    Time::new(scope, by.clone(), Bins::new(start, end, *bins), *inclusive);
                time.see(trace, workers);
                match classes {
                    true => {
                        let map = map.clone().unwrap_or_else(|| Map::of_trace(trace));
                        time.table_by_class(trace, &Classes::new(trace, &map))
                    }
                    false => time.table(trace),
                }
            }
            Asked::Waits(by, about) => {
                let waits = about.waits(trace)?;
                let window = within(waits.whole(), window);
                match by {
                    WaitsBy::Kind => waits.kinds_table(window),
                    WaitsBy::Waiter => waits.waiters_table(window),
                    WaitsBy::Pair => waits.pairs_table(window),
                }
            }
            Asked::Critical { by_value, about } => {
                let waits = about.waits(trace)?;
                if let Some(why) = refusal(&waits, &about.map(trace)) {
                    return Err(why);
                }
                let window = within(waits.whole(), window);
                match CriticalPath::new(&waits) {
                    None => Table::new("critical"),
                    Some(path) if *by_value => path.imbalance_table(&waits, window),
                    Some(path) => path.activity_table(&waits, window),
                }
            }
        })
    }
}

/// Returns an error if waits need more than this many bytes of memory beside the rows.
///
/// # Errors
/// The error has the needed memory.
pub fn within_limit(needed: u64, limit: u64) -> Result<(), String> {
    if needed <= limit {
        return Ok(());
    }
    let [needed, limit] = [needed, limit].map(|bytes| bytes.div_ceil(1_000_000));
    Err(format!(
        "the analysis of waiting needs about {needed} MB beside the rows, but memory_limit is {limit} MB; only rows \
         can go to a file, so a process with more memory is needed"
    ))
}

/// Replaces the missing bounds of the window with the bounds of `whole`.
pub(crate) fn within(whole: (f64, f64), window: TimeRange) -> (f64, f64) {
    let finite = |asked: f64, found: f64| if asked.is_finite() { asked } else { found };
    (finite(window.from, whole.0), finite(window.to, whole.1))
}

impl About {
    fn map(&self, trace: &Trace) -> Map {
        self.map.clone().unwrap_or_else(|| Map::of_trace(trace))
    }

    fn options(&self, trace: &Trace) -> Result<Options, String> {
        let level = self.group.as_deref().map(|name| named::container_type(trace, "group=", name));
        let root = self.root.as_deref().map(|name| named::container(trace, "root=", name));
        let grouping = Grouping { level: level.transpose()?, root: root.transpose()? };
        Ok(Options { grouping, eager: self.eager, bytes: self.bytes.clone() })
    }

    fn waits<'t>(&self, trace: &'t Trace) -> Result<Waits<'t>, String> {
        let map = self.map(trace);
        let waits = Waits::new(trace, &map, &self.options(trace)?);
        match waits.facts.tracks.classes().is_empty() {
            true => Err(map.unknown(trace, "map=...")),
            false => Ok(waits),
        }
    }

    /// Prepares the second reading of a trace in portions, as [`First::plan`] does.
    ///
    /// # Errors
    /// Fails if the trace lacks the container type of the groups or the root.
    pub fn plan<'t>(
        &self,
        first: First,
        trace: &'t Trace,
        window: TimeRange,
    ) -> Result<Option<Growing<'t>>, String> {
        Ok(first.plan(trace, &self.map(trace), &self.options(trace)?, window))
    }
}
