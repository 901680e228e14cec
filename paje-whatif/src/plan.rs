//! Plan of the changes, in the numbers that re-timing uses.

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::network::Network;

/// Plan of the changes to a run.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Factors for the exclusive time of each state type and value.
    pub(crate) values: FxHashMap<(u32, u32), Vec<Scaling>>,
    pub(crate) between: Vec<Scaling>,
    /// Factor for the exclusive time of each state, by track and state; may be empty. A negative
    /// number is the new time, in seconds, of a state that took no time.
    pub(crate) states: Vec<Vec<f64>>,
    pub(crate) cut_states: Vec<Vec<bool>>,
    pub(crate) cut_messages: Vec<bool>,
    pub(crate) network: Option<Network>,
    /// Change of the time of collectives without links, for each seat. It is empty if nothing
    /// changes.
    pub(crate) operations: Vec<Rest>,
    /// Factors for the link time of messages to a root that waits for all members, by series. May
    /// be empty.
    pub(crate) queues: Vec<f64>,
    /// Recorded and changed link times of these messages in seconds, by series. They come from a
    /// table.
    pub(crate) links: FxHashMap<usize, (f64, f64)>,
}

/// Change of the time that a collective takes in addition to waiting. The latency and the rest
/// change separately.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    pub(crate) latency: (f64, f64),
    pub(crate) factor: f64,
}

impl Rest {
    pub(crate) const SAME: Rest = Rest { latency: (0.0, 0.0), factor: 1.0 };

    pub(crate) fn added(self, seconds: f64) -> f64 {
        let (before, after) = self.latency;
        // If the time is shorter than the latency, all of it is latency.
        let part = if before > 0.0 { (seconds / before).clamp(0.0, 1.0) } else { 1.0 };
        (after - before) * part + (self.factor - 1.0) * (seconds - before).max(0.0)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Scaling {
    pub(crate) tracks: Vec<bool>,
    pub(crate) factor: f64,
    /// Parts of up to this length, in seconds, do not change.
    pub(crate) min_gap: f64,
}

impl Scaling {
    fn of(&self, track: usize, seconds: f64) -> f64 {
        if self.tracks[track] && seconds > self.min_gap { self.factor } else { 1.0 }
    }
}

impl Plan {
    /// Whether computing, and the time between states, take as long as recorded.
    pub(crate) fn keeps_durations(&self) -> bool {
        let is_scaled = !self.values.is_empty() || !self.between.is_empty();
        !is_scaled && self.states.is_empty() && self.cut_states.is_empty()
    }

    /// Returns the factor for some seconds of a state, or for some seconds between states.
    pub(crate) fn factor(
        &self,
        graph: &Graph<'_>,
        track: usize,
        state: Option<u32>,
        seconds: f64,
    ) -> f64 {
        let Some(state) = state else {
            return self.between.iter().map(|scaling| scaling.of(track, seconds)).product();
        };
        if self.is_cut(track, state) {
            return 0.0;
        }
        let mut factor = 1.0;
        if !self.values.is_empty() {
            let of = &graph.tracks.list()[track];
            let all = self.values.get(&(of.type_.0, of.value[state as usize].0));
            let all = all.into_iter().flatten();
            factor = all.map(|scaling| scaling.of(track, seconds)).product();
        }
        match self.states.get(track).and_then(|states| states.get(state as usize)) {
            Some(own) if *own >= 0.0 => factor * own,
            _ => factor,
        }
    }

    /// Returns the seconds that are added to a state that took no time.
    pub(crate) fn added(&self, track: usize, state: u32) -> f64 {
        let own = self.states.get(track).and_then(|states| states.get(state as usize));
        own.map_or(0.0, |own| (-own).max(0.0))
    }

    pub(crate) fn is_cut(&self, track: usize, state: u32) -> bool {
        self.cut_states.get(track).is_some_and(|cut| cut.get(state as usize) == Some(&true))
    }

    /// Returns whether a message is removed.
    #[must_use]
    pub fn cuts_message(&self, message: usize) -> bool {
        self.cut_messages.get(message) == Some(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_and_rest_change_separately() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        // The latency before the bytes is 2 s. The changed latency is ten times as long, and the
        // bandwidth is half.
        let rest = Rest { latency: (2.0, 20.0), factor: 2.0 };
        close(rest.added(5.0), 18.0 + 3.0);
        close(rest.added(1.0), 9.0);
        close(rest.added(0.0), 0.0);
        close(Rest::SAME.added(5.0), 0.0);
        close(Rest { factor: 3.0, ..Rest::SAME }.added(5.0), 10.0);
    }
}
