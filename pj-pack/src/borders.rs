//! Lines that open and close the rows that cross boundaries between segments.
//!
//! Some lines of a sound trace are a sound trace again if, of each row, both the line that opens it and the one that
//! closes it are among them: its rows are those of the whole trace.

use std::collections::HashMap;
use std::sync::Arc;

use paje_pack::{Border, TextLine, WindowIndex};
use paje_parser::{EntityOp, FieldNames, Line, LineDecoder};
use paje_sim::{BlockLines, ContainerId, LaneChange, LaneEvent, LaneId, LineOf};
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
    links: HashMap<Box<[u8]>, Opener>,
}

/// First ends of links in the block, by lane and key.
type BlockLinks<'a> = HashMap<(LaneId, &'a [u8]), u64>;

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
        let (mut changed, mut links) = (Vec::new(), BlockLinks::new());
        page.lane_events(|event| {
            if changed.last() != Some(&event.lane.0) {
                changed.push(event.lane.0);
            }
            self.add_event(text, event, &mut links);
        });
        self.add_fixed_lines(page, text);
        for lane in changed {
            let Some(lane) = self.lanes.get_mut(&lane) else { continue };
            let new = lane.open.iter_mut().rev().take_while(|opener| opener.text.is_none());
            new.for_each(|opener| text.keep(opener));
        }
        for ((lane, key), start) in links {
            let Some(lane) = self.lanes.get_mut(&lane) else { continue };
            lane.links.insert(key.into(), Opener { start, text: Some(text.line(start)) });
        }
        if let Some(Latest { line, opener, .. }) = &mut self.latest {
            text.keep(line);
            opener.iter_mut().for_each(|opener| text.keep(opener));
        }
        self.is_impossible |= self.segments.lines > BORDER_LINES || self.fixed_bytes > FIXED_BYTES;
    }

    fn add_event<'a>(
        &mut self,
        text: BlockText<'_>,
        event: LaneEvent<'a>,
        links: &mut BlockLinks<'a>,
    ) {
        let LaneEvent { lane: (id, container), time, .. } = event;
        let start = text.start + event.start as u64;
        let segments = &mut self.segments;
        segments.add_time(start, time);
        let lane = self.lanes.entry(id).or_insert_with(|| Lane {
            container,
            open: Vec::new(),
            links: HashMap::new(),
        });
        // The line that this one depends on.
        let mut opener = None;
        match event.change {
            LaneChange::Entity(EntityOp::Event) => {}
            LaneChange::Entity(EntityOp::PushState) => lane.open.push(Opener::new(start)),
            LaneChange::Entity(EntityOp::PopState) => {
                opener = lane.open.pop();
                opener.iter().for_each(|opener| segments.close(text, opener, start));
            }
            LaneChange::Entity(EntityOp::AddVariable | EntityOp::SubVariable) => {
                opener = lane.open.first().cloned();
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
            LaneChange::Link(_, key) => {
                let in_block = links.remove(&(id, key)).map(Opener::new);
                opener = in_block.or_else(|| lane.links.remove(key));
                match &opener {
                    None => drop(links.insert((id, key), start)),
                    Some(opener) => {
                        segments.close(text, opener, start);
                        if let Some(latest) = &mut self.latest
                            && latest.line.start == opener.start
                        {
                            latest.opener = Some(Opener::new(start));
                        }
                    }
                }
            }
        }
        if self.latest.as_ref().is_none_or(|latest| latest.time < time) {
            self.latest = Some(Latest { time, line: Opener::new(start), opener });
        }
    }

    /// Adds the lines that every window has, and ends what is open in containers that are destroyed.
    fn add_fixed_lines(&mut self, page: &BlockLines<'_>, text: BlockText<'_>) {
        let mut next = text.start;
        for (len, about) in page.lines() {
            let start = next;
            next += len as u64;
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
            self.fixed_bytes += len;
            let line = text.line(start);
            if let Ok(Line::Event(event)) = self.decoder.line(&line)
                && let Ok(time) = event.time()
            {
                self.segments.add_time(start, time);
            }
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
            fixed.extend(lane.links.into_values().filter_map(text));
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

    /// Adds a row that this line closes.
    fn close(&mut self, text: BlockText<'_>, opener: &Opener, line: u64) {
        self.end(text, opener, line);
        self.add_closer(text, opener.start, line);
    }

    /// Adds a row that has ended at this line, which is in all windows.
    fn end(&mut self, text: BlockText<'_>, opener: &Opener, line: u64) {
        let (last, first) = (self.of(line), self.of(opener.start));
        if first < last {
            let opener =
                (opener.start, opener.text.clone().unwrap_or_else(|| text.line(opener.start)));
            self.lines += last - first;
            for border in &mut self.borders[first..last] {
                border.openers.push(opener.clone());
            }
        }
    }

    /// Adds the line that ends a row that another line has opened.
    fn add_closer(&mut self, text: BlockText<'_>, opener: u64, line: u64) {
        let (first, last) = (self.of(opener), self.of(line));
        if first < last {
            let closer = (line, text.line(line));
            self.lines += last - first;
            for border in &mut self.borders[first..last] {
                border.closers.push(closer.clone());
            }
        }
    }
}
