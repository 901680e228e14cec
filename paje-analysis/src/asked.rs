//! An analysis as it is asked for by names: what the packages for Python and R offer.

use paje_sim::{ContainerId, Selection, TimeRange, Trace, TypeId, TypeNature};
use paje_workers::Workers;

use crate::classes::{Classes, Map};
use crate::collectives::Grouping;
use crate::comm::{self, Comm, Ends};
use crate::critical::CriticalPath;
use crate::states::{self, States};
use crate::time::{self, Time};
use crate::waits::{Options, Waits};
use crate::{Bins, By, Label, Scope, Table};

/// An analysis and its settings.
#[derive(Clone, Debug)]
pub enum Asked {
    /// Time by state value: see [`states`].
    States(By),
    /// Links between containers: see [`comm`].
    Comm {
        /// Type of the containers whose contents are added up.
        level: Option<String>,
        /// User-defined field with the bytes of a link.
        bytes: Option<String>,
    },
    /// Time by bin: see [`time`].
    Time {
        /// Grouping of the rows.
        by: By,
        /// Number of bins.
        bins: u32,
        /// Whether states include the states inside them.
        inclusive: bool,
        /// Whether rows are of classes instead of values.
        classes: bool,
        /// Map of values to classes; the best built-in one if not given.
        map: Option<Map>,
    },
    /// Waiting of containers for one another: see [`waits`](crate::waits).
    Waits(WaitsBy, About),
    /// The critical path: see [`critical`](crate::critical).
    Critical {
        /// Whether by value, with the imbalance, instead of by container.
        by_value: bool,
        /// Settings of the analysis of waiting.
        about: About,
    },
}

/// Grouping of waiting to rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsBy {
    /// By kind.
    Kind,
    /// By waiting container.
    Waiter,
    /// By pair of waiting container and container waited for.
    Pair,
}

/// Settings of the analysis of waiting.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Map of state values to classes; if none is given, the map that fits.
    pub map: Option<Map>,
    /// The name of the type of containers, each of which holds a group.
    pub group: Option<String>,
    /// The name of the container that is the root.
    pub root: Option<String>,
    /// As [`Options::eager`].
    pub eager: Option<u64>,
    /// As [`Options::bytes`].
    pub bytes: Option<String>,
}

/// Grouping of rows, by its name: `value`, `container`, or a type of containers.
#[must_use]
pub fn by(name: &str) -> By {
    match name {
        "value" => By::Value,
        "container" => By::Container,
        type_ => By::Type(Label::from(type_)),
    }
}

/// The map that is built in under this name, or that of this text in TOML.
///
/// # Errors
/// The text is no map: what is wrong with it.
pub fn map(given: &str) -> Result<Map, String> {
    match Map::built_in(given) {
        Some(map) => Ok(map),
        None => Map::parse("map", given).map_err(|error| format!("map: {error}")),
    }
}

impl Asked {
    /// Table found in a trace whose rows were kept, of what was selected. Whoever calls is in the workers' pool.
    ///
    /// # Errors
    /// The trace has no such group or root, or the map knows none of its states: a sentence.
    pub fn table(
        &self,
        trace: &Trace,
        selection: &Selection,
        workers: &Workers,
    ) -> Result<Table, String> {
        let (window, scope) = (selection.window, Scope::new(selection));
        Ok(match self {
            Asked::States(by) => {
                let mut states = States::new(scope, by.clone());
                states.see(trace, workers);
                states::table(&states.rows(trace))
            }
            Asked::Comm { level, bytes } => {
                let mut comm = Comm::new(scope, bytes.as_deref());
                comm.see(trace, workers);
                let level = level.as_deref().map(Label::from);
                comm::table(&comm.rows(trace, &level.map_or(Ends::Containers, Ends::Level)))
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

/// Returns the window, with the whole range where it is unbounded.
fn within(whole: (f64, f64), window: TimeRange) -> (f64, f64) {
    let finite = |asked: f64, found: f64| if asked.is_finite() { asked } else { found };
    (finite(window.from, whole.0), finite(window.to, whole.1))
}

impl About {
    fn waits<'t>(&self, trace: &'t Trace) -> Result<Waits<'t>, String> {
        let map = self.map.clone().unwrap_or_else(|| Map::of_trace(trace));
        let (types, containers) = (trace.types(), trace.containers());
        let level = self.group.as_deref().map(|wanted| -> Result<TypeId, String> {
            let mut all = types.ids().filter(|id| types.nature(*id) == TypeNature::Container);
            let found = all.find(|id| types.name(*id).to_str_lossy() == wanted);
            found.ok_or_else(|| format!("group={wanted:?}: no type of containers is called so"))
        });
        let root = self.root.as_deref().map(|wanted| -> Result<ContainerId, String> {
            let found = containers.ids().find(|id| containers.name(*id).to_str_lossy() == wanted);
            found.ok_or_else(|| format!("root={wanted:?}: no container is called so"))
        });
        let grouping = Grouping { level: level.transpose()?, root: root.transpose()? };
        let options = Options { grouping, eager: self.eager, bytes: self.bytes.clone() };
        let waits = Waits::new(trace, &map, &options);
        match waits.tracks.classes().is_empty() {
            true => Err(format!(
                "no state's value is known to the map {:?}: map=... says what states are about",
                map.name()
            )),
            false => Ok(waits),
        }
    }
}
