//! Variables of one container and type: a number that changes in time.

use crate::lanes::refusal::Refused;
use crate::memory::{ExtraPair, Store, VariableRoom, Written};

/// The replay of one variable lane. Each row lasts until the next one's start; all are written but the
/// current one, which is here. Packed, so that the nature of a lane fits beside it.
#[derive(Debug)]
#[repr(C, packed(4))]
pub(crate) struct VariableLane {
    /// When the current row began; not a number if there is none.
    start: f64,
    /// Value of the current row; like the field below, without meaning if there is none.
    value: f64,
    extra: u32,
}

impl Default for VariableLane {
    fn default() -> Self {
        VariableLane { start: f64::NAN, value: 0.0, extra: 0 }
    }
}

impl VariableLane {
    #[inline]
    pub(crate) fn check_order(&self, time: f64) -> Result<(), Refused> {
        if time < self.start {
            return Err(Refused::Earlier(self.start));
        }
        Ok(())
    }

    /// Begins a new row; at the same time as the current one's start, replaces its value.
    #[inline]
    pub(crate) fn set(&mut self, lane: &mut Written<'_>, time: f64, value: f64) {
        if self.is_set() {
            if self.start == time {
                self.value = value;
                return;
            }
            lane.store.variable(lane.rows, self.start, self.value, self.extra);
        }
        *self = VariableLane { start: time, value, extra: lane.store.extra() };
    }

    /// Adds to the current value, in the order of the file: the last bit depends on it.
    #[inline]
    pub(crate) fn add(
        &mut self,
        lane: &mut Written<'_>,
        time: f64,
        change: f64,
    ) -> Result<(), Refused> {
        if !self.is_set() {
            return Err(Refused::Unset);
        }
        self.set(lane, time, self.value + change);
        Ok(())
    }

    /// [`VariableLane::set`] in the last chunk of the rows, if there is a current row, and room for it.
    #[inline(always)]
    pub(crate) fn set_in(&mut self, room: &mut VariableRoom<'_>, time: f64, value: f64) -> bool {
        if self.start == time {
            self.value = value;
            return true;
        }
        if !self.is_set() || !room.push(self.start, self.value) {
            return false;
        }
        (self.start, self.value) = (time, value);
        true
    }

    /// [`VariableLane::add`] likewise.
    #[inline(always)]
    pub(crate) fn add_in(&mut self, room: &mut VariableRoom<'_>, time: f64, change: f64) -> bool {
        self.set_in(room, time, self.value + change)
    }

    /// Until when the last of the rows lasts, if another follows.
    pub(crate) fn current_start(&self) -> Option<f64> {
        self.is_set().then_some(self.start)
    }

    fn is_set(&self) -> bool {
        !{ self.start }.is_nan()
    }

    /// All rows are forgotten: carries the current one over to a new store.
    pub(crate) fn start_afresh(&mut self, old: &Store, new: &mut Store) {
        if self.is_set() {
            let extra = ExtraPair { opening: self.extra, closing: 0 };
            self.extra = new.carry_extras(old, extra).opening;
        }
    }

    /// The container ends: the current row is the last.
    pub(crate) fn close(&mut self, lane: &mut Written<'_>) {
        if self.is_set() {
            lane.store.variable(lane.rows, self.start, self.value, self.extra);
            self.start = f64::NAN;
        }
    }
}
