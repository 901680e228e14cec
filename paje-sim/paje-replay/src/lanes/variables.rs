use crate::lanes::refusal::Refused;
use paje_model::memory::{ExtraPair, Store, VariableRoom, Written};

/// State of a variable lane. A row lasts until the next row starts, so the current row is not written yet. The struct
/// is packed, so that the nature of the lane fits beside it.
#[derive(Debug)]
#[repr(C, packed(4))]
pub struct VariableLane {
    /// Start of the current row, or NaN if the variable has no value yet.
    start: f64,
    /// Value of the current row. Unused if no row has started.
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
    pub fn check_order(&self, time: f64) -> Result<(), Refused> {
        if time < self.start {
            return Err(Refused::Earlier(self.start));
        }
        Ok(())
    }

    /// Begins a new row, or replaces the value of a row that started at the same time.
    #[inline]
    pub fn set(&mut self, lane: &mut Written<'_>, time: f64, value: f64) {
        if self.is_set() {
            if self.start == time {
                self.value = value;
                return;
            }
            lane.store.variable(lane.rows, self.start, self.value, self.extra);
        }
        *self = VariableLane { start: time, value, extra: lane.store.extra() };
    }

    /// Adds to the current value. Additions are in file order, because the order can change the last bit of the sum.
    #[inline]
    pub fn add(&mut self, lane: &mut Written<'_>, time: f64, change: f64) -> Result<(), Refused> {
        if !self.is_set() {
            return Err(Refused::Unset);
        }
        self.set(lane, time, self.value + change);
        Ok(())
    }

    /// Does [`VariableLane::set`] in the last chunk. Returns `false` if there is no current row or no room for it.
    #[inline(always)]
    pub fn set_in(&mut self, room: &mut VariableRoom<'_>, time: f64, value: f64) -> bool {
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

    #[inline(always)]
    pub fn add_in(&mut self, room: &mut VariableRoom<'_>, time: f64, change: f64) -> bool {
        self.set_in(room, time, self.value + change)
    }

    /// Returns the start of the current row, which is the end of the last written row.
    pub fn current_start(&self) -> Option<f64> {
        self.is_set().then_some(self.start)
    }

    fn is_set(&self) -> bool {
        !{ self.start }.is_nan()
    }

    pub fn forget_rows(&mut self, old: &Store, new: &mut Store) {
        if self.is_set() {
            let extra = ExtraPair { opening: self.extra, closing: 0 };
            self.extra = new.carry_extras(old, extra).opening;
        }
    }

    pub fn close(&mut self, lane: &mut Written<'_>) {
        if self.is_set() {
            lane.store.variable(lane.rows, self.start, self.value, self.extra);
            self.start = f64::NAN;
        }
    }
}
