//! Steps of a container: its states and acts in walking order, for sequential reading.

use crate::walk::{Act, StateAct};

#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    list: Vec<Packed>,
    acts: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Open,
    Within,
    Close,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'s> {
    pub(crate) kind: Kind,
    /// State that is opened or closed, or to which the acts belong.
    pub(crate) state: u32,
    pub(crate) time: f64,
    pub(crate) acts: StepActs<'s>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct StepActs<'s>(&'s [u32]);

impl<'s> StepActs<'s> {
    pub(crate) const NONE: StepActs<'static> = StepActs(&[]);

    pub(crate) fn len(self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Act> + 's {
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

/// Number of bits of a state number. It is below [`Graph::MAX`](crate::Graph::MAX).
const STATE: u32 = 30;

impl Steps {
    /// Bytes of a step, without its acts.
    pub(crate) const STEP: usize = size_of::<Packed>();

    pub(crate) fn with_capacity(states: usize, acts: usize) -> Self {
        // Some acts are separate steps.
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

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns a step. `behind` is the end of the acts of the previous step.
    #[inline(always)]
    pub(crate) fn get(&self, number: u32, behind: u32) -> Option<Step<'_>> {
        let Packed { time, state, until } = *self.list.get(number as usize)?;
        let kind = match state >> STATE {
            0 => Kind::Open,
            1 => Kind::Within,
            _ => Kind::Close,
        };
        let acts = StepActs(&self.acts[behind as usize..until as usize]);
        Some(Step { kind, state: state & ((1 << STATE) - 1), time, acts })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Step<'_>> {
        let behind = std::iter::once(0).chain(self.list.iter().map(|step| step.until));
        (0..self.len() as u32).zip(behind).filter_map(|(at, behind)| self.get(at, behind))
    }

    /// Returns the steps with additional acts. Each act comes with its kind and state.
    pub(crate) fn with(&self, mut more: Vec<(Kind, StateAct)>) -> Self {
        more.sort_unstable_by_key(|(kind, of)| (*kind == Kind::Close, *of));
        let opened = more.partition_point(|(kind, _)| *kind != Kind::Close);
        let (opening, closing) = more.split_at(opened);
        let mut all = Steps::with_capacity(0, self.acts.len() + more.len());
        for step in self.iter() {
            let of = match step.kind {
                Kind::Open => opening,
                Kind::Close => closing,
                Kind::Within => &[],
            };
            let from = of.partition_point(|(_, of)| of.state() < step.state);
            let of = of[from..].iter().take_while(|(_, of)| of.state() == step.state);
            let mut acts: Vec<Act> = step.acts.iter().chain(of.map(|(_, of)| of.act())).collect();
            acts.sort_unstable();
            all.push(step.kind, step.state, step.time, acts.into_iter());
        }
        all
    }

    pub(crate) fn shrink(&mut self) {
        self.list.shrink_to_fit();
        self.acts.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(steps: &Steps) -> Vec<(Kind, u32, Vec<Act>)> {
        steps.iter().map(|step| (step.kind, step.state, step.acts.iter().collect())).collect()
    }

    #[test]
    fn added_acts_are_ordered_by_kind() {
        let mut steps = Steps::default();
        steps.push(Kind::Open, 0, 0.0, [Act::Send(7)].into_iter());
        steps.push(Kind::Open, 1, 1.0, [].into_iter());
        steps.push(Kind::Within, 1, 1.5, [Act::Receive(3)].into_iter());
        steps.push(Kind::Close, 1, 2.0, [Act::Leave(4)].into_iter());
        steps.push(Kind::Close, 0, 3.0, [].into_iter());
        let more = vec![
            (Kind::Close, StateAct::new(1, Act::Await(9))),
            (Kind::Open, StateAct::new(1, Act::Post(2))),
            (Kind::Open, StateAct::new(0, Act::Post(1))),
        ];
        let expected = [
            (Kind::Open, 0, vec![Act::Post(1), Act::Send(7)]),
            (Kind::Open, 1, vec![Act::Post(2)]),
            (Kind::Within, 1, vec![Act::Receive(3)]),
            (Kind::Close, 1, vec![Act::Await(9), Act::Leave(4)]),
            (Kind::Close, 0, vec![]),
        ];
        assert_eq!(listed(&steps.with(more)), expected);
        assert_eq!(listed(&steps.with(Vec::new())), listed(&steps));
    }
}
