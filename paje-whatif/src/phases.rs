//! Noise of computing, as far as a trace shows it.
//!
//! Phases of computing are of one kind if they are in states of one value and container, before calls of one name. If
//! the middle half of them differs by less than a tenth, their differences are noise. In a run with other noise, each such
//! phase takes as long as another phase of its kind. This also shows noise that waiting hides in the recorded run.

use paje_comm::{Act, Kind, Step};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rustc_hash::FxHashMap;

use crate::graph::Graph;

const NONE: u32 = u32::MAX;

/// Track, value of the state, and value of the state that ends the piece. Values may be [`NONE`].
type Place = (u32, u32, u32);

/// Lengths of equal phases by kind, in ascending order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phases {
    equal: FxHashMap<Place, Vec<f64>>,
    pub(crate) seed: u64,
}

/// Smallest number of equal phases.
const FEWEST: usize = 8;

impl Phases {
    pub(crate) fn new(graph: &Graph<'_>) -> Self {
        let mut all: FxHashMap<Place, Vec<f64>> = FxHashMap::default();
        let classes = graph.tracks().classes();
        graph.each_piece(|place, seconds| {
            let (track, value, _) = place;
            let type_ = graph.tracks().list()[track as usize].type_;
            let is_call =
                value != NONE && classes.class(type_, paje_sim::ValueId(value)).communicates();
            if !is_call && seconds > 0.0 {
                all.entry(place).or_default().push(seconds);
            }
        });
        let equal = all.into_iter().filter_map(|(place, mut all)| {
            all.sort_by(f64::total_cmp);
            // Short pieces between calls are no phases.
            let half = all.iter().sum::<f64>() / 2.0;
            let mut sum = 0.0;
            let typical = *all.iter().find(|it| {
                sum += **it;
                sum >= half
            })?;
            all.drain(..all.partition_point(|it| *it < 0.1 * typical));
            let (low, high) = (all[all.len() / 4], all[all.len() * 3 / 4]);
            (all.len() >= FEWEST && high - low <= 0.1 * low).then_some((place, all))
        });
        Phases { equal: equal.collect(), seed: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.equal.is_empty()
    }

    /// Returns the factor with which a piece takes as long as another one, given the number of its
    /// step.
    pub(crate) fn factor(&self, place: Place, step: u32, seconds: f64) -> f64 {
        let all = self.equal.get(&place).filter(|all| seconds >= all[0]);
        all.map_or(1.0, |all| {
            let number = (u64::from(place.0) << 32) | u64::from(step);
            let seed = number.wrapping_add(self.seed.rotate_right(8));
            let drawn = SplitMix64::seed_from_u64(seed).next_u64() % all.len() as u64;
            all[drawn as usize] / seconds
        })
    }
}

impl Graph<'_> {
    /// Returns the place of the piece of time before a step, given the state in which it is.
    pub(crate) fn place(&self, track: usize, state: Option<u32>, step: &Step<'_>) -> Place {
        let value = |state: u32| self.tracks().list()[track].value[state as usize].0;
        let next = if step.kind == Kind::Open { value(step.state) } else { NONE };
        (track as u32, state.map_or(NONE, value), next)
    }

    /// Calls `visit` with each piece of time that is not waiting according to the model, and its
    /// length.
    pub(crate) fn each_piece(&self, mut visit: impl FnMut(Place, f64)) {
        for (at, (steps, ends)) in self.run().steps.iter().zip(self.explained()).enumerate() {
            let track = &self.tracks().list()[at];
            let (mut ends, mut open, mut last) = (ends.iter(), None, f64::NAN);
            for step in steps.iter() {
                let waits = step.acts.iter().any(Act::waits);
                let since = if waits { ends.next().copied().unwrap_or(last) } else { last };
                visit(self.place(at, open, &step), (step.time - since).max(0.0));
                open = match step.kind {
                    Kind::Open => Some(step.state),
                    Kind::Within => open,
                    Kind::Close => track.parent(step.state as usize).map(|parent| parent as u32),
                };
                last = step.time;
            }
        }
    }
}
