//! Encodes a segment. The contents of its lines are distributed to four streams.

use std::io;
use std::ops::Range;

use paje_parser::scan::{PlainLines, Scanner, ShortLines, Spans};

use crate::fields::FieldsOut;
use crate::keys::KeysOut;
use crate::line_cache::{LineCache, Place, StepHole, Trio, Words};
use crate::lines::{Line, LinesOut, RAW, holes};
use crate::patterns::Patterns;
use crate::steps::Steps;
use crate::stream::StreamWriter;
use crate::template::{Cut, Definitions, is_header, sample};
use crate::times::{Scale, TimesOut};

/// Number of streams of a segment. They hold its lines, times, values and keys.
pub(crate) const STREAMS: usize = 4;

pub(crate) struct EncodedSegment {
    pub(crate) lines: u64,
    pub(crate) scale: Scale,
    pub(crate) streams: [[Vec<u8>; 2]; STREAMS],
}

/// Size in bytes of a block that is scanned at once. The results of a scan fit into the cache.
const BLOCK: usize = 1 << 14;

/// Typical length of short lines in bytes. It determines the size of tables that cannot grow.
const LINE: usize = 24;

struct HolesWriter {
    times: TimesOut,
    values: FieldsOut,
    keys: KeysOut,
}

impl HolesWriter {
    /// Writes the contents of a line's holes, given their positions in the text.
    #[inline(always)]
    fn put(
        &mut self,
        sides: &mut [StreamWriter; STREAMS],
        (line, holes): (Line, &[StepHole]),
        text: &[u8],
        places: impl Iterator<Item = Place>,
    ) {
        let side = &mut sides[3];
        for (hole, (start, end)) in holes.iter().zip(places) {
            let (slot, range) = (hole.slot, start as usize..end as usize);
            match hole.kind {
                holes::TIME => self.times.put(line, text, range),
                holes::START => self.keys.start(slot, text, range),
                holes::END => self.keys.end(side, slot, text, range),
                _ => self.values.value(slot, text, range),
            }
        }
    }
}

/// A recognised line. The positions of its holes are counted from its start.
struct Found {
    step: u32,
    at: u32,
    places: Trio,
}

struct LineWriter<'t> {
    text: &'t [u8],
    sides: [StreamWriter; STREAMS],
    holes: HolesWriter,
    lines: LinesOut,
    roles: Definitions,
    spans: Spans,
    cut: Cut,
    steps: Steps,
    patterns: Patterns,
    cache: LineCache,
    /// Lines that have been recognised but not written.
    found: Vec<Found>,
    /// First slot of the next new step.
    next: u32,
}

impl<'t> LineWriter<'t> {
    /// Writes all lines. The last line has no newline.
    fn all(&mut self, text: &'t [u8]) {
        let mut scanner = Scanner::default();
        let mut start = 0;
        while start <= text.len() {
            let block = &text[start..text.len().min(start + BLOCK)];
            scanner.scan(block);
            let lines = scanner.short_lines();
            let (plain, mut at) = (lines.plain(), 0);
            loop {
                if let Some(plain) = plain {
                    at = self.find_all(plain, block, (start, at));
                    self.put_found();
                }
                let Some(len) = memchr::memchr(b'\n', &block[at..]) else { break };
                scanner.fields(block, at, &mut self.spans);
                self.other(start + at, len, (lines, at));
                at += len + 1;
            }
            // The rest of the block is the last line, or a line that is longer than the block.
            if at == 0 || start + block.len() == text.len() {
                let rest = &text[start + at..];
                let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                self.spans.read(&rest[..len], 0);
                self.line(start + at, len, 0);
                at += len + 1;
            }
            start += at;
        }
    }

    /// Recognises lines of a block from byte `at` on. Stops at a line of a new step or of an
    /// unusual form, and returns where that line begins.
    #[inline(never)]
    fn find_all(
        &mut self,
        lines: PlainLines<'_>,
        block: &[u8],
        (start, mut at): (usize, usize),
    ) -> usize {
        let LineWriter { text, cache, found, .. } = self;
        while let Some(line) = lines.usual(at)
            && at + (line.1 as usize) < block.len()
            && let Some(window) = text[start + at..].first_chunk()
            && let Some((words, places)) = Words::of(window, line, &cache.heads)
            && let Some(step) = cache.quick.find(&words)
        {
            found.push(Found { step, at: (start + at) as u32, places });
            at += line.1 as usize + 1;
        }
        at
    }

    fn put_found(&mut self) {
        let LineWriter { text, sides, holes, cache, lines, .. } = self;
        lines.extend(self.found.iter().map(|found| found.step));
        for Found { step, at, places } in self.found.drain(..) {
            let place = |[first, end]: [u8; 2]| (at + u32::from(first), at + u32::from(end));
            if let Some(line) = cache.timed(step) {
                let (first, end) = place(places[0]);
                holes.times.put(line, text, first as usize..end as usize);
            } else {
                holes.put(sides, cache.get(step), text, places.into_iter().map(place));
            }
        }
    }

    /// Writes a line of `len` bytes that was not recognised. It begins at byte `start` of the text
    /// and `at` of the scanned block.
    fn other(&mut self, start: usize, len: usize, (lines, at): (ShortLines<'_>, usize)) {
        let step = self.line(start, len, at);
        let LineWriter { text, cache, roles, lines: all, .. } = self;
        if let Some(plain) = lines.plain()
            && let Some(line) = plain.usual(at).filter(|line| line.1 as usize == len)
            && let Some(window) = text[start..].first_chunk()
            && let Some(bytes) = text[start..].first_chunk()
        {
            cache.heads.learn(bytes, line.0, roles);
            if let Some((words, _)) = Words::of(window, line, &cache.heads)
                && cache.quick.find(&words).is_none()
            {
                let (Line { lane, action }, _) = cache.get(step);
                cache.learn(step, [all.actions.get(action), all.names.get(lane)], words);
            }
        }
    }

    /// Writes a line of `len` bytes, whose fields are in `spans`. Their offsets are counted from
    /// `base` bytes before the line. Returns the step of the line.
    #[inline(never)]
    fn line(&mut self, start: usize, len: usize, base: usize) -> u32 {
        let line = &self.text[start..start + len];
        let header = is_header(line);
        if header {
            self.roles.learn_line(line);
            self.cache.forget();
        }
        let known = !header && self.cut.cut(line, self.spans.as_slice(), base, &self.roles);
        let cut = &self.cut;
        let texts = if known { [&line[cut.lane.clone()], &cut.action[..]] } else { [&b""[..]; 2] };
        let came = self.lines.put(&mut self.sides[0], texts);
        if came.action == RAW {
            self.sides[0].text(line);
        } else if self.patterns.len() == came.action as usize {
            self.patterns.learn(&cut.action);
        }
        let step = self.steps.number(came);
        if self.cache.len() == step as usize {
            self.cache.push(came, self.patterns.get(came.action), &mut self.next);
        }
        self.lines.extend(std::iter::once(step));
        let of_step = self.cache.get(step);
        let places = of_step.1.iter().map(|hole| {
            let Range { start: first, end } = cut.fields[usize::from(hole.number)];
            ((start + first) as u32, (start + end) as u32)
        });
        self.holes.put(&mut self.sides, of_step, self.text, places);
        step
    }
}

/// Encodes a text that follows these definitions. Its last line may lack a newline.
///
/// # Errors
/// zstd lacks memory.
pub(crate) fn encode(
    text: &[u8],
    definitions: &Definitions,
    level: i32,
) -> io::Result<EncodedSegment> {
    let mut roles = definitions.clone();
    roles.settle(sample(text));
    let mut all = roles.clone();
    all.learn(text);
    let scale = Scale::of(text, &all);
    let holes = HolesWriter {
        times: TimesOut::new(scale, text.len() / LINE),
        values: FieldsOut::with_room(text.len() / LINE),
        keys: KeysOut::default(),
    };
    let mut lines = LineWriter {
        text,
        sides: Default::default(),
        holes,
        lines: LinesOut::new(text.len() / LINE),
        roles,
        spans: Spans::default(),
        cut: Cut::default(),
        steps: Steps::default(),
        patterns: Patterns::default(),
        cache: LineCache::default(),
        found: Vec::new(),
        next: 0,
    };
    lines.all(text.strip_suffix(b"\n").unwrap_or(text));
    let count = lines.lines.len() as u64;
    let HolesWriter { mut times, mut values, mut keys } = lines.holes;
    let mut sides = lines.sides;
    lines.lines.write(&mut sides[0], lines.cache.lines());
    times.write(&mut sides[1], text);
    values.write(&mut sides[2], 0, text);
    keys.write(&mut sides[3], text);
    let mut streams: [[Vec<u8>; 2]; STREAMS] = Default::default();
    for (stream, side) in streams.iter_mut().zip(sides) {
        *stream = side.finish(level)?;
    }
    Ok(EncodedSegment { lines: count, scale, streams })
}
