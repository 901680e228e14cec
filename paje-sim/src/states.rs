//! States of one container and type: a stack that events push and pop.

use crate::columns::Rows;
use crate::engine::strand::Refused;
use crate::ids::ValueId;
use crate::store::{NewState, OpenRow, Store};

/// The replay of one state lane.
///
/// Rows are in order of opening, not of closing. Source: lang-paje 1.3.1, "States"; which event is
/// out of order is as PajeNG 1.3.6 decides: one earlier than the start or the end of the last row.
#[derive(Debug)]
pub(crate) struct StateLane {
    pub(crate) rows: Rows,
    stack: Vec<OpenState>,
    last_start: f64,
    /// `NEG_INFINITY` while the last row is open; it is then the top of the stack.
    last_end: f64,
}

#[derive(Clone, Copy, Debug)]
struct OpenState {
    row: OpenRow,
    start: f64,
    /// The end that its row has already, while that is hidden; not a number if it has none.
    end: f64,
    value: ValueId,
    imbrication: u32,
}

impl Default for StateLane {
    fn default() -> Self {
        StateLane {
            rows: Rows::default(),
            stack: Vec::new(),
            last_start: f64::NEG_INFINITY,
            last_end: f64::NEG_INFINITY,
        }
    }
}

impl StateLane {
    /// Looks at what the next events will need.
    #[inline]
    pub(crate) fn touch(&self, store: &Store) -> u64 {
        let top = self.stack.last().map_or(0, |open| store.end_of(open.row).to_bits());
        top ^ self.rows.touch(&store.arena)
    }

    #[inline]
    pub(crate) fn check_order(&self, time: f64) -> Result<(), Refused> {
        if time < self.last_start || time < self.last_end {
            return Err(Refused::Earlier(self.last_start.max(self.last_end)));
        }
        Ok(())
    }

    /// Closes the whole stack and opens a state of imbrication 0.
    #[inline]
    pub(crate) fn set(&mut self, store: &mut Store, time: f64, value: ValueId, extra: u32) {
        self.close_all(store, time);
        self.open(store, time, value, 0, extra);
    }

    /// Opens a state on top of the stack. Without imbrication, the one below ends.
    #[inline]
    pub(crate) fn push(
        &mut self,
        store: &mut Store,
        time: f64,
        value: ValueId,
        extra: u32,
        no_imbrication: bool,
    ) {
        let top = self.stack.last();
        let imbrication = top.map_or(0, |below| below.imbrication + 1);
        if no_imbrication && let Some(below) = top {
            // With the push's user-defined fields: PajeNG 1.3.6 behaviour.
            store.close_state(below.row, time, extra);
        }
        self.open(store, time, value, imbrication, extra);
    }

    /// Closes the top of the stack. Without imbrication, the one below goes on as a new row.
    #[inline]
    pub(crate) fn pop(
        &mut self,
        store: &mut Store,
        time: f64,
        extra: u32,
        no_imbrication: bool,
    ) -> Result<(), Refused> {
        let top = self.stack.pop().ok_or(Refused::EmptyStack)?;
        store.close_state(top.row, time, extra);
        self.last_closed(time);
        if no_imbrication && let Some(below) = self.stack.pop() {
            // The new row was opened by the pop, whose user-defined fields it has: PajeNG 1.3.6
            // behaviour.
            self.open(store, time, below.value, below.imbrication, extra);
        }
        Ok(())
    }

    /// Closes the whole stack. The user-defined fields of the event that does so are not kept, and
    /// rows that were ended before without imbrication end again: PajeNG 1.3.6 behaviour.
    pub(crate) fn close_all(&mut self, store: &mut Store, time: f64) {
        if self.stack.is_empty() {
            return;
        }
        for open in self.stack.drain(..) {
            store.end_state(open.row, time);
        }
        self.last_closed(time);
    }

    /// Ends the rows of what is on the stack nowhere, so that they are not seen. Without imbrication they
    /// may have an end already, but may yet get another.
    pub(crate) fn hide_open(&mut self, store: &mut Store) {
        for open in &mut self.stack {
            open.end = store.end_of(open.row);
            store.end_state(open.row, f64::NAN);
        }
    }

    /// Forgets all rows, and carries what is on the stack over to a new store.
    pub(crate) fn start_afresh(&mut self, old: &Store, new: &mut Store) {
        self.rows = Rows::default();
        for open in &mut self.stack {
            let OpenState { row, start, end, value, imbrication } = *open;
            let extra = new.carry_extras(old, old.extras_of(row));
            let state = NewState { start, value, imbrication, extra: extra.opening };
            open.row = new.open_state(&mut self.rows, state);
            new.close_state(open.row, end, extra.closing);
        }
    }

    /// The values of what is on the stack, from the bottom up.
    pub(crate) fn open_values(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.stack.iter().map(|open| open.value)
    }

    fn last_closed(&mut self, time: f64) {
        if self.last_end == f64::NEG_INFINITY {
            self.last_end = time;
        }
    }

    #[inline]
    fn open(&mut self, store: &mut Store, time: f64, value: ValueId, imbrication: u32, extra: u32) {
        let state = NewState { start: time, value, imbrication, extra };
        let row = store.open_state(&mut self.rows, state);
        self.last_start = time;
        self.last_end = f64::NEG_INFINITY;
        self.stack.push(OpenState { row, start: time, end: f64::NAN, value, imbrication });
    }
}
