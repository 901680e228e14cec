use crate::lanes::refusal::Refused;
use paje_model::memory::{NewState, OpenRow, Rows, Small, StateRoom, Store, Written};
use paje_model::names::ids::ValueId;

/// State of a state lane, which is a stack that events push and pop. It holds the data that is not in the lane's rows.
///
/// Rows are in the order in which they open. Source: lang-paje 1.3.1, "States". An event is out of order if it is
/// earlier than the start or the end of the last row, as in PajeNG 1.3.6.
///
/// The field order matters: the unused bit patterns of the first `bool` distinguish the natures of lanes.
#[derive(Debug)]
#[repr(C)]
pub struct StateLane {
    is_open: bool,
    /// Whether `no_imbrication` applies. As in PajeNG 1.3.6, it does not apply in the root container.
    flat: bool,
    /// Start of the last row, or its end if it has ended.
    not_before: f64,
    /// Rest of the stack, from the bottom up. Boxed because most lanes have none.
    #[allow(clippy::box_collection)]
    below: Option<Box<Vec<OpenRow>>>,
}

impl StateLane {
    pub const fn new(flat: bool) -> Self {
        StateLane { is_open: false, flat, not_before: f64::NEG_INFINITY, below: None }
    }

    pub const fn is_flat(&self) -> bool {
        self.flat
    }

    #[inline]
    pub fn check_order(&self, time: f64) -> Result<(), Refused> {
        if time < self.not_before {
            return Err(Refused::Earlier(self.not_before));
        }
        Ok(())
    }

    /// Does [`StateLane::set`] in the last chunk. Returns `false` if there is no room.
    #[inline(always)]
    pub fn set_in<N: Small>(
        &mut self,
        room: &mut StateRoom<'_, N>,
        time: f64,
        value: ValueId,
    ) -> bool {
        let last = self.is_open.then(|| room.last());
        if !self.below().is_empty() || !self.open_in(room, time, value, 0) {
            return false;
        }
        last.is_none_or(|last| room.end(last, time))
    }

    /// Does [`StateLane::push`] with imbrication in the last chunk. Returns `false` if there is no room.
    #[inline(always)]
    pub fn push_in<N: Small>(
        &mut self,
        room: &mut StateRoom<'_, N>,
        time: f64,
        value: ValueId,
    ) -> bool {
        let top = self.is_open.then(|| room.last());
        let height = self.height();
        if !self.open_in(room, time, value, height) {
            return false;
        }
        if let Some(top) = top {
            self.below.get_or_insert_default().push(top);
        }
        true
    }

    /// Does [`StateLane::pop`] with imbrication. Returns `false` if the state that ends is in another chunk.
    #[inline(always)]
    pub fn pop_in<N: Small>(&mut self, room: &mut StateRoom<'_, N>, time: f64) -> bool {
        if self.is_open {
            room.end_last(time);
            self.last_closed(time);
            return true;
        }
        let ended = self.below().last().is_some_and(|top| room.end(*top, time));
        ended && self.pop_below().is_some()
    }

    #[inline(always)]
    fn open_in<N: Small>(
        &mut self,
        room: &mut StateRoom<'_, N>,
        time: f64,
        value: ValueId,
        imbrication: u32,
    ) -> bool {
        let opened = room.open(time, value, imbrication);
        if opened {
            self.not_before = time;
            self.is_open = true;
        }
        opened
    }

    #[inline(always)]
    fn height(&self) -> u32 {
        self.below().len() as u32 + u32::from(self.is_open)
    }

    #[inline(always)]
    fn below(&self) -> &[OpenRow] {
        self.below.as_ref().map_or(&[], |below| below)
    }

    /// Closes the whole stack and opens a state of imbrication 0.
    #[inline]
    pub fn set(&mut self, lane: &mut Written<'_>, time: f64, value: ValueId) {
        self.close_all(lane, time);
        self.open(lane, time, value, 0);
    }

    /// Opens a state on top of the stack. Without imbrication, the state below ends.
    #[inline]
    pub fn push(&mut self, lane: &mut Written<'_>, time: f64, value: ValueId) {
        let imbrication = self.height();
        let top = match self.is_open {
            true => {
                let top = OpenRow::last_of(lane.rows);
                self.below.get_or_insert_default().push(top);
                Some(top)
            }
            false => self.below().last().copied(),
        };
        if self.flat
            && let Some(top) = top
        {
            // As in PajeNG 1.3.6, the ending row gets the user-defined fields of the push.
            lane.store.close_state(top, time);
        }
        self.open(lane, time, value, imbrication);
    }

    /// Closes the top of the stack. Without imbrication, the state below continues as a new row.
    #[inline]
    pub fn pop(&mut self, lane: &mut Written<'_>, time: f64) -> Result<(), Refused> {
        if self.is_open {
            lane.store.close_state(OpenRow::last_of(lane.rows), time);
            self.last_closed(time);
        } else {
            let top = self.pop_below().ok_or(Refused::EmptyStack)?;
            lane.store.close_state(top, time);
        }
        if self.flat
            && let Some(below) = self.pop_below()
        {
            // As in PajeNG 1.3.6, the pop opens the new row, which gets the user-defined fields of the pop.
            let (value, imbrication) = (lane.store.value_of(below), self.height());
            self.open(lane, time, value, imbrication);
        }
        Ok(())
    }

    #[inline(always)]
    fn pop_below(&mut self) -> Option<OpenRow> {
        self.below.as_mut()?.pop()
    }

    /// Closes the whole stack. As in PajeNG 1.3.6, the user-defined fields of the closing event are not kept, and the
    /// ends of rows that have ended without imbrication are set again.
    #[inline(always)]
    pub fn close_all(&mut self, lane: &mut Written<'_>, time: f64) {
        if self.is_open {
            lane.store.end_state(OpenRow::last_of(lane.rows), time);
            self.last_closed(time);
        }
        if let Some(below) = &mut self.below {
            below.drain(..).for_each(|open| lane.store.end_state(open, time));
        }
    }

    fn stack(&self, rows: &Rows) -> impl Iterator<Item = OpenRow> {
        let top = self.is_open.then(|| OpenRow::last_of(rows));
        self.below().iter().copied().chain(top)
    }

    /// Sets the ends of open rows to NaN, which hides the rows, and appends their ends without imbrication to `ends`.
    pub fn hide_open(&mut self, lane: &mut Written<'_>, ends: &mut Vec<f64>) {
        for open in self.stack(lane.rows) {
            ends.push(lane.store.end_of(open));
            lane.store.end_state(open, f64::NAN);
        }
    }

    /// Forgets all rows except the stack, which moves to a new store together with its hidden `ends`.
    pub fn forget_rows(
        &mut self,
        rows: &mut Rows,
        old: &Store,
        new: &mut Store,
        ends: &mut impl Iterator<Item = f64>,
    ) {
        let before = std::mem::take(rows);
        let stack: Vec<OpenRow> = self.stack(&before).collect();
        let mut below = self.below.iter_mut().flat_map(|below| below.iter_mut());
        for (open, imbrication) in stack.into_iter().zip(0..) {
            let (start, value) = (old.start_of(open), old.value_of(open));
            let extra = new.carry_extras(old, old.extras_of(open));
            new.begin_event(extra.opening);
            let row = new.open_state(rows, NewState { start, value, imbrication });
            new.begin_event(extra.closing);
            new.close_state(row, ends.next().unwrap_or(f64::NAN));
            // The top of the stack is the last row.
            if let Some(below) = below.next() {
                *below = row;
            }
        }
    }

    pub fn open_values<'a>(
        &self,
        rows: &Rows,
        store: &'a Store,
    ) -> impl Iterator<Item = ValueId> + use<'a> {
        let stack: Vec<OpenRow> = self.stack(rows).collect();
        stack.into_iter().map(|open| store.value_of(open))
    }

    #[inline(always)]
    fn last_closed(&mut self, time: f64) {
        if self.is_open {
            self.is_open = false;
            if time > self.not_before {
                self.not_before = time;
            }
        }
    }

    #[inline]
    fn open(&mut self, lane: &mut Written<'_>, time: f64, value: ValueId, imbrication: u32) {
        let state = NewState { start: time, value, imbrication };
        lane.store.open_state(lane.rows, state);
        self.not_before = time;
        self.is_open = true;
    }
}
