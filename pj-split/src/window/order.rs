//! Order of lines. Lines are sorted by time, with two exceptions: all events of a container come
//! before its destruction, and children that are created later come after it.

use std::cmp::Ordering;

use paje_sim::{ContainerId, Trace};
use rustc_hash::FxHashMap;

use super::{TimeRange, cut};

/// Place in the order of lines: a time, and the number of preceding destructions at the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    time: f64,
    level: u32,
}

impl Place {
    pub(crate) const FIRST: Place = Place { time: f64::NEG_INFINITY, level: 0 };
    const LAST: Place = Place { time: f64::INFINITY, level: u32::MAX };
}

impl Eq for Place {}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        self.time.total_cmp(&other.time).then(self.level.cmp(&other.level))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Creation,
    Event,
    /// A destruction, with its byte offset in the trace. Destructions at the same place are sorted
    /// by offset.
    Destruction(u64),
}

#[derive(Debug)]
pub(crate) struct Orders {
    /// For each container, the first place of its lines and the place of its destruction.
    ends: Vec<(Place, Option<Place>)>,
}

impl Orders {
    pub(crate) fn new(trace: &Trace, window: TimeRange) -> Self {
        let containers = trace.containers();
        let destroyed_at = |id| containers.destruction(id).map_or(u64::MAX, |(byte, _)| byte.0);
        let mut ends: Vec<(Place, Option<Place>)> = Vec::with_capacity(containers.len());
        // Offset of the first line that destroys the container or an ancestor. Children are rarely
        // created after it.
        let mut earliest: Vec<u64> = Vec::with_capacity(containers.len());
        // Place of each destruction, by offset. A container's destruction precedes those of its
        // children.
        let mut destructions: FxHashMap<u64, Place> = FxHashMap::default();
        for id in containers.ids() {
            let mut above = containers.parent(id);
            let mut first = ends.get(above.index()).map_or(Place::FIRST, |(first, _)| *first);
            let own = destroyed_at(id);
            while earliest.get(above.index()).is_some_and(|earliest| *earliest < own) {
                if let (_, Some(end)) = ends[above.index()]
                    && destroyed_at(above) < own
                {
                    first = first.max(Place { level: end.level + 1, ..end });
                }
                if above == ContainerId::ROOT {
                    break;
                }
                above = containers.parent(above);
            }
            let known = earliest.get(containers.parent(id).index()).copied();
            earliest.push(known.unwrap_or(u64::MAX).min(own));
            let end = match containers.destruction(id) {
                Some((byte, true)) if containers.end(id) <= window.to => {
                    let time = cut(window, containers.end(id));
                    let end = Place { time, level: 0 }.max(first);
                    destructions.insert(byte.0, end);
                    Some(end)
                }
                Some((byte, false)) => destructions.get(&byte.0).copied(),
                _ => None,
            };
            ends.push((first, end));
        }
        Orders { ends }
    }

    /// Returns the place of a container's line at a time. If an ancestor ended the container, the
    /// place may be after the container's end.
    pub(crate) fn of(&self, container: ContainerId, time: f64) -> Place {
        let (first, _) = self.ends[container.index()];
        Place { time: time + 0.0, level: 0 }.min(self.last(container)).max(first)
    }

    pub(crate) fn first(&self, container: ContainerId) -> Place {
        self.ends[container.index()].0
    }

    pub(crate) fn last(&self, container: ContainerId) -> Place {
        self.end(container).unwrap_or(Place::LAST)
    }

    pub(crate) fn end(&self, container: ContainerId) -> Option<Place> {
        self.ends[container.index()].1
    }
}
