//! The order in which a container does what it does: states are opened and closed, and within them messages start
//! and end.

use paje_analysis::tracks::Track;

/// Act of a container beside opening and closing states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Act {
    /// Waits, itself for so long at least: the number of a slack of its own.
    Wait(u32),
    /// A message arrives.
    Receive(u32),
    /// A message that it sent has arrived.
    Await(u32),
    /// Leaves an operation of a group, with this seat.
    Leave(u32),
    /// Is ready for a message.
    Post(u32),
    /// Sends a message.
    Send(u32),
    /// Enters an operation of a group.
    Enter(u32),
}

/// Acts of one container beside opening and closing states, by when: in the order of the walk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Acts {
    /// When the state is opened.
    pub(crate) opening: Vec<(u32, Act)>,
    /// While the state is open: when, and in which.
    pub(crate) within: Vec<(f64, u32, Act)>,
    /// When the state is closed.
    pub(crate) closing: Vec<(u32, Act)>,
}

impl Acts {
    pub(crate) fn sort(&mut self) {
        // Stable, since that is fast with what is in order already, and all are different.
        self.opening.sort();
        self.within.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)).then(a.1.cmp(&b.1)));
        self.closing.sort();
    }

    /// Sorts them for good: no more memory than they need.
    pub(crate) fn finish(&mut self) {
        self.sort();
        self.opening.shrink_to_fit();
        self.within.shrink_to_fit();
        self.closing.shrink_to_fit();
    }

    /// Range of the acts at the closing of a state; `near` is looked at first: behind what was found before.
    pub(crate) fn closing_of(&self, state: u32, near: usize) -> std::ops::Range<usize> {
        let is_behind = |at: usize| self.closing.get(at).is_none_or(|(of, _)| *of >= state);
        let is_first = near == 0 || !is_behind(near - 1);
        let from = match is_first && is_behind(near) {
            true => near,
            false => self.closing.partition_point(|(at, _)| *at < state),
        };
        let count = self.closing[from..].iter().take_while(|(at, _)| *at == state).count();
        from..from + count
    }
}

/// No state.
const NONE: u32 = u32::MAX;

/// A step of a walk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// A state is opened.
    Open(u32),
    /// A state is closed.
    Close(u32),
    /// Something is done within a state: its number among those.
    Within(u32),
    /// Nothing is left.
    End,
}

/// Position of a walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    next: u32,
    /// The innermost open state.
    open: u32,
    within: u32,
    /// Number of [`Acts::opening`] that are behind.
    pub(crate) opened: u32,
    /// The end of those of [`Acts::closing`] that were found last.
    pub(crate) closed: u32,
}

impl Walk {
    pub(crate) const fn new() -> Self {
        Walk { next: 0, open: NONE, within: 0, opened: 0, closed: 0 }
    }

    /// The innermost state, if there is one.
    pub(crate) fn innermost(self) -> Option<u32> {
        (self.open != NONE).then_some(self.open)
    }

    /// The next step, and its time.
    pub(crate) fn peek(self, track: &Track, acts: &Acts) -> (Step, f64) {
        let next = self.next as usize;
        let (step, time) = if next < track.len() {
            let parent = track.parent(next).map_or(NONE, |parent| parent as u32);
            // Of states that overlap, the one that is opened later ends as its own time says.
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
        let Some((at, state, _)) = acts.within.get(self.within as usize) else {
            return (step, time);
        };
        let is_opened = *state < self.next;
        let comes_first = match step {
            Step::Open(_) => *at < time,
            Step::Close(closed) => *at <= time || closed == *state,
            _ => true,
        };
        if is_opened && comes_first { (Step::Within(self.within), *at) } else { (step, time) }
    }

    /// Takes a step.
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
