//! Events that lanes refuse, and why.

use paje_parser::LinkEnd;

use crate::names::ids::{LaneId, ValueId};
use crate::names::recovered::Remedy;

/// Why a lane refuses an event. Small; the sentence is made when it is the first problem of all.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refused {
    /// Not in time order: the lane is already at this time.
    Earlier(f64),
    EmptyStack,
    Unset,
    /// The key has this end already.
    KeyRepeated(LinkEnd),
    /// The link's other end has another value.
    ValuesDiffer {
        value: ValueId,
        other: ValueId,
    },
    /// A link that is completed earlier than the lane's last: only of a damaged trace.
    LateLink(f64),
    /// The container at this end means nothing: only of a damaged trace.
    Nowhere(LinkEnd),
}

/// An event that a lane refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    /// The byte where the event's line begins.
    pub(crate) at: u64,
    pub(crate) lane: LaneId,
    pub(crate) time: f64,
    pub(crate) why: Refused,
}

impl Refused {
    /// Remedy for an event that is refused so.
    pub(crate) const fn remedy(self) -> Remedy {
        match self {
            Refused::Earlier(_)
            | Refused::EmptyStack
            | Refused::KeyRepeated(_)
            | Refused::Nowhere(_) => Remedy::Skipped,
            Refused::LateLink(_) | Refused::Unset | Refused::ValuesDiffer { .. } => Remedy::Kept,
        }
    }

    const fn number(self) -> usize {
        match self {
            Refused::Earlier(_) => 0,
            Refused::EmptyStack => 1,
            Refused::Unset => 2,
            Refused::KeyRepeated(_) => 3,
            Refused::ValuesDiffer { .. } => 4,
            Refused::LateLink(_) => 5,
            Refused::Nowhere(LinkEnd::Start) => 6,
            Refused::Nowhere(LinkEnd::End) => 7,
        }
    }
}

/// Events that lanes refused, by why: the first, and how many.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    pub(crate) first: [Option<(Refusal, u64)>; 8],
    /// All of them, if somebody wants to know.
    pub(crate) all: Option<Vec<Refusal>>,
}

impl Refusals {
    /// If they are `listed`, each is kept, not only the first of each kind.
    pub(crate) fn new(listed: bool) -> Self {
        Refusals { all: listed.then(Vec::new), ..Refusals::default() }
    }

    pub(crate) fn add(&mut self, refusal: Refusal) {
        self.add_many(refusal, 1);
        if let Some(all) = &mut self.all {
            all.push(refusal);
        }
    }

    fn add_many(&mut self, refusal: Refusal, more: u64) {
        match &mut self.first[refusal.why.number()] {
            Some((first, count)) => {
                *count += more;
                if refusal.at < first.at {
                    *first = refusal;
                }
            }
            none => *none = Some((refusal, more)),
        }
    }

    /// Takes over what others have counted.
    pub(crate) fn take(&mut self, others: &mut Refusals) {
        for (refusal, count) in std::mem::take(&mut others.first).into_iter().flatten() {
            self.add_many(refusal, count);
        }
        if let Some(more) = &mut others.all {
            self.all.get_or_insert_default().append(more);
        }
    }
}

/// All events of a slice were right; or which is refused, and why.
pub(crate) type Checked = Result<(), (usize, Refused)>;
