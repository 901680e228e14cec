//! The states and acts of a rank in order, for sequential reading.

use crate::acts::{Act, Acts, StateAct};
use crate::tracks::Track;

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

    /// Puts the openings and closings of a rank's states and its acts in order.
    pub(crate) fn new(track: &Track, acts: &Acts) -> Self {
        let count = acts.opening.len() + acts.within.len() + acts.closing.len();
        let mut steps = Steps {
            // Some acts need a separate step.
            list: Vec::with_capacity(2 * track.len() + count / 4),
            acts: Vec::with_capacity(count),
        };
        let mut walk =
            Walk { track, acts, steps: &mut steps, open: None, within: 0, opened: 0, closed: 0 };
        for state in 0..track.len() {
            walk.close_until(track.parent(state), state as u32);
            walk.open(state);
        }
        walk.close_until(None, track.len() as u32);
        walk.act(track.len() as u32, |_, _| true);
        steps.list.shrink_to_fit();
        steps.acts.shrink_to_fit();
        steps
    }

    fn push(&mut self, kind: Kind, state: u32, time: f64, acts: impl Iterator<Item = Act>) {
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
}

/// The steps of a rank, as far as they have been found.
struct Walk<'w> {
    track: &'w Track,
    acts: &'w Acts,
    steps: &'w mut Steps,
    /// Innermost open state.
    open: Option<usize>,
    /// Number of acts of [`Acts::within`] and [`Acts::opening`] that have been taken.
    within: usize,
    opened: usize,
    /// End of the range of [`Acts::closing`] that was found last.
    closed: usize,
}

impl Walk<'_> {
    /// Closes the innermost states until `outer` is the innermost one. The next state to be opened
    /// is `next`.
    fn close_until(&mut self, outer: Option<usize>, next: u32) {
        while let Some(open) = self.open.filter(|open| Some(*open) != outer) {
            // If states overlap, the state that was opened later still ends at its own time.
            let (state, end) = (open as u32, self.track.end[open]);
            self.act(next, |time, of| !of.is_between() && (time <= end || of.state() == state));
            let range = self.acts.closing_of(state, self.closed);
            self.closed = range.end;
            let all = self.acts.closing[range].iter().map(|of| of.act());
            self.steps.push(Kind::Close, state, end, all);
            self.open = self.track.parent(open);
        }
    }

    fn open(&mut self, state: usize) {
        let (number, start) = (state as u32, self.track.start[state]);
        self.act(number, |time, of| of.is_between() || time < start);
        let all = &self.acts.opening[self.opened..];
        let count = all.iter().take_while(|of| of.state() == number).count();
        self.opened += count;
        let all = all[..count].iter().map(|of| of.act());
        self.steps.push(Kind::Open, number, start, all);
        self.open = Some(state);
    }

    /// Adds acts before state `next` is opened, as long as they come first.
    fn act(&mut self, next: u32, comes_first: impl Fn(f64, StateAct) -> bool) {
        while let Some((time, of)) = self.acts.within.get(self.within).copied()
            && of.may_precede(next)
            && comes_first(time, of)
        {
            let same = self.acts.same(self.within);
            self.within += same.len();
            let all = same.iter().map(|(_, of)| of.act());
            self.steps.push(Kind::Within, of.state(), time, all);
        }
    }
}
