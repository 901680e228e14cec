//! Plan of the changes, in the numbers that re-timing uses.

use paje_comm::Step;
use paje_sim::ValueId;
use rustc_hash::FxHashMap;

use crate::costs::Costs;
use crate::graph::Graph;
use crate::phases::Phases;

/// Plan of the changes to a run.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Factors for the exclusive time of each state type and value.
    pub(crate) values: FxHashMap<(u32, u32), Vec<Scaling>>,
    pub(crate) between: Vec<Scaling>,
    /// Factor for the exclusive time of each state, by track and state. The list may be empty. A
    /// negative number is the new time, in seconds, of a state that took no time.
    pub(crate) states: Vec<Vec<f64>>,
    pub(crate) cut_states: Vec<Vec<bool>>,
    pub(crate) cut_messages: Vec<bool>,
    /// Longest exclusive time in calls of each state type and value, in the trace's unit of time.
    pub(crate) limits: FxHashMap<(u32, u32), f64>,
    /// Costs of messages in the model of the recorded run, and in the changed run. `None` means the
    /// costs of the graph.
    pub(crate) before: Option<Costs>,
    pub(crate) after: Option<Costs>,
    pub(crate) phases: Phases,
    /// Number that determines the order of simultaneous tests. 0 is the order of SMPI, as far as the trace shows it.
    pub(crate) tests: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Scaling {
    pub(crate) tracks: Vec<bool>,
    pub(crate) factor: f64,
    /// Parts of up to this length, in the trace's unit of time, do not change.
    pub(crate) min_gap: f64,
}

impl Scaling {
    fn of(&self, track: usize, seconds: f64) -> f64 {
        if self.tracks[track] && seconds > self.min_gap { self.factor } else { 1.0 }
    }
}

impl Plan {
    /// Returns whether nothing changes.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        let mut own = self.states.iter().flatten();
        self.values.is_empty()
            && self.between.is_empty()
            && own.all(|factor| *factor == 1.0)
            && self.cut_states.is_empty()
            && !self.cut_messages.contains(&true)
            && self.after.is_none()
    }

    /// Returns the factor for a time of this length in a state or between states.
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
        if !self.values.is_empty() || !self.limits.is_empty() {
            let of = &graph.tracks().list()[track];
            let value = (of.type_.0, of.value[state as usize].0);
            let all = self.values.get(&value).into_iter().flatten();
            factor = all.map(|scaling| scaling.of(track, seconds)).product();
            let limit = self.limits.get(&value).filter(|limit| seconds > **limit);
            factor *= limit.map_or(1.0, |limit| limit / seconds);
        }
        match self.states.get(track).and_then(|states| states.get(state as usize)) {
            Some(own) if *own >= 0.0 => factor * own,
            _ => factor,
        }
    }

    /// Returns the factor for a time of this length before a step, given the number of the step.
    pub(crate) fn factor_before(
        &self,
        graph: &Graph<'_>,
        track: usize,
        state: Option<u32>,
        (step, number): (&Step<'_>, u32),
        seconds: f64,
    ) -> f64 {
        let factor = self.factor(graph, track, state, seconds);
        if self.phases.is_empty() {
            return factor;
        }
        factor * self.phases.factor(graph.place(track, state, step), number, seconds)
    }

    /// Returns the seconds that are added to a state that took no time.
    pub(crate) fn added(&self, track: usize, state: u32) -> f64 {
        let own = self.states.get(track).and_then(|states| states.get(state as usize));
        own.map_or(0.0, |own| (-own).max(0.0))
    }

    pub(crate) fn is_cut(&self, track: usize, state: u32) -> bool {
        self.cut_states.get(track).is_some_and(|cut| cut.get(state as usize) == Some(&true))
    }

    /// Returns this plan for a run in which no call takes longer than half of the calls of its name
    /// in the recorded run, apart from waiting.
    #[must_use]
    pub fn without_noise(&self, graph: &Graph<'_>) -> Self {
        let mut all: FxHashMap<(u32, u32), Vec<f64>> = FxHashMap::default();
        let classes = graph.tracks().classes();
        graph.each_piece(|(track, value, _), seconds| {
            let type_ = graph.tracks().list()[track as usize].type_;
            let is_call = value != u32::MAX && classes.class(type_, ValueId(value)).communicates();
            if is_call {
                all.entry((type_.0, value)).or_default().push(seconds);
            }
        });
        let half = |(value, mut all): ((u32, u32), Vec<f64>)| {
            let at = all.len() / 2;
            (value, *all.select_nth_unstable_by(at, f64::total_cmp).1)
        };
        Plan { limits: all.into_iter().map(half).collect(), ..self.clone() }
    }

    /// Returns this plan for runs in which equal phases of computing have other noise, one after
    /// the other. There are none if no phases are equal.
    pub fn with_noise(&self, graph: &Graph<'_>, runs: u64) -> impl Iterator<Item = Plan> {
        let plan = Plan { phases: Phases::new(graph), ..self.clone() };
        let runs = if plan.phases.is_empty() { 0 } else { runs };
        (1..=runs).scan(plan, |plan, seed| {
            plan.phases.seed = seed;
            Some(plan.clone())
        })
    }

    /// Returns this plan for a run in which each message takes as little time as the shortest one.
    #[must_use]
    pub fn with_shortest_messages(self, graph: &Graph<'_>) -> Self {
        let used = graph.transfers().iter().filter(|it| it.is_used());
        let shortest = used.map(|it| it.seconds).fold(f64::INFINITY, f64::min);
        let mut costs = graph.costs().clone();
        costs.messages.fill((shortest, 0.0));
        Plan { after: Some(costs), ..self }
    }

    /// Returns this plan for a run in which simultaneous tests take place in another order, given its number.
    #[must_use]
    pub fn with_order(self, tests: u32) -> Self {
        Plan { tests, ..self }
    }

    /// Returns whether a message is removed.
    #[must_use]
    pub fn cuts_message(&self, message: usize) -> bool {
        self.cut_messages.get(message) == Some(&true)
    }
}
