//! The states and acts of a rank in order, for sequential reading.

use crate::walk::{Act, StateAct};

/// The steps of a rank, in order.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    list: Vec<Packed>,
    acts: Vec<u32>,
}

/// Kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Open,
    Within,
    Close,
}

/// A moment of a rank. The time since the previous step belongs to the innermost open state.
#[derive(Clone, Copy, Debug)]
pub struct Step<'s> {
    /// What happens.
    pub kind: Kind,
    /// State that is opened or closed, or to which the acts belong.
    pub state: u32,
    /// Recorded time in seconds.
    pub time: f64,
    /// Acts at that time.
    pub acts: StepActs<'s>,
}

/// Acts of a step. Waits come first.
#[derive(Clone, Copy, Debug)]
pub struct StepActs<'s>(&'s [u32]);

impl<'s> StepActs<'s> {
    /// No acts.
    pub const NONE: StepActs<'static> = StepActs(&[]);

    /// Returns the number of acts.
    #[must_use]
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no acts.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Returns the loop of tests to which the step belongs.
    #[must_use]
    #[inline]
    pub fn poll(self) -> Option<u32> {
        match StateAct::act_of(*self.0.last()?) {
            Act::Test(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the acts in order.
    pub fn iter(self) -> impl Iterator<Item = Act> + 's {
        self.0.iter().map(|act| StateAct::act_of(*act))
    }
}

#[derive(Clone, Copy, Debug)]
struct Packed {
    time: f64,
    /// The state, with the kind in the two highest bits.
    state: u32,
    until: u32,
}

/// Number of bits of a state number. All numbers are below [`Run::MAX`](crate::Run::MAX).
const STATE: u32 = 30;

impl Steps {
    /// Size of a step in bytes, excluding its acts.
    pub const STEP: usize = size_of::<Packed>();

    pub(crate) fn with_capacity(states: usize, acts: usize) -> Self {
        // Some acts need a separate step.
        Steps { list: Vec::with_capacity(2 * states + acts / 4), acts: Vec::with_capacity(acts) }
    }

    pub(crate) fn push(
        &mut self,
        kind: Kind,
        state: u32,
        time: f64,
        acts: impl Iterator<Item = Act>,
    ) {
        self.acts.extend(acts.map(StateAct::packed));
        let state = state | ((kind as u32) << STATE);
        self.list.push(Packed { time, state, until: self.acts.len() as u32 });
    }

    /// Returns the number of steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether there are no steps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns a step. `behind` is the end of the previous step's acts.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, number: u32, behind: u32) -> Option<Step<'_>> {
        let Packed { time, state, until } = *self.list.get(number as usize)?;
        let kind = match state >> STATE {
            0 => Kind::Open,
            1 => Kind::Within,
            _ => Kind::Close,
        };
        let acts = StepActs(&self.acts[behind as usize..until as usize]);
        Some(Step { kind, state: state & ((1 << STATE) - 1), time, acts })
    }

    /// Returns the steps in order.
    pub fn iter(&self) -> impl Iterator<Item = Step<'_>> {
        let behind = std::iter::once(0).chain(self.list.iter().map(|step| step.until));
        (0..self.len() as u32).zip(behind).filter_map(|(at, behind)| self.get(at, behind))
    }

    pub(crate) fn shrink(&mut self) {
        self.list.shrink_to_fit();
        self.acts.shrink_to_fit();
    }
}
