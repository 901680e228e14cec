//! Variables of one container and type: a number that changes in time.

use crate::columns::Rows;
use crate::engine::strand::Refused;
use crate::store::{ExtraPair, Store};

/// The replay of one variable lane. Each row lasts until the next one's start.
#[derive(Debug, Default)]
pub(crate) struct VariableLane {
    /// All rows but the current one.
    pub(crate) rows: Rows,
    current: Option<Current>,
}

#[derive(Clone, Copy, Debug)]
struct Current {
    start: f64,
    value: f64,
    extra: u32,
}

impl VariableLane {
    #[inline]
    pub(crate) fn check_order(&self, time: f64) -> Result<(), Refused> {
        match self.current {
            Some(current) if time < current.start => Err(Refused::Earlier(current.start)),
            _ => Ok(()),
        }
    }

    /// Begins a new row; at the same time as the current one's start, replaces its value.
    #[inline]
    pub(crate) fn set(&mut self, store: &mut Store, time: f64, value: f64, extra: u32) {
        match &mut self.current {
            Some(current) if current.start == time => current.value = value,
            Some(current) => {
                store.variable(&mut self.rows, current.start, current.value, current.extra);
                *current = Current { start: time, value, extra };
            }
            None => {
                self.current = Some(Current { start: time, value, extra });
            }
        }
    }

    /// Adds to the current value, in the order of the file: the last bit depends on it.
    #[inline]
    pub(crate) fn add(
        &mut self,
        store: &mut Store,
        time: f64,
        change: f64,
        extra: u32,
    ) -> Result<(), Refused> {
        let current = self.current.ok_or(Refused::Unset)?;
        self.set(store, time, current.value + change, extra);
        Ok(())
    }

    /// Until when the last of the rows lasts, if another follows.
    pub(crate) fn current_start(&self) -> Option<f64> {
        self.current.map(|current| current.start)
    }

    /// Forgets all rows, and carries the current one over to a new store.
    pub(crate) fn start_afresh(&mut self, old: &Store, new: &mut Store) {
        self.rows = Rows::default();
        if let Some(current) = &mut self.current {
            let extra = ExtraPair { opening: current.extra, closing: 0 };
            current.extra = new.carry_extras(old, extra).opening;
        }
    }

    /// The container ends: the current row is the last.
    pub(crate) fn close(&mut self, store: &mut Store) {
        if let Some(last) = self.current.take() {
            store.variable(&mut self.rows, last.start, last.value, last.extra);
        }
    }
}
