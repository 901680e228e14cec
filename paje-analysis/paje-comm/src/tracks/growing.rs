//! Tracks of which only a part is in memory.

use paje_sim::{ContainerId, LaneView, Trace, TypeId};

use super::{NONE, Track, Tracks};
use crate::classes::Classes;

/// What is known of the states of a track that are no longer in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forgotten {
    /// Time before which states are forgotten, except those that others need.
    pub(crate) until: f64,
    /// Number of receives that they post minus the number that they complete.
    pub(crate) pending: i64,
}

impl Forgotten {
    pub(super) const NOTHING: Forgotten = Forgotten { until: f64::NEG_INFINITY, pending: 0 };
}

impl<'t> Tracks<'t> {
    /// Creates tracks without states, in the order of [`Tracks::new`].
    #[must_use]
    pub fn without_states(
        trace: &'t Trace,
        classes: Classes,
        lanes: impl IntoIterator<Item = (ContainerId, TypeId)>,
    ) -> Self {
        let track = |(container, type_)| Track { type_, ..Track::without_states(container) };
        Tracks::of_list(trace, classes, lanes.into_iter().map(track).collect())
    }

    /// Returns the tracks, to add or remove states.
    pub fn list_mut(&mut self) -> &mut [Track] {
        &mut self.list
    }
}

impl Track {
    pub(super) fn without_states(container: ContainerId) -> Self {
        let (start, end, value, parent) = Default::default();
        let (last_exit, forgotten) = (f64::NEG_INFINITY, Forgotten::NOTHING);
        Track { container, type_: TypeId::ROOT, start, end, value, parent, last_exit, forgotten }
    }

    /// Adds the states of a portion. `open` has the states without an end, the outermost one first.
    /// The portion repeats them. Their end is infinite.
    pub fn grow(&mut self, lane: LaneView<'_>, open: &mut Vec<u32>) {
        let before = std::mem::take(open);
        let mut again = before.into_iter();
        for state in lane.states() {
            open.truncate(state.imbrication as usize);
            let end = if state.end.is_nan() { f64::INFINITY } else { state.end.max(state.start) };
            let at = again.next().unwrap_or(self.len() as u32);
            if at as usize == self.len() {
                self.start.push(state.start);
                self.end.push(end);
                self.value.push(state.value);
                self.parent.push(open.last().copied().unwrap_or(NONE));
            } else {
                self.end[at as usize] = end;
            }
            open.push(at);
        }
        open.extend(again);
        open.retain(|at| self.end[*at as usize] == f64::INFINITY);
    }

    /// Removes all states but those to keep. Returns the new number of each state, or `None` if it was
    /// removed.
    pub fn keep(&mut self, keeps: &[bool]) -> Vec<Option<u32>> {
        let mut count = 0;
        let numbers = keeps.iter().map(|keeps| {
            count += u32::from(*keeps);
            keeps.then(|| count - 1)
        });
        let numbers: Vec<Option<u32>> = numbers.collect();
        let parent = |at: &u32| numbers.get(*at as usize).copied().flatten().unwrap_or(NONE);
        self.parent.iter_mut().for_each(|at| *at = parent(at));
        retain(&mut self.start, keeps);
        retain(&mut self.end, keeps);
        retain(&mut self.value, keeps);
        retain(&mut self.parent, keeps);
        numbers
    }
}

fn retain<T>(all: &mut Vec<T>, keeps: &[bool]) {
    let mut keeps = keeps.iter();
    all.retain(|_| keeps.next() == Some(&true));
}
