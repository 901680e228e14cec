//! The first reading of a location: where its events can be cut, how long their lines are, and which
//! messages it sends and receives.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::archive::{Archive, Part, Visitor};
use crate::error::Error;
use crate::events::{Event, Events, event, is_message};
use crate::lines::{Lines, Used};
use crate::model::Model;
use crate::record::{UNDEFINED, Values};

/// Maximum number of events in a part, and maximum size of its lines. The lines of the last event may
/// exceed this size.
const EVENTS: u64 = 1 << 13;
const BYTES: u64 = 1 << 20;

/// Maximum size of the lines of an event. Attributes can repeat a long text.
const LONGEST: u64 = 1 << 26;

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

/// One end of a message. There can be many of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) length: u64,
    /// Request, or [`UNDEFINED`] if the call is blocking.
    pub(crate) request: u64,
    pub(crate) time: u64,
    /// Index in [`Scan::channels`].
    pub(crate) channel: u32,
    /// Index in [`Scan::line_bytes`].
    pub(crate) number: u32,
}

/// Time of an event that gives a message its order, and its index in [`Scan::line_bytes`].
pub(crate) type Posted = (u64, u32);

/// What messages of a location have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OwnChannel {
    pub(crate) comm: u64,
    /// Index of the container of the process at the other end.
    pub(crate) peer: u32,
    pub(crate) tag: u32,
    /// Kind of the events.
    pub(crate) kind: u8,
    /// Whether the events have attributes. Links have no field for them, so lines of events show them.
    pub(crate) has_attributes: bool,
}

/// Result of a first reading.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) channels: Vec<OwnChannel>,
    pub(crate) sends: Vec<Message>,
    /// Receives, which are ordered by their requests.
    pub(crate) receives: Vec<(Message, Posted)>,
    /// Bytes of the lines of each event that is not a [state](Lines::is_state). It is 0 for a
    /// message whose link has the same information.
    pub(crate) line_bytes: Vec<u32>,
    /// Types and values that its lines use.
    pub(crate) used: Used,
    /// Earliest time, and latest time of a line.
    pub(crate) first: Option<u64>,
    pub(crate) last: Option<u64>,
    /// Whether a region is open at its end.
    pub(crate) is_open: bool,
    /// Faults of its files. Events are read up to the first one.
    pub(crate) faults: Vec<Error>,
}

/// Reads locations. If `recovers` is false, locations after a damaged one may be missing.
pub(crate) fn scan_all(
    (archive, model): (&Archive, &Model),
    locations: &[u64],
    threads: usize,
    recovers: bool,
) -> Vec<Scan> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Scan)>> = Mutex::default();
    let work = || {
        let mut buffer = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(location) = locations.get(index) else { return };
            let scan = scan(archive, model, *location, &mut buffer);
            if !scan.faults.is_empty() && !recovers {
                // Locations before this one are being read already.
                next.store(locations.len(), Ordering::Relaxed);
            }
            found.lock().unwrap_or_else(PoisonError::into_inner).push((index, scan));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(locations.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_unstable_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, scan)| scan).collect()
}

/// Reads a location. Reuses the memory of `buffer`.
fn scan(archive: &Archive, model: &Model, location: u64, buffer: &mut Vec<u8>) -> Scan {
    let (local, all) = archive.local(location);
    let mut scanner = Scanner {
        location,
        lines: Lines::new(model, archive.definitions(), location, 0),
        requests: FxHashMap::default(),
        channels: FxHashMap::default(),
        found: Scan::default(),
        first: None,
        last: None,
        piece: Piece::default(),
        count: 0,
        others: 0,
        is_too_long: false,
    };
    scanner.lines.used = Some(Box::default());
    let file = archive.event_file(location);
    let events = file.and_then(|file| file.each(&local, buffer, &mut scanner));
    let lines = scanner.is_too_long.then(|| {
        let what = format!("the lines of an event of location {location} exceed 64 MiB");
        Error::other(archive.path(), what)
    });
    let faults = [all, lines.map_or(Ok(()), Err), events].into_iter();
    scanner.found.faults = faults.filter_map(Result::err).collect();
    scanner.finish()
}

struct Scanner<'m> {
    location: u64,
    lines: Lines<'m>,
    /// Order of each open request of a receive.
    requests: FxHashMap<u64, Posted>,
    /// Index of each channel.
    channels: FxHashMap<OwnChannel, u32>,
    found: Scan,
    /// Earliest time, and latest time of a line, so far.
    first: Option<u64>,
    last: Option<u64>,
    piece: Piece,
    /// Number of events in the current piece, and size of its lines that are not states.
    count: u64,
    others: u64,
    /// Whether the lines of an event are too long. They are left out.
    is_too_long: bool,
}

impl Visitor for Scanner<'_> {
    #[inline(always)]
    fn event(&mut self, events: &Events<'_>, event: Event, values: &Values) {
        if self.first.is_none_or(|first| event.time < first) {
            self.first = Some(event.time);
        }
        let bytes = if self.lines.is_state(event, values) {
            let bytes = self.lines.pass_state(event, values);
            self.piece.bytes += bytes;
            bytes
        } else {
            let bytes = self.other(event, values);
            self.others += bytes;
            bytes
        };
        if bytes > 0 && self.last.is_none_or(|last| event.time > last) {
            self.last = Some(event.time);
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

    fn end_early(&mut self, place: u64) {
        self.cut(place);
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
                let posted = (event.time, self.found.line_bytes.len() as u32);
                self.requests.insert(values.fields[0], posted);
            }
            self.lines.count(event, values)
        };
        self.is_too_long |= bytes > LONGEST;
        let bytes = Some(bytes).filter(|bytes| *bytes <= LONGEST).unwrap_or(0);
        self.found.line_bytes.push(bytes as u32);
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
        let has_attributes = !values.attributes.is_empty();
        let channel = OwnChannel { comm, peer, tag: tag as u32, kind: event.kind, has_attributes };
        let channel = *self.channels.entry(channel).or_insert_with(|| {
            self.found.channels.push(channel);
            self.found.channels.len() as u32 - 1
        });
        let number = self.found.line_bytes.len() as u32;
        let is_blocking = matches!(event.kind, event::SEND | event::RECV);
        let own_request = if is_blocking { UNDEFINED } else { request };
        let message = Message { length, request: own_request, time: event.time, channel, number };
        let own = (event.time, number);
        match event.kind {
            event::SEND | event::ISEND => self.found.sends.push(message),
            event::RECV => self.found.receives.push((message, own)),
            _ => {
                let posted = self.requests.remove(&request).unwrap_or(own);
                self.found.receives.push((message, posted));
            }
        }
    }

    fn finish(mut self) -> Scan {
        if let Some(used) = self.lines.used {
            self.found.used = *used;
        }
        (self.found.first, self.found.last) = (self.first, self.last);
        self.found.is_open = self.lines.depth > 0;
        self.found
    }
}
