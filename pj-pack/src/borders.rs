//! Lines that open and close the rows that cross boundaries between segments.
//!
//! Some lines of a sound trace are a sound trace again if, of each row, both the line that opens it and the one that
//! closes it are among them: its rows are those of the whole trace.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashTable;
use paje_pack::{Border, TextLine, WindowIndex};
use paje_parser::{EntityOp, FieldNames, Line, LineDecoder};
use paje_sim::{BlockLines, ContainerId, LaneChange, LaneEvent, LaneEvents, LaneId, LineOf};
use rustc_hash::FxHashMap;

/// Most lines that all borders together may have: traces that leave more open have no windows.
const BORDER_LINES: usize = 1 << 22;

/// Most bytes of lines that every window has.
const FIXED_BYTES: usize = 1 << 24;

/// The line that opens a row. Its text is copied if the row is still open at the end of the block.
#[derive(Clone, Debug)]
struct Opener {
    start: u64,
    text: Option<Arc<[u8]>>,
}

impl Opener {
    const fn new(start: u64) -> Self {
        Opener { start, text: None }
    }
}

/// What is open in a lane.
#[derive(Debug)]
struct Lane {
    container: ContainerId,
    /// Open states, the outermost first; or all lines that the value of a variable is the sum of.
    open: Vec<Opener>,
    /// First ends of links, by key.
    links: HashTable<LinkEnd<Box<[u8]>>>,
}

/// The first end of a link.
#[derive(Debug)]
struct LinkEnd<K> {
    hash: u64,
    key: K,
    opener: Opener,
}

/// Removes the first end of a link, if there is one.
fn take<K: AsRef<[u8]>>(ends: &mut HashTable<LinkEnd<K>>, key: &[u8], hash: u64) -> Option<Opener> {
    let entry = ends.find_entry(hash, |end| end.key.as_ref() == key);
    entry.ok().map(|entry| entry.remove().0.opener)
}

fn put<K>(ends: &mut HashTable<LinkEnd<K>>, end: LinkEnd<K>) {
    ends.insert_unique(end.hash, end, |end| end.hash);
}

/// A line with the latest time, and the line that it depends on.
#[derive(Debug)]
struct Latest {
    time: f64,
    line: Opener,
    opener: Option<Opener>,
}

/// Collects the lines of rows that cross boundaries, from the blocks of a replay in file order.
#[derive(Debug)]
pub(crate) struct Borders {
    segments: Segments,
    /// Decodes the lines that every window has, for their times.
    decoder: LineDecoder,
    lanes: FxHashMap<LaneId, Lane>,
    fixed: Vec<TextLine>,
    fixed_bytes: usize,
    latest: Option<Latest>,
    /// Whether the trace cannot be read in parts.
    is_impossible: bool,
}

/// Text of a block, and its place in the trace.
#[derive(Clone, Copy)]
struct BlockText<'a> {
    start: u64,
    bytes: &'a [u8],
}

impl BlockText<'_> {
    fn line(self, start: u64) -> Arc<[u8]> {
        let line = &self.bytes[(start - self.start) as usize..];
        line[..memchr::memchr(b'\n', line).unwrap_or(line.len())].into()
    }

    /// Copies the text of a line of this block; those of earlier blocks have been copied.
    fn keep(self, opener: &mut Opener) {
        if opener.text.is_none() {
            opener.text = Some(self.line(opener.start));
        }
    }
}

impl Default for Borders {
    fn default() -> Self {
        Borders {
            segments: Segments::default(),
            decoder: LineDecoder::new(FieldNames::Strict),
            lanes: FxHashMap::default(),
            fixed: Vec::new(),
            fixed_bytes: 0,
            latest: None,
            is_impossible: false,
        }
    }
}

impl Borders {
    /// Adds a segment, before the blocks with its lines.
    pub(crate) fn add_segment(&mut self, text: &[u8]) {
        self.segments.add(text);
    }

    /// Adds the next block.
    pub(crate) fn add_block(&mut self, page: &BlockLines<'_>) {
        if self.is_impossible {
            return;
        }
        let text = BlockText { start: page.start().0, bytes: page.text() };
        let mut links = HashTable::new();
        page.lane_events().for_each(|events| self.add_lane(text, events, &mut links));
        self.add_fixed_lines(page, text);
        if let Some(Latest { line, opener, .. }) = &mut self.latest {
            text.keep(line);
            opener.iter_mut().for_each(|opener| text.keep(opener));
        }
        self.is_impossible |= self.segments.lines > BORDER_LINES || self.fixed_bytes > FIXED_BYTES;
    }

    /// Adds the events of a lane. Uses `links`, which is empty, for those that begin in the block.
    fn add_lane<'a>(
        &mut self,
        text: BlockText<'_>,
        events: LaneEvents<'a>,
        links: &mut HashTable<LinkEnd<&'a [u8]>>,
    ) {
        let Borders { segments, lanes, latest, .. } = self;
        let lane = lanes.entry(events.lane).or_insert_with(|| Lane {
            container: events.container,
            open: Vec::new(),
            links: HashTable::new(),
        });
        for LaneEvent { start, time, change } in events.iter() {
            let start = text.start + start as u64;
            segments.add_time(start, time);
            let is_latest = latest.as_ref().is_none_or(|latest| latest.time < time);
            // The line that this one depends on.
            let mut opener = None;
            match change {
                LaneChange::Entity(EntityOp::Event) => {}
                LaneChange::Entity(EntityOp::PushState) => lane.open.push(Opener::new(start)),
                LaneChange::Entity(EntityOp::PopState) => {
                    opener = lane.open.pop();
                    opener.iter().for_each(|opener| segments.close(text, opener, start));
                }
                LaneChange::Entity(EntityOp::AddVariable | EntityOp::SubVariable) => {
                    opener = lane.open.first().filter(|_| is_latest).cloned();
                    let last = lane.open.last();
                    last.iter().for_each(|last| segments.add_closer(text, last.start, start));
                    lane.open.push(Opener::new(start));
                }
                LaneChange::Entity(op) => {
                    lane.open.drain(..).for_each(|opener| segments.close(text, &opener, start));
                    if op != EntityOp::ResetState {
                        lane.open.push(Opener::new(start));
                    }
                }
                LaneChange::Link { key, hash } => {
                    opener = take(links, key, hash).or_else(|| take(&mut lane.links, key, hash));
                    match &opener {
                        None => put(links, LinkEnd { hash, key, opener: Opener::new(start) }),
                        Some(opener) => {
                            segments.close(text, opener, start);
                            if let Some(latest) = latest
                                && latest.line.start == opener.start
                            {
                                latest.opener = Some(Opener::new(start));
                            }
                        }
                    }
                }
            }
            if is_latest {
                *latest = Some(Latest { time, line: Opener::new(start), opener });
            }
        }
        let new = lane.open.iter_mut().rev().take_while(|opener| opener.text.is_none());
        new.for_each(|opener| text.keep(opener));
        for LinkEnd { hash, key, mut opener } in links.drain() {
            text.keep(&mut opener);
            put(&mut lane.links, LinkEnd { hash, key: key.into(), opener });
        }
    }

    /// Adds the lines that every window has, and ends what is open in containers that are destroyed.
    fn add_fixed_lines(&mut self, page: &BlockLines<'_>, text: BlockText<'_>) {
        for (start, about) in page.other_lines() {
            let start = text.start + start as u64;
            match about {
                LineOf::Nobody | LineOf::Event(_) => continue,
                LineOf::File => self.is_impossible = true,
                LineOf::Destruction(container) => {
                    for lane in self.lanes.values_mut().filter(|it| it.container == container) {
                        let open = lane.open.drain(..);
                        open.for_each(|opener| self.segments.end(text, &opener, start));
                    }
                }
                LineOf::Header | LineOf::Type | LineOf::Value(..) | LineOf::Creation(_) => {}
            }
            let line = text.line(start);
            if let Ok(Line::Event(event)) = self.decoder.line(&line)
                && let Ok(time) = event.time()
            {
                self.segments.add_time(start, time);
            }
            self.fixed_bytes += line.len() + 1;
            self.fixed.push((start, line));
        }
    }

    /// Returns true if links lack an end.
    pub(crate) fn has_incomplete_links(&self) -> bool {
        self.lanes.values().any(|lane| !lane.links.is_empty())
    }

    /// Returns what windows need; none if the trace can only be read whole.
    pub(crate) fn finish(self) -> Option<WindowIndex> {
        let Borders { mut segments, lanes, mut fixed, latest, is_impossible, .. } = self;
        let last = segments.end.checked_sub(1)?;
        let text = |opener: Opener| Some((opener.start, opener.text?));
        for lane in lanes.into_values() {
            let no_text = BlockText { start: 0, bytes: &[] };
            lane.open.iter().for_each(|opener| segments.end(no_text, opener, last));
            // Links that lack an end are a problem of the trace, and so of a window. At the end of another container than the
            // root, the problem is in a line, which has another number in a window.
            if lane.container != ContainerId::ROOT && !lane.links.is_empty() {
                return None;
            }
            fixed.extend(lane.links.into_iter().filter_map(|end| text(end.opener)));
        }
        let Segments { times, borders, cuts_a_line, .. } = segments;
        if is_impossible || cuts_a_line || times.len() < 2 {
            return None;
        }
        let latest = latest.into_iter();
        let latest = latest.flat_map(|latest| [Some(latest.line), latest.opener]);
        let latest = latest.flatten().filter_map(text).collect();
        Some(WindowIndex { times, fixed, latest, borders })
    }
}

/// Segments, and the rows that cross the boundaries between them.
#[derive(Debug, Default)]
struct Segments {
    starts: Vec<u64>,
    end: u64,
    times: Vec<(f64, f64)>,
    borders: Vec<Border>,
    /// Number of lines of all borders.
    lines: usize,
    /// The segment that was looked for last.
    last: usize,
    ends_within_line: bool,
    /// Whether a segment before the last ends within a line.
    cuts_a_line: bool,
}

impl Segments {
    fn add(&mut self, text: &[u8]) {
        self.cuts_a_line |= self.ends_within_line;
        self.ends_within_line = !text.ends_with(b"\n");
        if !self.starts.is_empty() {
            self.borders.push(Border::default());
        }
        self.starts.push(self.end);
        self.end += text.len() as u64;
        self.times.push((f64::INFINITY, f64::NEG_INFINITY));
    }

    /// Returns the segment that a line is in.
    #[inline]
    fn of(&mut self, line: u64) -> usize {
        let starts = |segment: usize| self.starts.get(segment).copied().unwrap_or(u64::MAX);
        if !(starts(self.last)..starts(self.last + 1)).contains(&line) {
            self.last = self.starts.partition_point(|start| *start <= line).saturating_sub(1);
        }
        self.last
    }

    fn add_time(&mut self, line: u64, time: f64) {
        let segment = self.of(line);
        if let Some((first, last)) = self.times.get_mut(segment) {
            (*first, *last) = (first.min(time), last.max(time));
        }
    }

    /// Returns the borders between two lines.
    #[inline]
    fn between(&mut self, first: u64, last: u64) -> Range<usize> {
        let last = self.of(last);
        match self.starts.get(last) {
            Some(start) if *start <= first => last..last,
            _ => self.of(first)..last,
        }
    }

    /// Adds a row that this line closes.
    #[inline]
    fn close(&mut self, text: BlockText<'_>, opener: &Opener, line: u64) {
        if !self.between(opener.start, line).is_empty() {
            self.end(text, opener, line);
            self.add_closer(text, opener.start, line);
        }
    }

    /// Adds a row that has ended at this line, which is in all windows.
    fn end(&mut self, text: BlockText<'_>, opener: &Opener, line: u64) {
        let borders = self.between(opener.start, line);
        if !borders.is_empty() {
            let kept = opener.text.clone().unwrap_or_else(|| text.line(opener.start));
            self.lines += borders.len();
            for border in &mut self.borders[borders] {
                border.openers.push((opener.start, Arc::clone(&kept)));
            }
        }
    }

    /// Adds the line that ends a row that another line has opened.
    #[inline]
    fn add_closer(&mut self, text: BlockText<'_>, opener: u64, line: u64) {
        let borders = self.between(opener, line);
        if !borders.is_empty() {
            let closer = text.line(line);
            self.lines += borders.len();
            for border in &mut self.borders[borders] {
                border.closers.push((line, Arc::clone(&closer)));
            }
        }
    }
}
