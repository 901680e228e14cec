//! Acts of a rank, and their order.

/// Act of a rank other than opening or closing a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// Waits until any message of a set has arrived, given the number of the
    /// [set](crate::Run::sets). In the recorded run, this is the message received in the same step.
    Any(u32),
    /// Waits until a message has arrived.
    Receive(u32),
    /// Waits until a sent message has arrived, if it is a rendezvous.
    Complete(u32),
    /// Waits until the rank may leave a collective, given the seat.
    Leave(u32),
    /// Gets ready to receive a message.
    Post(u32),
    /// Sends a message.
    Send(u32),
    /// Enters a collective, given the seat.
    Enter(u32),
    /// Tests for messages, given the number of the [loop](crate::Run::polls).
    Test(u32),
}

impl Act {
    /// Returns whether the rank waits in this act.
    #[must_use]
    pub const fn waits(self) -> bool {
        matches!(self, Act::Any(_) | Act::Receive(_) | Act::Complete(_) | Act::Leave(_))
    }
}

/// An act in a state, packed into one number. The numbers are ordered by state, then by kind and
/// number of the act. The number of an act is below [`Run::MAX`](crate::Run::MAX).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StateAct(u64);

impl StateAct {
    /// Number of bits of an act's number.
    pub(crate) const BITS: u32 = 29;

    pub(crate) fn new(state: u32, act: Act) -> Self {
        StateAct((u64::from(state) << 32) | u64::from(StateAct::packed(act)))
    }

    /// Returns an act between states, given the state that comes next.
    pub(crate) fn between(next: u32, act: Act) -> Self {
        StateAct::new(BETWEEN | next, act)
    }

    pub(crate) fn is_between(self) -> bool {
        self.state() & BETWEEN != 0
    }

    /// Returns whether the act comes before state `next` is opened, given that its time allows it.
    pub(crate) fn may_precede(self, next: u32) -> bool {
        (self.state() & !BETWEEN) < next + u32::from(self.is_between())
    }

    /// Packs an act so that packed acts are ordered by kind, then by number.
    pub(crate) fn packed(act: Act) -> u32 {
        let (kind, number) = match act {
            Act::Any(number) => (0, number),
            Act::Receive(number) => (1, number),
            Act::Complete(number) => (2, number),
            Act::Leave(number) => (3, number),
            Act::Post(number) => (4, number),
            Act::Send(number) => (5, number),
            Act::Enter(number) => (6, number),
            Act::Test(number) => (7, number),
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
            0 => Act::Any(number),
            1 => Act::Receive(number),
            2 => Act::Complete(number),
            3 => Act::Leave(number),
            4 => Act::Post(number),
            5 => Act::Send(number),
            6 => Act::Enter(number),
            _ => Act::Test(number),
        }
    }
}

/// Acts of one rank, in the order of its steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Acts {
    /// Called when a state is opened.
    pub(crate) opening: Vec<StateAct>,
    /// Acts within an open state, with their times.
    pub(crate) within: Vec<(f64, StateAct)>,
    /// Acts at the closing of a state.
    pub(crate) closing: Vec<StateAct>,
}

impl Acts {
    /// Adds an act at a time, in a state that was entered at `enter`.
    pub(crate) fn begin(&mut self, time: f64, enter: f64, act: StateAct) {
        match time <= enter {
            true => self.opening.push(act),
            false => self.within.push((time, act)),
        }
    }

    pub(crate) fn sort(&mut self) {
        // A stable sort is fast on nearly sorted data. No two elements are equal.
        self.opening.sort();
        let then = |of: StateAct| (of.is_between(), of.act(), of.state());
        self.within.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| then(a.1).cmp(&then(b.1))));
        self.closing.sort();
    }

    /// Returns this act and the following acts in the same state at the same time.
    pub(crate) fn same(&self, place: usize) -> &[(f64, StateAct)] {
        let all = &self.within[place..];
        let (time, of) = all[0];
        let is_same = |it: &&(f64, StateAct)| it.0 == time && it.1.state() == of.state();
        &all[..all.iter().take_while(is_same).count()]
    }

    /// Returns the range of the acts at the closing of a state. Tries the position `near` first.
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

/// Flag of the state of an act between states. The numbers of states are smaller.
const BETWEEN: u32 = 1 << StateAct::BITS;
