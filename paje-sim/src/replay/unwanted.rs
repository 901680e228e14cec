//! Lanes whose rows nobody wants: their events are checked as in any other, unless lines of a sound trace may be missing, and nothing
//! of them is kept.
//! Those of links are not here, for their keys must be kept to be checked.

use crate::decode::decoded::{LaneEvent, Op};
use crate::lanes::refusal::{Checked, Refused};

/// Facts about a lane that the checks of its next event depend on.
#[derive(Debug)]
pub(crate) enum Unwanted {
    /// Of states: as in `StateLane`, with the stack's height in place of the stack.
    State { is_open: bool, flat: bool, height: u32, not_before: f64 },
    /// Of variables: when the current value began; not a number if there is none.
    Variable { start: f64 },
    /// Of events: the time of the last.
    Event { last: f64 },
    /// Of any nature: nothing is checked.
    Anything,
}

impl Unwanted {
    pub(crate) const VARIABLES: Self = Unwanted::Variable { start: f64::NAN };
    pub(crate) const EVENTS: Self = Unwanted::Event { last: f64::NEG_INFINITY };

    /// A lane of states, to which the options' `no_imbrication` applies if it is `flat`.
    pub(crate) const fn states(flat: bool) -> Self {
        Unwanted::State { is_open: false, flat, height: 0, not_before: f64::NEG_INFINITY }
    }

    /// Checks events of the lane.
    pub(crate) fn check(&mut self, events: &[LaneEvent]) -> Checked {
        if matches!(self, Unwanted::Anything) {
            return Ok(());
        }
        for (i, event) in events.iter().enumerate() {
            self.check_one(event.time, event.op()).map_err(|why| (i, why))?;
        }
        Ok(())
    }

    #[inline]
    fn check_one(&mut self, time: f64, op: Op) -> Result<(), Refused> {
        match self {
            Unwanted::State { is_open, flat, height, not_before } => {
                if time < *not_before {
                    return Err(Refused::Earlier(*not_before));
                }
                let closes = match op {
                    Op::PushState => false,
                    Op::PopState if *height == 0 => return Err(Refused::EmptyStack),
                    Op::PopState => true,
                    _ => *height > 0,
                };
                if closes && *is_open {
                    (*is_open, *not_before) = (false, time);
                }
                *height = match op {
                    Op::PushState => *height + 1,
                    Op::PopState => *height - 1,
                    Op::SetState => 1,
                    _ => 0,
                };
                // Without imbrication, a pop opens what is below anew.
                let opens = matches!(op, Op::PushState | Op::SetState);
                if opens || *flat && matches!(op, Op::PopState) && *height > 0 {
                    (*is_open, *not_before) = (true, time);
                }
            }
            Unwanted::Variable { start } => {
                if time < *start {
                    return Err(Refused::Earlier(*start));
                }
                if start.is_nan() && matches!(op, Op::AddVariable | Op::SubVariable) {
                    return Err(Refused::Unset);
                }
                *start = time;
            }
            Unwanted::Anything => {}
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
