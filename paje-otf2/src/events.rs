//! The events of a location.

use crate::bytes::{Cursor, Found, Order};
use crate::chunks::{CUT, mark, payload};
use crate::maps::{Clock, Maps};
use crate::record::{Values, identifier};
use crate::table::{EVENTS, Reference};

/// Numbers of the events that the code treats specially.
pub(crate) mod event {
    pub(crate) const BUFFER_FLUSH: u8 = 10;
    pub(crate) const ENTER: u8 = 12;
    pub(crate) const LEAVE: u8 = 13;
    pub(crate) const SEND: u8 = 14;
    pub(crate) const ISEND: u8 = 15;
    pub(crate) const ISEND_COMPLETE: u8 = 16;
    pub(crate) const IRECV_REQUEST: u8 = 17;
    pub(crate) const RECV: u8 = 18;
    pub(crate) const IRECV: u8 = 19;
    pub(crate) const METRIC: u8 = 31;
    pub(crate) const PARAMETER_STRING: u8 = 32;
    pub(crate) const CALLING_CONTEXT_ENTER: u8 = 66;
    pub(crate) const CALLING_CONTEXT_LEAVE: u8 = 67;
}

/// Returns whether an event is one end of a message.
#[inline]
pub(crate) const fn is_message(kind: u8) -> bool {
    matches!(kind, event::SEND | event::ISEND | event::RECV | event::IRECV)
}

/// An event. Its fields are in [`Values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Number of its record in the [table](EVENTS), which may lack it.
    pub kind: u8,
    /// Corrected time, in ticks.
    pub time: u64,
}

/// Reason why the events of a chunk end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Another chunk follows.
    Chunk,
    /// The file ends.
    File,
}

/// The events of a chunk, or of a part of it.
pub struct Events<'b> {
    cursor: Cursor<'b>,
    maps: &'b Maps,
    clock: &'b Clock,
    raw_time: u64,
    kind: u8,
    time: u64,
    end: Option<End>,
    /// Kinds of events whose fields are not read.
    passed: [bool; 256],
}

impl<'b> Events<'b> {
    /// Creates them from some records of a chunk. `time` is the time of the previous event.
    pub(crate) fn new(cursor: Cursor<'b>, maps: &'b Maps, clock: &'b Clock, time: u64) -> Self {
        let corrected = clock.correct(time);
        Events {
            cursor,
            maps,
            clock,
            raw_time: time,
            kind: 0,
            time: corrected,
            end: None,
            passed: [false; 256],
        }
    }

    /// Does not read the fields of later events of a kind, unless they have attributes.
    pub(crate) const fn pass_fields(&mut self, kind: u8) {
        self.passed[kind as usize] = true;
    }

    pub(crate) const fn order(&self) -> Order {
        self.cursor.order()
    }

    /// Returns the byte of the file where the next event begins.
    pub(crate) const fn place(&self) -> u64 {
        self.cursor.place()
    }

    /// Returns the last time, as it was recorded.
    pub(crate) const fn raw_time(&self) -> u64 {
        self.raw_time
    }

    /// Returns the reason why the events ended.
    pub(crate) const fn end(&self) -> Option<End> {
        self.end
    }

    /// Returns the last event that has been read.
    #[inline(always)]
    pub(crate) const fn event(&self) -> Event {
        Event { kind: self.kind, time: self.time }
    }

    /// Reads the next event if it enters or leaves a region or is about a request, as most events
    /// do. Otherwise returns `false`, and [`unusual`](Events::unusual) reads it.
    #[inline(always)]
    pub(crate) fn usual(&mut self, values: &mut Values) -> bool {
        values.attributes.clear();
        let Some(bytes) = self.cursor.ahead::<19>() else { return false };
        let order = self.cursor.order();
        let (kind, id) = if bytes[0] == mark::TIME {
            let [_, time @ .., _, _, _, _, _, _, _, _, _, _] = bytes;
            let [_, _, _, _, _, _, _, _, _, kind, id @ ..] = bytes;
            self.turn_to(order.number64(*time));
            self.cursor.pass(9);
            (*kind, id)
        } else {
            let [kind, id @ .., _, _, _, _, _, _, _, _, _] = bytes;
            (*kind, id)
        };
        let is_state = kind == event::ENTER || kind == event::LEAVE;
        if !is_state && kind != event::ISEND_COMPLETE && kind != event::IRECV_REQUEST {
            return false;
        }
        let Some((id, length)) = order.compressed(id, if is_state { 4 } else { 8 }) else {
            return false;
        };
        self.cursor.pass(1 + length);
        self.kind = kind;
        values.fields[0] = if is_state { self.region(id) } else { id };
        true
    }

    #[inline(always)]
    fn turn_to(&mut self, raw_time: u64) {
        self.raw_time = raw_time;
        self.time = self.clock.correct(raw_time);
    }

    #[inline(always)]
    fn region(&self, id: u64) -> u64 {
        let id = if id == u32::MAX.into() { u64::MAX } else { id };
        self.maps.global(Reference::Region, id)
    }

    /// Reads the next event. Returns `false` at the end.
    #[inline(never)]
    pub(crate) fn unusual(&mut self, values: &mut Values) -> Found<bool> {
        loop {
            if self.cursor.is_at_end() {
                return Ok(false);
            }
            let damage = self.cursor.damage(CUT);
            let kind = self.cursor.byte().map_err(|_| damage)?;
            match kind {
                mark::TIME => {
                    let time = self.cursor.fixed64()?;
                    self.turn_to(time);
                }
                event::ENTER | event::LEAVE => {
                    let id = self.cursor.word()?;
                    values.fields[0] = self.region(id.into());
                    self.kind = kind;
                    return Ok(true);
                }
                mark::ATTRIBUTES => {
                    let mut payload = payload(&mut self.cursor)?;
                    values.read_attributes(&mut payload, self.maps)?;
                }
                mark::END_OF_CHUNK => {
                    self.end = Some(End::Chunk);
                    return Ok(false);
                }
                mark::END_OF_FILE => {
                    self.end = Some(End::File);
                    return Ok(false);
                }
                kind if kind >= event::BUFFER_FLUSH => {
                    self.kind = kind;
                    return self.other(kind, values).map(|()| true);
                }
                _ => {
                    let damage = crate::bytes::Damage { what: "no event begins here", ..damage };
                    return Err(damage);
                }
            }
        }
    }

    fn other(&mut self, kind: u8, values: &mut Values) -> Found<()> {
        let is_passed = self.passed[usize::from(kind)] && values.attributes.is_empty();
        let Some(record) = EVENTS.get(kind).filter(|record| !is_passed || record.bare) else {
            values.list.clear();
            return payload(&mut self.cursor).map(|_| ());
        };
        if is_message(kind) {
            // These are the most frequent records with several fields.
            let mut payload = payload(&mut self.cursor)?;
            let rank = payload.word()?;
            let comm = identifier(Reference::Comm, &mut payload)?;
            let (tag, length) = (payload.word()?, payload.long()?);
            let has_request = matches!(kind, event::ISEND | event::IRECV);
            let request = if has_request { payload.long()? } else { 0 };
            let comm = self.maps.global(Reference::Comm, comm);
            values.fields[..5].copy_from_slice(&[rank.into(), comm, tag.into(), length, request]);
            values.list.clear();
        } else if record.bare {
            values.read(record, &mut self.cursor, Some(self.maps))?;
        } else {
            values.read(record, &mut payload(&mut self.cursor)?, Some(self.maps))?;
        }
        if kind == event::BUFFER_FLUSH {
            values.fields[0] = self.clock.correct(values.fields[0]);
        }
        Ok(())
    }
}
