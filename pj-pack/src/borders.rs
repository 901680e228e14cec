//! Collects the lines that open and close rows across boundaries between segments.
//!
//! A selection of lines from a valid trace is itself a valid trace if, for each row, it includes
//! both the line that opens the row and the line that closes the row. The rows of the selection are
//! rows of the whole trace.

mod segments;
mod variable;

use std::sync::Arc;

use hashbrown::HashTable;
use paje_pack::{TextLine, WindowIndex};
use paje_parser::{EntityOp, FieldNames, Line, LineDecoder};
use paje_sim::{BlockLines, ContainerId, LaneChange, LaneEvent, LaneEvents, LaneId, LineOf};
use rustc_hash::FxHashMap;

use self::segments::{Opener, Segments};
use self::variable::Value;
use crate::pack::BufferPool;

/// Maximum number of lines of all borders together. If there are more, some borders are left out.
const BORDER_LINES: usize = 1 << 22;

/// Maximum total size in bytes of the lines that are part of every window.
const FIXED_BYTES: usize = 1 << 24;

/// Open states and variables of a lane.
#[derive(Debug)]
struct Lane {
    container: ContainerId,
    /// Index of the last segment with an event that left a row of the lane open.
    touched: usize,
    /// For states, the lines that opened the open states, outermost state first. For a variable,
    /// the lines that give it its value.
    open: Vec<Opener>,
    value: Value,
}

/// The end of a link whose other end has not been read.
#[derive(Debug)]
struct LinkEnd {
    lane: LaneId,
    hash: u64,
    opener: Opener,
    /// Start and end of the key, counted from the start of the line.
    key: (usize, usize),
}

#[derive(Debug, Default)]
struct OpenLinks {
    /// Links that began in the current segment. `old` has the links of previous segments.
    new: HashTable<LinkEnd>,
    old: HashTable<LinkEnd>,
}

impl OpenLinks {
    /// Removes and returns the other end of a link, if it has been read.
    #[inline]
    fn take(
        &mut self,
        (lane, hash): (LaneId, u64),
        key: &[u8],
        segments: &Segments,
    ) -> Option<Opener> {
        let is = |end: &LinkEnd| {
            let line = segments.line_from(&end.opener);
            (end.lane, end.hash) == (lane, hash) && line.get(end.key.0..end.key.1) == Some(key)
        };
        let take = |ends: &mut HashTable<LinkEnd>| {
            let entry = ends.find_entry(hash, is).ok()?;
            Some(entry.remove().0.opener)
        };
        take(&mut self.new).or_else(|| take(&mut self.old))
    }

    fn put(ends: &mut HashTable<LinkEnd>, end: LinkEnd) {
        ends.insert_unique(end.hash, end, |end| end.hash);
    }
}

/// A line with the latest time, and the line on which that line depends.
#[derive(Debug)]
struct Latest {
    time: f64,
    line: Opener,
    opener: Option<Opener>,
}

/// Collects the lines of rows that cross boundaries. It receives the blocks of a replay in file
/// order.
#[derive(Debug)]
pub(crate) struct Borders {
    segments: Segments,
    decoder: LineDecoder,
    /// Offset of the last line that is part of an event definition.
    header: u64,
    lanes: FxHashMap<LaneId, Lane>,
    by_container: FxHashMap<ContainerId, Vec<LaneId>>,
    /// Lanes with rows that were left open in the current segment.
    touched: Vec<LaneId>,
    links: OpenLinks,
    fixed: Vec<TextLine>,
    fixed_bytes: usize,
    latest: Option<Latest>,
    is_impossible: bool,
}

impl Borders {
    pub(crate) fn new(pool: BufferPool) -> Self {
        Borders {
            segments: Segments::new(pool),
            decoder: LineDecoder::new(FieldNames::Strict),
            header: 0,
            lanes: FxHashMap::default(),
            by_container: FxHashMap::default(),
            touched: Vec::new(),
            links: OpenLinks::default(),
            fixed: Vec::new(),
            fixed_bytes: 0,
            latest: None,
            is_impossible: false,
        }
    }

    /// Adds a segment. Must be called before the blocks with the segment's lines are added.
    pub(crate) fn add_segment(&mut self, text: &Arc<Vec<u8>>) {
        self.segments.add(text);
    }

    pub(crate) fn add_block(&mut self, page: &BlockLines<'_>) {
        let start = page.start().0;
        let destroyed = match self.is_impossible {
            true => Vec::new(),
            false => self.add_fixed_lines(page),
        };
        let (mut at, end) = (start, start + page.text().len() as u64);
        while at < end {
            self.pass_to(at);
            let piece = at..end.min(self.segments.current_end()).max(at + 1);
            let bytes = (piece.start - start) as usize..(piece.end - start) as usize;
            at = piece.end;
            if self.is_impossible {
                continue;
            }
            let of_piece = page.lane_events().map(|events| events.within(&bytes));
            for events in of_piece.filter(|events| !events.is_empty()) {
                self.add_lane(start, events, page.text());
            }
        }
        for (line, container) in destroyed {
            self.end_lanes_of(container, line);
        }
        self.segments.thin_to(BORDER_LINES);
        self.is_impossible |= self.segments.lines > BORDER_LINES || self.fixed_bytes > FIXED_BYTES;
    }

    /// Adds the events of a lane in a block. All of them must be in the current segment.
    fn add_lane(&mut self, block: u64, events: LaneEvents<'_>, text: &[u8]) {
        let Borders { segments, lanes, latest, links, .. } = self;
        let lane = lanes.entry(events.lane).or_insert_with(|| {
            self.by_container.entry(events.container).or_default().push(events.lane);
            let (open, value) = (Vec::new(), Value::default());
            Lane { container: events.container, touched: usize::MAX, open, value }
        });
        let (first, last) = events.times();
        segments.add_times(first, last);
        // In most lanes, all times of the block are before the latest time.
        let mut before = latest.as_ref().map_or(f64::NEG_INFINITY, |latest| latest.time);
        for LaneEvent { start: within, time, change } in events.iter() {
            let start = block + within as u64;
            // `opener` is the line on which this line depends.
            let mut opener = None;
            match change {
                LaneChange::Entity(EntityOp::PushState) => lane.open.push(Opener::new(start)),
                LaneChange::Entity(EntityOp::PopState) => {
                    opener = lane.open.pop();
                    opener.iter().for_each(|opener| segments.close(opener, start));
                }
                LaneChange::Entity(EntityOp::SetState | EntityOp::ResetState) => {
                    lane.open.drain(..).for_each(|opener| segments.close(&opener, start));
                    if matches!(change, LaneChange::Entity(EntityOp::SetState)) {
                        lane.open.push(Opener::new(start));
                    }
                }
                LaneChange::Entity(_) => {}
                LaneChange::Variable(EntityOp::SetVariable, number) => {
                    lane.open.drain(..).for_each(|opener| segments.close(&opener, start));
                    lane.open.push(Opener::new(start));
                    lane.value = Value::of(number);
                }
                LaneChange::Variable(op, number) => {
                    if time > before {
                        opener = lane.open.first().cloned();
                    }
                    let last = lane.open.last();
                    last.iter().for_each(|last| segments.add_closer(last, start));
                    lane.open.push(Opener::new(start));
                    lane.value.add(if op == EntityOp::SubVariable { -number } else { number });
                }
                LaneChange::Link { key: (from, to), hash } => {
                    opener = links.take((events.lane, hash), &text[from..to], segments);
                    match &opener {
                        None => {
                            let (opener, key) = (Opener::new(start), (from - within, to - within));
                            let end = LinkEnd { lane: events.lane, hash, opener, key };
                            OpenLinks::put(&mut links.new, end);
                        }
                        Some(opener) => {
                            segments.close(opener, start);
                            if let Some(latest) = latest
                                && latest.line.start == opener.start
                            {
                                latest.opener = Some(Opener::new(start));
                            }
                        }
                    }
                }
            }
            if time > before {
                before = time;
                *latest = Some(Latest { time, line: Opener::new(start), opener });
            }
        }
        if !lane.open.is_empty() && lane.touched != segments.current {
            lane.touched = segments.current;
            self.touched.push(events.lane);
        }
    }

    /// Ends the rows that are open in a container, which the given line destroys.
    fn end_lanes_of(&mut self, container: ContainerId, line: u64) {
        for id in self.by_container.remove(&container).unwrap_or_default() {
            let open = self.lanes.get_mut(&id).map(|lane| std::mem::take(&mut lane.open));
            let open = open.unwrap_or_default();
            open.iter().for_each(|opener| self.segments.end(opener, line));
        }
    }

    /// Adds the lines that are part of every window. Returns the lines that destroy containers.
    fn add_fixed_lines(&mut self, page: &BlockLines<'_>) -> Vec<(u64, ContainerId)> {
        let mut destroyed = Vec::new();
        for (within, about) in page.other_lines() {
            let start = page.start().0 + within as u64;
            match about {
                LineOf::Nobody | LineOf::Event(_) => continue,
                LineOf::File => self.is_impossible = true,
                LineOf::Destruction(container) => destroyed.push((start, container)),
                LineOf::Header => self.header = start,
                LineOf::Type | LineOf::Value(..) | LineOf::Creation(_) => {}
            }
            let line = segments::line_at(page.text(), within);
            if let Ok(Line::Event(event)) = self.decoder.line(line)
                && let Ok(time) = event.time()
            {
                self.segments.add_time_at(start, time);
            }
            self.fixed_bytes += line.len() + 1;
            self.fixed.push((start, line.into()));
        }
        destroyed
    }

    /// Ends all segments that end at or before byte `at` of the trace.
    fn pass_to(&mut self, at: u64) {
        while self.segments.current_end() <= at && self.segments.has_current() {
            self.end_segment();
        }
    }

    /// Ends the current segment. The text of the segment is not kept, so this copies the lines that
    /// opened the rows that are still open.
    fn end_segment(&mut self) {
        let Borders { segments, lanes, links, latest, .. } = self;
        for id in self.touched.drain(..) {
            let Some(lane) = lanes.get_mut(&id) else { continue };
            let new = lane.open.iter_mut().rev().take_while(|opener| opener.text.is_none());
            new.for_each(|opener| segments.keep(opener));
            if lane.open.len() > 1
                && lane.value.is_set
                && lane.open[0].start > self.header
                && let Some(lines) = lane.value.lines(&mut self.decoder, &lane.open)
            {
                // The borders before the last change already have the previous lines.
                lane.open.iter().for_each(|opener| segments.end_here(opener));
                lane.open = lines;
            }
        }
        for mut end in links.new.drain() {
            segments.keep(&mut end.opener);
            OpenLinks::put(&mut links.old, end);
        }
        if let Some(Latest { line, opener, .. }) = latest {
            segments.keep(line);
            opener.iter_mut().for_each(|opener| segments.keep(opener));
        }
        segments.end_current();
    }

    /// Returns whether any link lacks an end.
    pub(crate) fn has_incomplete_links(&self) -> bool {
        !self.links.new.is_empty() || !self.links.old.is_empty()
    }

    /// Returns the data that windows need, or `None` if the trace can only be read completely.
    pub(crate) fn finish(mut self) -> Option<WindowIndex> {
        self.pass_to(u64::MAX);
        let Borders { mut segments, lanes, links, mut fixed, latest, is_impossible, .. } = self;
        let last = segments.end.checked_sub(1)?;
        for lane in lanes.values() {
            lane.open.iter().for_each(|opener| segments.end(opener, last));
        }
        let text = |opener: Opener| Some((opener.start, opener.text?));
        for end in links.old {
            // A link without an end is an error, both in the trace and in a window. At the end of
            // any container except the root, the message has a line number, which would be
            // different in a window.
            if lanes.get(&end.lane).is_none_or(|lane| lane.container != ContainerId::ROOT) {
                return None;
            }
            fixed.extend(text(end.opener));
        }
        let Segments { times, step, borders, cuts_a_line, .. } = segments;
        if is_impossible || cuts_a_line || times.len() < 2 {
            return None;
        }
        let latest = latest.into_iter();
        let latest = latest.flat_map(|latest| [Some(latest.line), latest.opener]);
        let latest = latest.flatten().filter_map(text).collect();
        Some(WindowIndex { step, times, fixed, latest, borders })
    }
}
