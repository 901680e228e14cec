//! The first reading of a location: where its events can be cut, how long their lines are, and which
//! messages it sends and receives.

use rustc_hash::FxHashMap;

use crate::archive::{Archive, Part, Visitor};
use crate::error::Error;
use crate::events::{Event, Events, event};
use crate::lines::{Lines, Used};
use crate::model::Model;
use crate::record::{UNDEFINED, Values};

/// Maximum number of events in a part, and maximum size of its lines. The lines of the last event may
/// exceed this size.
const EVENTS: u64 = 1 << 13;
const BYTES: u64 = 1 << 20;

/// Consecutive events of a location, whose lines are made together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Piece {
    pub(crate) location: u64,
    pub(crate) part: Part,
    /// Number of regions that are open at its start.
    pub(crate) depth: u64,
    /// Index of its first event in [`Scan::line_bytes`].
    pub(crate) first: u32,
    /// Size of the lines of [states](Lines::is_state), in bytes.
    pub(crate) bytes: u64,
}

/// One end of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) comm: u64,
    /// Index of the container of the process at the other end.
    pub(crate) peer: u32,
    pub(crate) tag: u32,
    pub(crate) length: u64,
    /// Request, or [`UNDEFINED`] if the call is blocking.
    pub(crate) request: u64,
    pub(crate) time: u64,
    /// Time and number of the event that gives its order. A receive is ordered by its request.
    pub(crate) order: (u64, u64),
    /// Index in [`Scan::line_bytes`].
    pub(crate) number: u32,
    /// Kind of its event.
    pub(crate) kind: u8,
    /// Whether the event has attributes, for which the link has no field.
    pub(crate) has_attributes: bool,
}

/// Result of a first reading.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) sends: Vec<Message>,
    pub(crate) receives: Vec<Message>,
    /// Bytes of the lines of each event that is not a [state](Lines::is_state). It is 0 for a
    /// message whose link has the same information.
    pub(crate) line_bytes: Vec<u32>,
    /// Types and values that its lines use.
    pub(crate) used: Used,
    pub(crate) first: Option<u64>,
}

/// Returns whether an event is one end of a message.
#[inline]
pub(crate) const fn is_message(kind: u8) -> bool {
    matches!(kind, event::SEND | event::ISEND | event::RECV | event::IRECV)
}

/// Reads a location. Reuses the memory of `buffer`.
pub(crate) fn scan(
    archive: &Archive,
    model: &Model,
    location: u64,
    buffer: &mut Vec<u8>,
) -> Result<Scan, Error> {
    let local = archive.local(location)?;
    let mut scanner = Scanner {
        location,
        lines: Lines::new(model, archive.definitions(), location, 0),
        requests: FxHashMap::default(),
        found: Scan::default(),
        number: 0,
        first: u64::MAX,
        piece: Piece::default(),
        count: 0,
        others: 0,
    };
    scanner.lines.used = Some(Box::default());
    archive.event_file(location)?.each(&local, buffer, &mut scanner)?;
    Ok(scanner.finish())
}

struct Scanner<'m> {
    location: u64,
    lines: Lines<'m>,
    /// Order of each open request of a receive.
    requests: FxHashMap<u64, (u64, u64)>,
    found: Scan,
    /// Number of events so far.
    number: u64,
    /// Earliest time so far.
    first: u64,
    piece: Piece,
    /// Number of events in the current piece, and size of its lines that are not states.
    count: u64,
    others: u64,
}

impl Visitor for Scanner<'_> {
    #[inline(always)]
    fn event(&mut self, events: &Events<'_>, event: Event, values: &Values) {
        self.number += 1;
        self.first = self.first.min(event.time);
        if self.lines.is_state(event, values) {
            self.piece.bytes += self.lines.pass_state(event, values);
        } else {
            self.others += self.other(event, values);
        }
        self.count += 1;
        if self.count == EVENTS || self.piece.bytes + self.others >= BYTES {
            self.cut(events.place());
            self.piece = self.start(events);
        }
    }

    fn begin(&mut self, events: &Events<'_>) {
        self.piece = self.start(events);
    }

    fn end(&mut self, events: &Events<'_>) {
        // Without the end mark.
        self.cut(events.place() - 1);
    }
}

impl Scanner<'_> {
    /// Ends a piece before an offset in the file.
    fn cut(&mut self, end: u64) {
        if std::mem::take(&mut self.count) > 0 {
            self.piece.part.end = end;
            self.found.pieces.push(self.piece);
        }
        self.others = 0;
    }

    /// Notes an event that is not a state. Returns the number of bytes of its lines.
    fn other(&mut self, event: Event, values: &Values) -> u64 {
        let bytes = if is_message(event.kind) {
            let type_ = self.lines.type_();
            let (bytes, process) = self.lines.count_message(event, values);
            if let Some(peer) = process {
                self.message(event, values, peer);
            } else if let Some(used) = &mut self.lines.used {
                used.kinds.insert((type_, event.kind));
            }
            bytes
        } else {
            if event.kind == event::IRECV_REQUEST {
                self.requests.insert(values.fields[0], (event.time, self.number));
            }
            self.lines.count(event, values)
        };
        self.found.line_bytes.push(u32::try_from(bytes).unwrap_or(u32::MAX));
        bytes
    }

    fn start(&self, events: &Events<'_>) -> Piece {
        let start = events.place();
        let part = Part { start, end: start, time: events.raw_time(), order: events.order() };
        let first = self.found.line_bytes.len() as u32;
        Piece { location: self.location, part, depth: self.lines.depth, first, bytes: 0 }
    }

    /// Notes one end of a message.
    fn message(&mut self, event: Event, values: &Values, peer: u32) {
        let [_, comm, tag, length, request, ..] = values.fields;
        let own = (event.time, self.number);
        let is_blocking = matches!(event.kind, event::SEND | event::RECV);
        let order = match event.kind {
            event::IRECV => self.requests.remove(&request).unwrap_or(own),
            _ => own,
        };
        let message = Message {
            comm,
            peer,
            tag: tag as u32,
            length,
            request: if is_blocking { UNDEFINED } else { request },
            time: event.time,
            order,
            number: self.found.line_bytes.len() as u32,
            kind: event.kind,
            has_attributes: !values.attributes.is_empty(),
        };
        match event.kind {
            event::SEND | event::ISEND => self.found.sends.push(message),
            _ => self.found.receives.push(message),
        }
    }

    fn finish(mut self) -> Scan {
        if let Some(used) = self.lines.used {
            self.found.used = *used;
        }
        self.found.first = Some(self.first).filter(|_| self.number > 0);
        self.found
    }
}
