//! Lanes that check their events but keep no rows. Link lanes are not among them, because checking links needs the
//! keys.

use crate::lanes::refusal::{Checked, Refused};
use paje_decode::decode::decoded::{LaneEvent, Op};

#[derive(Debug)]
pub enum CheckOnlyLane {
    /// A state lane. Unlike `StateLane`, it only knows the height of the stack.
    State {
        is_open: bool,
        flat: bool,
        height: u32,
        not_before: f64,
    },
    Variable {
        start: f64,
    },
    Event {
        last: f64,
    },
    /// A lane of any nature, which checks nothing, because some of its lines may have been left out.
    Anything,
}

impl CheckOnlyLane {
    pub const VARIABLES: Self = CheckOnlyLane::Variable { start: f64::NAN };
    pub const EVENTS: Self = CheckOnlyLane::Event { last: f64::NEG_INFINITY };

    /// Creates a state lane. If `flat` is true, `no_imbrication` applies.
    pub const fn states(flat: bool) -> Self {
        CheckOnlyLane::State { is_open: false, flat, height: 0, not_before: f64::NEG_INFINITY }
    }

    pub fn check(&mut self, events: &[LaneEvent]) -> Checked {
        if matches!(self, CheckOnlyLane::Anything) {
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
            CheckOnlyLane::State { is_open, flat, height, not_before } => {
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
                // Without imbrication, a pop reopens the state below.
                let opens = matches!(op, Op::PushState | Op::SetState);
                if opens || *flat && matches!(op, Op::PopState) && *height > 0 {
                    (*is_open, *not_before) = (true, time);
                }
            }
            CheckOnlyLane::Variable { start } => {
                if time < *start {
                    return Err(Refused::Earlier(*start));
                }
                if start.is_nan() && matches!(op, Op::AddVariable | Op::SubVariable) {
                    return Err(Refused::Unset);
                }
                *start = time;
            }
            CheckOnlyLane::Anything => {}
            CheckOnlyLane::Event { last } => {
                if time < *last {
                    return Err(Refused::Earlier(*last));
                }
                *last = time;
            }
        }
        Ok(())
    }
}
