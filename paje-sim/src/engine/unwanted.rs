//! Lanes whose rows nobody wants: their events are checked as in any other, and nothing of them is kept.
//! Those of links are not here, for their keys must be kept to be checked.

use paje_parser::TypeNature;

use super::decode::{LaneEvent, Op};
use super::strand::{Refused, Replayed};

/// What the checks of a lane's next event depend on.
#[derive(Debug)]
pub(crate) enum Unwanted {
    /// Of states: as in `StateLane`, with the stack's height in place of the stack.
    State { last_start: f64, last_end: f64, height: usize },
    /// Of variables: when the current value began.
    Variable { start: Option<f64> },
    /// Of events: the time of the last.
    Event { last: f64 },
}

impl Unwanted {
    /// A lane of this nature, unless it is of links.
    pub(crate) fn new(nature: TypeNature) -> Option<Self> {
        const NEVER: f64 = f64::NEG_INFINITY;
        match nature {
            TypeNature::State | TypeNature::Container => {
                Some(Unwanted::State { last_start: NEVER, last_end: NEVER, height: 0 })
            }
            TypeNature::Variable => Some(Unwanted::Variable { start: None }),
            TypeNature::Event => Some(Unwanted::Event { last: NEVER }),
            TypeNature::Link => None,
        }
    }

    /// Checks events of the lane.
    pub(super) fn check(&mut self, events: &[LaneEvent], flat: bool) -> Replayed {
        for (i, event) in events.iter().enumerate() {
            self.check_one(event.time, event.op(), flat).map_err(|why| (i, why))?;
        }
        Ok(())
    }

    #[inline]
    fn check_one(&mut self, time: f64, op: Op, flat: bool) -> Result<(), Refused> {
        match self {
            Unwanted::State { last_start, last_end, height } => {
                if time < *last_start || time < *last_end {
                    return Err(Refused::Earlier(last_start.max(*last_end)));
                }
                let closes = match op {
                    Op::PushState => false,
                    Op::PopState if *height == 0 => return Err(Refused::EmptyStack),
                    Op::PopState => true,
                    _ => *height > 0,
                };
                if closes && *last_end == f64::NEG_INFINITY {
                    *last_end = time;
                }
                *height = match op {
                    Op::PushState => *height + 1,
                    Op::PopState => *height - 1,
                    Op::SetState => 1,
                    _ => 0,
                };
                // Without imbrication, a pop opens what is below anew.
                let opens = matches!(op, Op::PushState | Op::SetState);
                if opens || flat && matches!(op, Op::PopState) && *height > 0 {
                    (*last_start, *last_end) = (time, f64::NEG_INFINITY);
                }
            }
            Unwanted::Variable { start } => {
                match *start {
                    Some(start) if time < start => return Err(Refused::Earlier(start)),
                    None if matches!(op, Op::AddVariable | Op::SubVariable) => {
                        return Err(Refused::Unset);
                    }
                    _ => {}
                }
                *start = Some(time);
            }
            Unwanted::Event { last } => {
                if time < *last {
                    return Err(Refused::Earlier(*last));
                }
                *last = time;
            }
        }
        Ok(())
    }
}
