//! A segment that is written: so many lines, and the streams that tell them.

use std::io;
use std::ops::Range;

use paje_parser::scan::{Scanner, ShortLine};

use crate::coder::{Side, Writing};
use crate::definitions::Definitions;
use crate::fields::FieldsOut;
use crate::keys::{FIRST_PART, KeysOut};
use crate::lines::{Line, LinesOut, RAW, holes};
use crate::look::{Look, Seen};
use crate::passage::Passage;
use crate::patterns::{Patterns, Slots};
use crate::stencils::Stencils;
use crate::steps::Steps;
use crate::template::{Cut, Roles, is_header};
use crate::times::{Moment, Scale, TimesOut};

/// The streams of a segment: lines, times, values, keys.
pub(crate) const STREAMS: usize = 4;

/// Coded form of a segment.
pub(crate) struct Told {
    pub(crate) lines: u64,
    pub(crate) scale: Scale,
    /// For each stream, its columns and its texts.
    pub(crate) streams: [[Vec<u8>; 2]; STREAMS],
}

/// Bytes of text that are scanned together, so that what is found of them is at hand.
const BLOCK: usize = 1 << 14;

/// Questions about holes, for who looks at lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looking {
    Not,
    /// Which are numbers; no line has quotes.
    ForNumbers,
    /// And which have quotes that may be more than two around a word.
    ForQuotes,
}

/// Writer of what is in the holes of lines.
struct HolesWriter {
    times: TimesOut,
    values: FieldsOut,
    keys: KeysOut,
    patterns: Patterns,
}

/// Contents of a line's holes that others ask for, and their places in the text.
pub(crate) struct Content {
    pub(crate) moment: Moment,
    /// The last key.
    pub(crate) key: Range<usize>,
    /// The first value.
    pub(crate) value: Range<usize>,
    /// This is no decimal number as they are mostly written.
    pub(crate) is_text: bool,
    /// Some hole has a quote that is not one of two around it.
    pub(crate) has_odd_quotes: bool,
}

impl HolesWriter {
    /// The holes of a line, whose first slots are these. Where they are in the text, `place` says: of the how many-th but the lane's, and of
    /// the how many-th of all.
    #[inline]
    fn put(
        &mut self,
        sides: &mut [Writing; STREAMS],
        (line, mut slots): (Line, Slots),
        text: &[u8],
        looks: Looking,
        place: impl Fn(usize, u32) -> Range<usize>,
    ) -> Content {
        let keys = &mut sides[3];
        let pattern = self.patterns.get(line.action);
        let (mut moment, mut key, mut value) = (Moment::None, 0..0, 0..0);
        let (mut is_text, mut odd_quotes) = (false, false);
        for (at, (hole, number)) in pattern.others.iter().enumerate() {
            let Range { start, end } = place(at, *number);
            let slot = pattern.place(*hole, *number, &mut slots);
            match *hole {
                holes::TIME => {
                    let units = self.times.put(line, text, start..end);
                    moment = units.map_or(Moment::Odd(start, end), Moment::Units);
                }
                holes::START => {
                    key = start..end;
                    self.keys.start(keys, slot, text, start..end);
                }
                holes::END => {
                    key = start..end;
                    self.keys.end(keys, (slot, line.lane), text, start..end);
                }
                _ => {
                    let is_number = self.values.value(slot, text, start..end);
                    if looks != Looking::Not {
                        odd_quotes |= looks == Looking::ForQuotes
                            && !is_number
                            && has_odd_quotes(&text[start..end]);
                        if value.end == 0 {
                            (value, is_text) = (start..end, !is_number);
                        }
                    }
                }
            }
        }
        odd_quotes |= looks == Looking::ForQuotes && has_odd_quotes(&text[key.clone()]);
        Content { moment, key, value, is_text, has_odd_quotes: odd_quotes }
    }
}

/// There is a quote in a word that is not one of two around it.
#[inline]
fn has_odd_quotes(text: &[u8]) -> bool {
    match text {
        [b'"', inner @ .., b'"'] => memchr::memchr(b'"', inner).is_some(),
        _ => memchr::memchr(b'"', text).is_some(),
    }
}

/// Writer of the lines of a segment.
struct LineWriter<'t> {
    text: &'t [u8],
    sides: [Writing; STREAMS],
    holes: HolesWriter,
    lines: LinesOut,
    roles: Roles,
    cut: Cut,
    steps: Steps,
    stencils: Stencils,
    /// The slots of the next step.
    next: Slots,
    look: Option<Look<'t>>,
    has_quotes: bool,
}

impl<'t> LineWriter<'t> {
    /// Tells all lines, of which the last one does not end; how many there are.
    fn all(&mut self, text: &'t [u8]) -> u64 {
        let mut scanner = Scanner::default();
        let (mut start, mut lines) = (0, 0);
        while start <= text.len() {
            let block = &text[start..text.len().min(start + BLOCK)];
            scanner.scan(block);
            let short = scanner.short_lines();
            let mut at = 0;
            loop {
                let line = short.at(at).filter(|line| at + (line.len as usize) < block.len());
                let end = match line {
                    Some(line) => {
                        self.short_line(start + at, line);
                        at + line.len as usize
                    }
                    None => {
                        let Some(len) = memchr::memchr(b'\n', &block[at..]) else { break };
                        self.line(start + at, len);
                        at + len
                    }
                };
                at = end + 1;
                lines += 1;
            }
            // A line that is longer than the block, or the last one.
            if at == 0 || start + block.len() == text.len() {
                let rest = &text[start + at..];
                let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                self.line(start + at, len);
                at += len + 1;
                lines += 1;
            }
            start += at;
        }
        lines
    }

    /// A line whose fields are known, and what follows it.
    #[inline]
    fn short_line(&mut self, start: usize, line: ShortLine) {
        let Some(window) = self.text[start..].first_chunk() else {
            self.line(start, line.len as usize);
            return;
        };
        let Some(step) = self.stencils.find(window, line, &self.roles, &self.lines.names) else {
            let (step, came) = self.line(start, line.len as usize);
            let texts = [self.lines.actions.get(came.action), self.lines.names.get(came.lane)];
            return self.stencils.learn(step, texts, window, line, &self.roles);
        };
        let (came, slots) = self.stencils.get(step);
        self.lines.again(&mut self.sides[0], came);
        let (places, looks) = (&self.stencils.places, self.looking());
        let content = self.holes.put(&mut self.sides, (came, slots), self.text, looks, |at, _| {
            let Range { start: first, end } = places.place(at);
            start + first..start + end
        });
        self.show(step, came, start, content);
    }

    /// Any line, which has so many bytes; its step.
    fn line(&mut self, start: usize, len: usize) -> (u32, Line) {
        let line = &self.text[start..start + len];
        let header = is_header(line);
        if header {
            self.roles.learn(line);
            self.stencils.forget();
        }
        let known = !header && self.cut.cut(line, &self.roles);
        let cut = &self.cut;
        let texts = if known { [&line[cut.lane.clone()], &cut.action[..]] } else { [&b""[..]; 2] };
        let came = self.lines.put(&mut self.sides[0], texts);
        if came.action == RAW {
            self.sides[0].text(line);
        } else if self.holes.patterns.len() == came.action as usize {
            self.holes.patterns.learn(&cut.action);
        }
        let step = self.steps.number(came);
        if self.stencils.len() == step as usize {
            self.stencils.push(came, self.next);
            let pattern = self.holes.patterns.get(came.action);
            for (hole, number) in &pattern.others {
                pattern.place(*hole, *number, &mut self.next);
            }
        }
        let (came_at, looks) = (self.stencils.get(step), self.looking());
        let content = self.holes.put(&mut self.sides, came_at, self.text, looks, |_, number| {
            let Range { start: first, end } = cut.fields[number as usize];
            start + first..start + end
        });
        self.show(step, came, start, content);
        (step, came)
    }

    /// Questions that are asked of holes.
    #[inline]
    const fn looking(&self) -> Looking {
        match self.look {
            Some(_) if self.has_quotes => Looking::ForQuotes,
            Some(_) => Looking::ForNumbers,
            None => Looking::Not,
        }
    }

    /// Notes a line, and shows it to who looks, until one comes that the look cannot tell.
    #[inline(always)]
    fn show(&mut self, step: u32, line: Line, at: usize, content: Content) {
        self.stencils.came(step);
        if let Some(look) = &mut self.look
            && look.see(&Seen { step, action: line.action, at, content }, &self.roles).is_none()
        {
            self.look = None;
        }
    }
}

/// Aim of a look at lines while they are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looks {
    /// None is wanted.
    Not,
    /// Rows that cross the segment's ends.
    Across,
    /// These, and all others.
    AtRows,
}

/// Tells a text, with the definitions that stand before it. Its last line need not end. Who `looks` is also given what crosses its
/// ends, if it can be read by itself.
///
/// # Errors
/// zstd lacks memory.
pub(crate) fn tell(
    text: &[u8],
    definitions: &Definitions,
    level: i32,
    looks: Looks,
) -> io::Result<(Told, Option<Passage>)> {
    let roles = definitions.roles.clone();
    let mut all = roles.clone();
    all.learn_all(text);
    let scale = Scale::of(text, &all);
    let holes = HolesWriter {
        times: TimesOut::new(scale),
        values: FieldsOut::default(),
        keys: KeysOut::new(FieldsOut::default()),
        patterns: Patterns::default(),
    };
    let mut lines = LineWriter {
        text,
        sides: Default::default(),
        holes,
        lines: LinesOut::new(),
        roles,
        cut: Cut::default(),
        steps: Steps::default(),
        stencils: Stencils::default(),
        next: Slots::default(),
        look: match looks {
            Looks::Not => None,
            Looks::Across => Some(Look::new(text, scale, definitions)),
            Looks::AtRows => Some(Look::new(text, scale, definitions).with_rows()),
        },
        has_quotes: looks != Looks::Not && memchr::memchr(b'"', text).is_some(),
    };
    let count = lines.all(text.strip_suffix(b"\n").unwrap_or(text));
    let HolesWriter { mut times, mut values, mut keys, .. } = lines.holes;
    let mut sides = lines.sides;
    lines.lines.write(&mut sides[0]);
    times.write(&mut sides[1], text)?;
    values.write(&mut sides[2], 0, text);
    keys.fields.write(&mut sides[3], FIRST_PART, text);
    let mut streams: [[Vec<u8>; 2]; STREAMS] = Default::default();
    for (stream, side) in streams.iter_mut().zip(sides) {
        *stream = side.finish(level)?;
    }
    Ok((Told { lines: count, scale, streams }, lines.look.map(Look::passage)))
}
