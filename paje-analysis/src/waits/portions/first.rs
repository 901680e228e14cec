//! The first reading of a trace in portions.

use std::collections::BTreeMap;
use std::sync::Arc;

use paje_comm::Facts;
use paje_sim::{ContainerId, LaneId, LaneView, TimeRange, Trace, TypeId, TypeNature, ValueId};
use rustc_hash::FxHashMap;

use super::{Growing, Plan};
use crate::classes::{Class, Classes, Map};
use crate::collectives::Collectives;
use crate::messages::Messages;
use crate::recorded::Recorded;
use crate::tracks::Tracks;
use crate::waits::Options;

/// What the first reading finds.
#[derive(Clone, Debug, Default)]
pub struct First {
    lanes: FxHashMap<LaneId, Lane>,
    /// Earliest start or end of the links that each portion completes.
    links: Vec<f64>,
    count: u64,
}

/// States of a lane.
#[derive(Clone, Debug)]
struct Lane {
    container: ContainerId,
    type_: TypeId,
    counts: BTreeMap<ValueId, usize>,
    count: usize,
    start: f64,
    end: f64,
    open: usize,
}

impl First {
    /// Adds the next portion.
    pub fn see(&mut self, trace: &Trace) {
        let mut earliest = f64::INFINITY;
        for lane in trace.lanes().filter(|lane| !lane.is_empty()) {
            match lane.nature() {
                TypeNature::Link => {
                    self.count += lane.len();
                    let times = lane.links().map(|link| link.start.min(link.end));
                    earliest = times.fold(earliest, f64::min);
                }
                TypeNature::State => {
                    let new = || Lane::new(lane.container(), lane.type_id());
                    self.lanes.entry(lane.id()).or_insert_with(new).see(lane);
                }
                _ => {}
            }
        }
        self.links.push(earliest);
    }

    /// Prepares the second reading. `trace` is what the first reading returned. Returns `None` if
    /// the waits depend on more than the rows around them.
    #[must_use]
    pub fn plan<'t>(
        self,
        trace: &'t Trace,
        map: &Map,
        options: &Options,
        window: TimeRange,
    ) -> Option<Growing<'t>> {
        let is_simple = trace.link_halves().is_empty()
            && options.grouping.level.is_none()
            && !Recorded::are_possible(trace)
            && self.lanes.values().all(|lane| lane.open == 0);
        let types = self.lanes.values().map(|lane| lane.type_);
        let classes = Classes::with_lanes(trace, map, types);
        let chosen = |lane: &Lane| classes.state_type(trace, lane.container) == Some(lane.type_);
        let lanes: Vec<Lane> = self.lanes.into_values().filter(chosen).collect();
        let start = lanes.iter().map(|lane| lane.start).min_by(f64::total_cmp)?;
        let end = lanes.iter().map(|lane| lane.end).max_by(f64::total_cmp)?;
        let own = |lane: &Lane| (lane.container, lane.type_);
        let tracks = Tracks::without_states(trace, classes, lanes.iter().map(own));
        let by_container: FxHashMap<ContainerId, &Lane> =
            lanes.iter().map(|lane| (lane.container, lane)).collect();
        let lanes: Vec<&Lane> =
            tracks.list().iter().map(|track| by_container[&track.container]).collect();
        if !is_simple || may_have_wrong_links(&tracks, &lanes, self.count) {
            return None;
        }
        let counts: Vec<_> = lanes.iter().map(|lane| lane.counts.clone()).collect();
        let (mut collectives, is_deep) = Collectives::planned(&tracks, &counts);
        if is_deep && !collectives.uneven.is_empty() {
            return None;
        }
        let root = options.grouping.root;
        let series = collectives.series.iter_mut();
        let needs_root: Vec<bool> = series.map(|it| it.needs_root(&tracks, root)).collect();
        let mut later = self.links;
        let mut next = f64::INFINITY;
        for earliest in later.iter_mut().rev() {
            next = next.min(std::mem::replace(earliest, next));
        }
        let base = Facts::new(trace, map, options);
        let mut facts = base.changed(tracks, Messages::default());
        facts.collectives = Arc::new(collectives);
        let bytes = options.bytes.clone();
        let window = crate::asked::within((start, end), window);
        let plan = Plan {
            map: map.clone(),
            bytes,
            counts: lanes.iter().map(|lane| lane.count).collect(),
            later,
            is_deep,
            window: (window.0.max(start), window.1.min(end)),
        };
        Some(Growing::new(Arc::new(plan), facts, needs_root))
    }
}

impl Lane {
    fn new(container: ContainerId, type_: TypeId) -> Self {
        let (counts, count, open) = Default::default();
        let (start, end) = (f64::INFINITY, f64::NEG_INFINITY);
        Lane { container, type_, counts, count, start, end, open }
    }

    fn see(&mut self, lane: LaneView<'_>) {
        let again = std::mem::take(&mut self.open);
        for (at, state) in lane.states().enumerate() {
            // A portion repeats the states that are open before it.
            if at >= again {
                *self.counts.entry(state.value).or_default() += 1;
                self.count += 1;
                self.start = self.start.min(state.start);
            }
            if state.end.is_nan() {
                self.open += 1;
            } else if state.imbrication == 0 {
                self.end = self.end.max(state.end.max(state.start));
            }
        }
    }
}

/// Returns whether SMPI may have written links twice, or with wrong keys.
fn may_have_wrong_links(tracks: &Tracks<'_>, lanes: &[&Lane], links: u64) -> bool {
    let calls = |wanted: Class| -> usize {
        let of_lane = |lane: &&Lane| -> usize {
            let class = |value: ValueId| tracks.classes().class(lane.type_, value);
            let calls = lane.counts.iter().filter(|(value, _)| class(**value) == wanted);
            calls.map(|(_, count)| count).sum()
        };
        lanes.iter().map(of_lane).sum()
    };
    let (sends, both) = (calls(Class::Send), calls(Class::SendRecv));
    tracks.is_simulated() && links > 0 && (both > 0 || sends > 0 && links >= 2 * sends as u64)
}
