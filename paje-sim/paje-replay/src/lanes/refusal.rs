use paje_parser::LinkEnd;

use paje_model::names::ids::{LaneId, ValueId};
use paje_model::names::recovered::Remedy;

/// Reason why a lane refuses an event. It holds no message, because only the first problem of a trace needs one.
#[derive(Clone, Copy, Debug)]
pub enum Refused {
    /// The lane already has an event at this later time.
    Earlier(f64),
    EmptyStack,
    Unset,
    /// The open link with this key already has this end.
    KeyRepeated(LinkEnd),
    /// The other end of the link has another value.
    ValuesDiffer {
        value: ValueId,
        other: ValueId,
    },
    /// The link completes earlier than the lane's last link. Only in damaged traces.
    LateLink(f64),
    /// The container at this end is unknown. Only in damaged traces.
    Nowhere(LinkEnd),
}

#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    pub at: u64,
    pub lane: LaneId,
    pub time: f64,
    pub why: Refused,
}

impl Refused {
    pub const fn remedy(self) -> Remedy {
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

/// Counts refused events, and keeps the first of each kind.
#[derive(Debug, Default)]
pub struct Refusals {
    pub first: [Option<(Refusal, u64)>; 8],
}

impl Refusals {
    pub fn add(&mut self, refusal: Refusal, more: u64) {
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

    pub fn take(&mut self, others: &mut Refusals) {
        for (refusal, count) in std::mem::take(&mut others.first).into_iter().flatten() {
            self.add(refusal, count);
        }
    }
}

/// Result of replaying a slice of events. An error has the index of the first refused event, and the reason.
pub type Checked = Result<(), (usize, Refused)>;
