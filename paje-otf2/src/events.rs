//! The events of a location.

use crate::bytes::{Cursor, Found, Order};
use crate::chunks::{CUT, mark, payload};
use crate::maps::{Clock, Maps};
use crate::record::Values;
use crate::table::{EVENTS, Reference};

/// Numbers of the events that others than the tables know.
pub(crate) mod event {
    pub(crate) const BUFFER_FLUSH: u8 = 10;
    pub(crate) const ENTER: u8 = 12;
    pub(crate) const LEAVE: u8 = 13;
    pub(crate) const SEND: u8 = 14;
    pub(crate) const ISEND: u8 = 15;
    pub(crate) const IRECV_REQUEST: u8 = 17;
    pub(crate) const RECV: u8 = 18;
    pub(crate) const IRECV: u8 = 19;
    pub(crate) const METRIC: u8 = 31;
    pub(crate) const CALLING_CONTEXT_ENTER: u8 = 66;
    pub(crate) const CALLING_CONTEXT_LEAVE: u8 = 67;
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
    time: u64,
    end: Option<End>,
    /// Whether the bytes may end without an end mark.
    is_part: bool,
}

impl<'b> Events<'b> {
    /// Creates them from the records of a chunk. `time` is that of the event before.
    pub(crate) fn new(cursor: Cursor<'b>, maps: &'b Maps, clock: &'b Clock, time: u64) -> Self {
        let corrected = clock.correct(time);
        Events { cursor, maps, clock, raw_time: time, time: corrected, end: None, is_part: false }
    }

    /// Creates them from some records of a chunk.
    pub(crate) fn part(cursor: Cursor<'b>, maps: &'b Maps, clock: &'b Clock, time: u64) -> Self {
        Events { is_part: true, ..Events::new(cursor, maps, clock, time) }
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

    /// Returns what ended the events.
    #[must_use]
    pub const fn end(&self) -> Option<End> {
        self.end
    }

    /// Reads the next event.
    ///
    /// # Errors
    /// The chunk is damaged.
    #[inline]
    pub fn next_event(&mut self, values: &mut Values) -> Found<Option<Event>> {
        values.attributes.clear();
        if let Some((kind, id)) = self.usual() {
            values.fields[0] = self.region(id);
            return Ok(Some(Event { kind, time: self.time }));
        }
        self.unusual(values)
    }

    /// Returns the kind and the region of the next event if it is the entry or the exit of a region,
    /// which most events are. Otherwise, passes nothing.
    #[inline(always)]
    fn usual(&mut self) -> Option<(u8, u32)> {
        let bytes = *self.cursor.ahead::<15>()?;
        let [mark, rest @ ..] = bytes;
        let is_time = mark == mark::TIME;
        let (kind, id, passed) = if is_time {
            let [_, _, _, _, _, _, _, _, kind, id @ ..] = rest;
            (kind, id, 10)
        } else {
            let [id @ .., _, _, _, _, _, _, _, _, _] = rest;
            (mark, id, 1)
        };
        if !matches!(kind, event::ENTER | event::LEAVE) {
            return None;
        }
        let (id, length) = self.cursor.order().compressed32(id)?;
        if is_time {
            let [time @ .., _, _, _, _, _, _] = rest;
            self.turn_to(self.cursor.order().number64(time));
        }
        self.cursor.pass(passed + length);
        Some((kind, id))
    }

    #[inline(always)]
    fn turn_to(&mut self, raw_time: u64) {
        self.raw_time = raw_time;
        self.time = self.clock.correct(raw_time);
    }

    #[inline(always)]
    fn region(&self, id: u32) -> u64 {
        let id = if id == u32::MAX { u64::MAX } else { id.into() };
        self.maps.global(Reference::Region, id)
    }

    #[inline(never)]
    fn unusual(&mut self, values: &mut Values) -> Found<Option<Event>> {
        loop {
            if self.is_part && self.cursor.is_at_end() {
                return Ok(None);
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
                    values.fields[0] = self.region(id);
                    return Ok(Some(Event { kind, time: self.time }));
                }
                mark::ATTRIBUTES => {
                    let mut payload = payload(&mut self.cursor)?;
                    values.read_attributes(&mut payload, self.maps)?;
                }
                mark::END_OF_CHUNK => {
                    self.end = Some(End::Chunk);
                    return Ok(None);
                }
                mark::END_OF_FILE => {
                    self.end = Some(End::File);
                    return Ok(None);
                }
                kind if kind >= event::BUFFER_FLUSH => return self.other(kind, values).map(Some),
                _ => {
                    let damage = crate::bytes::Damage { what: "no event begins here", ..damage };
                    return Err(damage);
                }
            }
        }
    }

    fn other(&mut self, kind: u8, values: &mut Values) -> Found<Event> {
        let event = Event { kind, time: self.time };
        let Some(record) = EVENTS.get(kind) else {
            values.list.clear();
            payload(&mut self.cursor)?;
            return Ok(event);
        };
        if record.bare {
            values.read(record, &mut self.cursor, Some(self.maps))?;
        } else {
            values.read(record, &mut payload(&mut self.cursor)?, Some(self.maps))?;
        }
        if kind == event::BUFFER_FLUSH {
            values.fields[0] = self.clock.correct(values.fields[0]);
        }
        Ok(event)
    }
}
