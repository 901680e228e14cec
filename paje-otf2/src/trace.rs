//! An archive as a Pajé trace. The trace consists of pieces of whole lines, and each piece can be
//! made separately.
//!
//! First come the definitions, then the events of each location, in the order of their identifiers,
//! and last the links in the order in which they are complete. So the lines of each container and
//! type are in the order of time, and no piece depends on another one.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use paje_parser::columns::{self, Hole, Wanted};

use crate::archive::Archive;
use crate::columns::Table;
use crate::definitions::Definitions;
use crate::error::Error;
use crate::events::Event;
use crate::header::Header;
use crate::lines::{Lines, line};
use crate::messages::{Link, LinkEnd, pair};
use crate::model::Model;
use crate::record::Values;
use crate::scan::{Piece, scan_all};
use crate::text::{Count, Sink, TimeBytes};

/// Maximum size of a piece of definitions in bytes, and maximum number of links in a piece.
const BYTES: usize = 1 << 20;
const LINKS: usize = 1 << 13;

/// Part of the next event that the reader of a piece needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Nothing,
    Event,
    /// The next event, but without the fields of events of this kind.
    NoFields,
}

/// An archive as a Pajé trace.
#[derive(Debug)]
pub struct Trace {
    archive: Arc<Archive>,
    model: Model,
    header: Vec<u8>,
    links: Vec<Link>,
    /// For each location, the bytes of the lines of each event that is not a state.
    line_bytes: Vec<Vec<u32>>,
    parts: Vec<TracePart>,
    /// For each location, index of its container.
    places: Vec<u32>,
    faults: Vec<Error>,
    /// Memory for the bytes of pieces.
    buffers: Mutex<Vec<Vec<u8>>>,
}

#[derive(Debug)]
struct TracePart {
    what: What,
    bytes: u64,
}

#[derive(Debug)]
enum What {
    Definitions(Range<usize>),
    /// Events of the location with this index.
    Events(usize, Piece),
    Links(Range<usize>),
}

impl Trace {
    /// Reads the events of an archive with this many threads.
    ///
    /// # Errors
    /// Fails if a file cannot be read or is damaged.
    pub fn new(archive: Arc<Archive>, threads: usize) -> Result<Trace, Error> {
        let locations = archive.locations().to_vec();
        Trace::of_locations(archive, locations, threads)
    }

    /// Reads the events of some locations, in ascending order, with this many threads. Their states
    /// equal those of the whole archive. Messages from or to other locations become events. Unless
    /// a state lasts until the end of the run, the trace ends at the last event that was read.
    ///
    /// # Errors
    /// Fails if a file cannot be read or is damaged.
    pub fn of_locations(
        archive: Arc<Archive>,
        locations: Vec<u64>,
        threads: usize,
    ) -> Result<Trace, Error> {
        let trace = Trace::read(archive, locations, threads, false);
        trace.faults.first().map_or(Ok(()), |fault| Err(fault.clone()))?;
        Ok(trace)
    }

    /// Reads the intact part of an archive with this many threads.
    #[must_use]
    pub fn recover(archive: Arc<Archive>, threads: usize) -> Trace {
        let locations = archive.locations().to_vec();
        Trace::read(archive, locations, threads, true)
    }

    /// Returns the faults of the archive's files.
    #[must_use]
    pub fn faults(&self) -> &[Error] {
        &self.faults
    }

    /// Returns all faults as one error, if there are any.
    #[must_use]
    pub fn damage(&self) -> Option<Error> {
        Error::of_all(&self.faults, 20)
    }

    /// If `recovers` is false, may stop at the first fault.
    fn read(archive: Arc<Archive>, locations: Vec<u64>, threads: usize, recovers: bool) -> Trace {
        let mut faults = archive.faults().to_vec();
        let model = Model::new(&archive, &mut faults);
        let mut scans = scan_all((&archive, &model), &locations, threads, recovers);
        let mut end = None;
        if locations.len() < archive.locations().len() && scans.iter().any(|scan| scan.is_open) {
            // These states end with the trace.
            let others = archive.locations().iter().copied();
            let others: Vec<u64> =
                others.filter(|it| locations.binary_search(it).is_err()).collect();
            let mut others = scan_all((&archive, &model), &others, threads, recovers);
            end = scans.iter().chain(&others).filter_map(|scan| scan.last).max();
            faults.extend(others.iter_mut().flat_map(|scan| scan.faults.drain(..)));
        }
        faults.extend(scans.iter_mut().flat_map(|scan| scan.faults.drain(..)));
        let links = pair(&model, &locations, &mut scans);
        let markers = archive.markers().unwrap_or_else(|fault| {
            faults.push(fault);
            Definitions::default()
        });
        let header = Header {
            archive: &archive,
            locations: &locations,
            model: &model,
            scans: &scans,
            links: &links,
            markers: &markers,
            end,
        };
        // Different types may have the same values, whose names may be long.
        let mut size = Count::default();
        header.write(&mut size);
        let (mut text, most) = (Vec::new(), archive.most_text());
        let is_short = size.0 <= most;
        if is_short {
            header.write(&mut text);
        } else {
            let what = format!("the lines of its definitions exceed {most} bytes");
            faults.push(Error::other(archive.path(), what));
        }
        let tail = text.len();
        header.ends(&mut text);
        let mut parts = Vec::new();
        let mut start = 0;
        while start < tail {
            let most = tail.min(start + BYTES);
            let newline = memchr::memrchr(b'\n', &text[start..most]);
            let end = newline.map_or(most, |newline| start + newline + 1);
            let what = What::Definitions(start..end);
            parts.push(TracePart { what, bytes: (end - start) as u64 });
            start = end;
        }
        let mut line_bytes = Vec::with_capacity(scans.len());
        for (index, scan) in scans.into_iter().enumerate() {
            let ends = scan.pieces[1.min(scan.pieces.len())..].iter().map(|next| next.first);
            let ends: Vec<u32> = ends.chain([scan.line_bytes.len() as u32]).collect();
            for (piece, end) in scan.pieces.into_iter().zip(ends) {
                let others = &scan.line_bytes[piece.first as usize..end as usize];
                let bytes = piece.bytes + others.iter().map(|it| u64::from(*it)).sum::<u64>();
                if bytes > 0 {
                    parts.push(TracePart { what: What::Events(index, piece), bytes });
                }
            }
            line_bytes.push(scan.line_bytes);
        }
        let places = locations.iter().map(|it| model.location(*it).0).collect();
        let buffers = Mutex::default();
        let header = text;
        let mut trace =
            Trace { archive, model, header, links, line_bytes, parts, places, faults, buffers };
        if !is_short {
            trace.parts.clear();
            return trace;
        }
        for start in (0..trace.links.len()).step_by(LINKS) {
            let range = start..trace.links.len().min(start + LINKS);
            let mut count = Count::default();
            trace.link_lines(range.clone(), &mut count);
            trace.parts.push(TracePart { what: What::Links(range), bytes: count.0 });
        }
        if tail < trace.header.len() {
            let range = tail..trace.header.len();
            let bytes = range.len() as u64;
            trace.parts.push(TracePart { what: What::Definitions(range), bytes });
        }
        trace
    }

    /// Returns the number of pieces.
    #[must_use]
    pub fn pieces(&self) -> usize {
        self.parts.len()
    }

    /// Returns the number of bytes of a piece's lines.
    #[must_use]
    pub fn bytes(&self, piece: usize) -> u64 {
        self.parts[piece].bytes
    }

    /// Returns the lines of a piece.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or has changed since the archive was opened.
    pub fn text(&self, piece: usize) -> Result<Vec<u8>, Error> {
        let part = &self.parts[piece];
        let mut text = Vec::with_capacity(part.bytes as usize);
        match &part.what {
            What::Definitions(range) => text.extend_from_slice(&self.header[range.clone()]),
            What::Links(range) => self.link_lines(range.clone(), &mut text),
            What::Events(index, piece) => {
                self.events(*index, piece, |event, values, _, lines| {
                    lines.write(event, values, &mut text);
                    Next::Event
                })?;
            }
        }
        if text.len() as u64 != part.bytes {
            return Err(Error::other(
                self.archive.path(),
                "the archive has changed while it was read",
            ));
        }
        Ok(text)
    }

    /// Reads the lines of a piece as columns, as described in `splitter::ColumnSegment`.
    ///
    /// Returns `false` if the lines must be read as text.
    pub fn columns(
        &self,
        piece: usize,
        text: &mut Vec<u8>,
        lines: &mut columns::Lines,
        judge: &mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
    ) -> bool {
        let part = &self.parts[piece];
        let digits = self.model.seconds.digits();
        let Some(mut table) = Table::new(text, lines, judge, (part.bytes, digits)) else {
            return false;
        };
        let is_read = match &part.what {
            What::Definitions(_) => false,
            What::Links(range) => self.link_columns(range.clone(), &mut table).is_some(),
            What::Events(index, piece) => {
                let found = self.events(*index, piece, |event, values, bytes, lines| {
                    table.event(event, values, bytes, lines)
                });
                found.is_ok_and(|all| all)
            }
        };
        is_read && table.is_complete()
    }

    /// Calls `visit` for each event of a piece that has lines. Returns whether it visited all of
    /// them. For an event that is not a [state](Lines::is_state), `visit` also gets the size of its
    /// lines.
    fn events(
        &self,
        index: usize,
        piece: &Piece,
        mut visit: impl FnMut(Event, &Values, Option<u32>, &mut Lines<'_>) -> Next,
    ) -> Result<bool, Error> {
        let (local, _) = self.archive.local(piece.location);
        let file = self.archive.event_file(piece.location)?;
        let spare = self.buffers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let (mut buffer, mut values) = (spare.unwrap_or_default(), Values::default());
        let mut events = file.part(piece.part, &mut buffer, &local)?;
        let all = self.archive.definitions();
        let mut lines = Lines::new(&self.model, all, piece.location, piece.depth);
        let mut others = self.line_bytes[index][piece.first as usize..].iter();
        while events.usual(&mut values) || file.check(events.unusual(&mut values))? {
            let event = events.event();
            let is_state = lines.is_state(event, &values);
            let bytes = if is_state { None } else { Some(others.next().copied().unwrap_or(0)) };
            if bytes == Some(0) {
                continue;
            }
            match visit(event, &values, bytes, &mut lines) {
                Next::Nothing => return Ok(false),
                Next::Event => {}
                Next::NoFields => events.pass_fields(event.kind),
            }
        }
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        Ok(true)
    }

    fn link_lines(&self, range: Range<usize>, sink: &mut impl Sink) {
        for number in range {
            for is_start in self.order_of_ends(number) {
                self.link_line(number, is_start, sink);
            }
        }
    }

    fn link_columns(&self, range: Range<usize>, table: &mut Table<'_, '_>) -> Option<()> {
        let mut last = TimeBytes::default();
        for number in range {
            for is_start in self.order_of_ends(number) {
                let link = &self.links[number];
                let (location, tick) = if is_start { link.from } else { link.to };
                let time_bytes = self.model.seconds.bytes(tick, &mut last);
                let request = link.request(is_start);
                let mut words = Count(time_bytes + link.bytes(number));
                if let Some(request) = request {
                    words.number(request);
                }
                let end = LinkEnd {
                    is_start,
                    location,
                    types: (self.type_(link.from.0), self.type_(link.to.0)),
                    comm: link.comm,
                    key: number as u64,
                    has_request: request.is_some(),
                    time: self.model.seconds.exact_units(tick)?,
                    rest: words.0,
                    time_bytes,
                };
                table.link(end, |text| self.link_line(number, is_start, text))?;
            }
        }
        Some(())
    }

    /// Returns the order of the ends of a link: whether each is the start. The later one completes
    /// the link.
    fn order_of_ends(&self, number: usize) -> [bool; 2] {
        let Link { from, to, .. } = self.links[number];
        let is_reversed = self.model.seconds.units(to.1) < self.model.seconds.units(from.1);
        if is_reversed { [false, true] } else { [true, false] }
    }

    /// Returns the index of the type of a location's container.
    fn type_(&self, location: u32) -> u32 {
        self.model.containers[self.places[location as usize] as usize].type_
    }

    fn link_line(&self, number: usize, is_start: bool, sink: &mut impl Sink) {
        let link = &self.links[number];
        let (index, tick) = if is_start { link.from } else { link.to };
        let request = link.request(is_start);
        let line = match (is_start, request) {
            (true, None) => line::START_LINK,
            (true, Some(_)) => line::START_LINK_MORE,
            (false, None) => line::END_LINK,
            (false, Some(_)) => line::END_LINK_MORE,
        };
        sink.number(line.into());
        sink.plain(b" ");
        self.model.seconds.write(self.model.seconds.units(tick), sink);
        let type_ = self.model.link_type(self.archive.definitions(), link.comm);
        let owner = type_.map(|(_, owner)| &self.model.containers[owner as usize]);
        sink.plain(b" ");
        match owner {
            Some(owner) => sink.alias(owner.letter, owner.id),
            None => sink.plain(b"0"),
        }
        sink.alias(b" M", self.type_(link.from.0).into());
        sink.alias(b"_", self.type_(link.to.0).into());
        if let Some((comm, _)) = type_ {
            sink.alias(b"_", comm);
        }
        let place = &self.model.containers[self.places[index as usize] as usize];
        sink.plain(b" ");
        sink.alias(place.letter, place.id);
        sink.alias(b" C", link.comm);
        sink.alias(b" ", number as u64);
        sink.alias(b" ", link.length);
        sink.alias(b" ", link.tag.into());
        if let Some(request) = request {
            sink.alias(b" ", request);
        }
        sink.plain(b"\n");
    }
}
