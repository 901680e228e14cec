//! Determines the order of a container's acts: opening and closing states, sends and receives.

use paje_analysis::tracks::Track;

/// Act of a container, except opening and closing states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Act {
    /// Waits. The number identifies the excess time.
    Wait(u32),
    Receive(u32),
    /// Waits until a sent message has arrived. The number is that of the
    /// [`Awaited`](crate::graph::Awaited).
    Await(u32),
    /// Leaves a collective operation. The number is the seat.
    Leave(u32),
    Post(u32),
    Send(u32),
    /// Enters a collective operation. The number is the seat.
    Enter(u32),
}

/// An act in a state, packed into one number. The order is by state, then by kind and number of the
/// act. The number of the act is below [`Graph::MAX`](crate::Graph::MAX).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StateAct(u64);

impl StateAct {
    /// Number of bits of the number of an act.
    pub(crate) const BITS: u32 = 29;

    pub(crate) fn new(state: u32, act: Act) -> Self {
        StateAct((u64::from(state) << 32) | u64::from(StateAct::packed(act)))
    }

    /// Packs an act. The order is by kind, then by number.
    pub(crate) fn packed(act: Act) -> u32 {
        let (kind, number) = match act {
            Act::Wait(number) => (0, number),
            Act::Receive(number) => (1, number),
            Act::Await(number) => (2, number),
            Act::Leave(number) => (3, number),
            Act::Post(number) => (4, number),
            Act::Send(number) => (5, number),
            Act::Enter(number) => (6, number),
        };
        (kind << Self::BITS) | number
    }

    pub(crate) fn state(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(crate) fn act(self) -> Act {
        StateAct::act_of(self.0 as u32)
    }

    #[inline(always)]
    pub(crate) fn act_of(packed: u32) -> Act {
        let number = packed & ((1 << Self::BITS) - 1);
        match packed >> Self::BITS {
            0 => Act::Wait(number),
            1 => Act::Receive(number),
            2 => Act::Await(number),
            3 => Act::Leave(number),
            4 => Act::Post(number),
            5 => Act::Send(number),
            _ => Act::Enter(number),
        }
    }
}

/// Acts of one container, in walking order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Acts {
    /// Acts when a state is opened.
    pub(crate) opening: Vec<StateAct>,
    /// Acts while a state is open, with their times.
    pub(crate) within: Vec<(f64, StateAct)>,
    /// Acts when a state is closed.
    pub(crate) closing: Vec<StateAct>,
}

impl Acts {
    pub(crate) fn sort(&mut self) {
        // A stable sort is fast on nearly sorted data. All elements are different.
        self.opening.sort();
        let then = |of: StateAct| (of.act(), of.state());
        self.within.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| then(a.1).cmp(&then(b.1))));
        self.closing.sort();
    }

    /// Returns the acts from this one on that are in the same state at the same time.
    pub(crate) fn same(&self, place: u32) -> &[(f64, StateAct)] {
        let all = &self.within[place as usize..];
        let (time, of) = all[0];
        let is_same = |it: &&(f64, StateAct)| it.0 == time && it.1.state() == of.state();
        &all[..all.iter().take_while(is_same).count()]
    }

    /// Returns the range of the acts at the closing of a state. Looks at `near` first.
    pub(crate) fn closing_of(&self, state: u32, near: usize) -> std::ops::Range<usize> {
        let is_behind = |at: usize| self.closing.get(at).is_none_or(|of| of.state() >= state);
        let is_first = near == 0 || !is_behind(near - 1);
        let from = match is_first && is_behind(near) {
            true => near,
            false => self.closing.partition_point(|of| of.state() < state),
        };
        let count = self.closing[from..].iter().take_while(|of| of.state() == state).count();
        from..from + count
    }
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    Open(u32),
    Close(u32),
    /// Acts within a state, given the index of the first one.
    Within(u32),
    End,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    next: u32,
    open: u32,
    within: u32,
    /// Number of acts in [`Acts::opening`] that have been taken.
    pub(crate) opened: u32,
    /// End of the range in [`Acts::closing`] that was found last.
    pub(crate) closed: u32,
}

impl Walk {
    pub(crate) const fn new() -> Self {
        Walk { next: 0, open: NONE, within: 0, opened: 0, closed: 0 }
    }

    pub(crate) fn peek(self, track: &Track, acts: &Acts) -> (Step, f64) {
        let next = self.next as usize;
        let (step, time) = if next < track.len() {
            let parent = track.parent(next).map_or(NONE, |parent| parent as u32);
            // If states overlap, the state that was opened later ends at its own time.
            if self.open == parent || self.open == NONE {
                (Step::Open(self.next), track.start[next])
            } else {
                (Step::Close(self.open), track.end[self.open as usize])
            }
        } else if self.open != NONE {
            (Step::Close(self.open), track.end[self.open as usize])
        } else {
            (Step::End, f64::INFINITY)
        };
        let Some((at, of)) = acts.within.get(self.within as usize) else {
            return (step, time);
        };
        let is_opened = of.state() < self.next;
        let comes_first = match step {
            Step::Open(_) => *at < time,
            Step::Close(closed) => *at <= time || closed == of.state(),
            _ => true,
        };
        if is_opened && comes_first { (Step::Within(self.within), *at) } else { (step, time) }
    }

    pub(crate) fn take(&mut self, step: Step, track: &Track) {
        match step {
            Step::Open(state) => (self.open, self.next) = (state, state + 1),
            Step::Close(state) => {
                self.open = track.parent(state as usize).map_or(NONE, |parent| parent as u32);
            }
            Step::Within(_) => self.within += 1,
            Step::End => {}
        }
    }
}
