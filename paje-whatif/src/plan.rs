//! Plan of what is changed: as the re-timing wants it, in numbers.

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::network::Network;

/// Plan of what is changed.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// By state type and value: factors for its own time.
    pub(crate) values: FxHashMap<(u32, u32), Vec<Scaling>>,
    /// Factors for the time between states.
    pub(crate) between: Vec<Scaling>,
    /// By track and state: factor for its own time; empty if there is none such. A negative one is a
    /// time in seconds that a state takes which took none.
    pub(crate) states: Vec<Vec<f64>>,
    /// By track and state: whether it is cut; empty if none is.
    pub(crate) cut_states: Vec<Vec<bool>>,
    /// By message: whether it is cut; empty if none is.
    pub(crate) cut_messages: Vec<bool>,
    /// The network that messages go through, if it is not the recorded one.
    pub(crate) network: Option<Network>,
    /// Factors for the time of operations of groups without links beyond their waiting; by seat, empty if nothing
    /// changes.
    pub(crate) operations: Vec<f64>,
    /// Factors for the time that messages to a root that waits for all need the link into it; by series, empty if
    /// nothing changes.
    pub(crate) queues: Vec<f64>,
}

/// A factor, for some tracks.
#[derive(Clone, Debug)]
pub(crate) struct Scaling {
    /// By track.
    pub(crate) tracks: Vec<bool>,
    pub(crate) factor: f64,
    /// Parts that are no longer than this, in seconds, stay as they are.
    pub(crate) min_gap: f64,
}

impl Scaling {
    fn of(&self, track: usize, seconds: f64) -> f64 {
        if self.tracks[track] && seconds > self.min_gap { self.factor } else { 1.0 }
    }
}

impl Plan {
    /// Factor for a part of a container's time, of so many seconds: of a state, or between states.
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

    /// The time, in seconds, that is added to a state that took none.
    pub(crate) fn added(&self, track: usize, state: u32) -> f64 {
        let own = self.states.get(track).and_then(|states| states.get(state as usize));
        own.map_or(0.0, |own| (-own).max(0.0))
    }

    pub(crate) fn is_cut(&self, track: usize, state: u32) -> bool {
        self.cut_states.get(track).is_some_and(|cut| cut.get(state as usize) == Some(&true))
    }

    /// True if a message vanishes.
    #[must_use]
    pub fn cuts_message(&self, message: usize) -> bool {
        self.cut_messages.get(message) == Some(&true)
    }

    pub(crate) fn is_message_cut(&self, message: u32) -> bool {
        self.cut_messages.get(message as usize) == Some(&true)
    }
}
