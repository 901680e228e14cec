//! A segment: so many lines, and the streams that tell them.

use std::io;
use std::ops::Range;

use paje_parser::scan::{Scanner, ShortLine};
use rustc_hash::FxHashMap;

use crate::coder::{Reading, Side, Writing, mix, room};
use crate::column::Columns;
use crate::keys::Keys;
use crate::lines::{Line, Lines, RAW, holes};
use crate::template::{Cut, Roles, ShortCut, is_header};
use crate::times::{Scale, Times};

/// The streams of a segment: lines, times, values, keys.
pub(crate) const STREAMS: usize = 4;

/// Holes of an action: where they are, and which.
struct Pattern {
    holes: Vec<(u32, u8)>,
    /// Holes but that of the lane: which, and the how many-th of all.
    others: Vec<(u8, u32)>,
    /// The column of the first hole; those of one event, with as many holes, are the same.
    column: u32,
}

/// An action in a lane: its text with the lane in place, and where the other holes are.
#[derive(Default)]
struct Placed {
    lane: u32,
    action: u32,
    literal: Vec<u8>,
    places: Vec<usize>,
}

impl Placed {
    fn place(&mut self, line: Line, pattern: &Pattern, action: &[u8], lane: &[u8]) {
        (self.lane, self.action) = (line.lane, line.action);
        self.literal.clear();
        self.places.clear();
        let mut copied = 0;
        for (place, hole) in &pattern.holes {
            let place = *place as usize;
            self.literal.extend_from_slice(&action[copied..place]);
            copied = place + 1;
            if *hole == holes::LANE {
                self.literal.extend_from_slice(lane);
            } else {
                self.places.push(self.literal.len());
            }
        }
        self.literal.extend_from_slice(&action[copied..]);
    }
}

/// Coder of the lines of a segment, both ways.
struct Teller<S> {
    sides: [S; STREAMS],
    lines: Lines,
    times: Times,
    values: Columns,
    keys: Keys,
    /// The first columns of events with so many holes.
    columns: FxHashMap<Box<[u8]>, u32>,
    patterns: Vec<Pattern>,
    /// Those that came last, of each place that they share.
    placed: Vec<Placed>,
    next_column: u32,
}

impl<S: Side> Teller<S> {
    fn new(sides: [S; STREAMS], scale: Scale, length: usize) -> Self {
        let room = room(length);
        Teller {
            sides,
            lines: Lines::new(room),
            times: Times::new(scale, room),
            values: Columns::new(room, 0),
            keys: Keys::new(room),
            columns: FxHashMap::default(),
            patterns: vec![Pattern { holes: Vec::new(), others: Vec::new(), column: 0 }],
            // A writer fills no holes.
            placed: (0..if S::WRITES { 1 } else { 1 << room.min(12) })
                .map(|_| Placed::default())
                .collect(),
            next_column: 0,
        }
    }

    /// Takes in the next action.
    #[cold]
    fn pattern(&mut self) {
        let text = self.lines.actions.get(self.patterns.len() as u32);
        let is_hole = |byte: &u8| (holes::LANE..=holes::VALUE).contains(byte);
        let places = text.iter().enumerate().filter(|(_, byte)| is_hole(byte));
        let holes: Vec<_> = places.map(|(place, byte)| (place as u32, *byte)).collect();
        let code = text.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
        let count = holes.len() as u32;
        let name = [code, &count.to_be_bytes()].concat();
        let next = self.next_column;
        let column = *self.columns.entry(name.into()).or_insert(next);
        if column == next {
            self.next_column += count;
        }
        let others = holes.iter().zip(0..).filter(|((_, hole), _)| *hole != holes::LANE);
        let others = others.map(|((_, hole), number)| (*hole, number)).collect();
        self.patterns.push(Pattern { holes, others, column });
    }

    /// An action is known, and has so many holes.
    #[inline]
    fn fits(&self, action: u32, holes: usize) -> bool {
        self.patterns.get(action as usize).is_some_and(|pattern| pattern.holes.len() == holes)
    }

    /// The next line; one that is read is appended to `out`. When it is written, `parts` has it in parts, or is none if it is raw.
    #[inline]
    fn line(
        &mut self,
        text: &[u8],
        parts: Option<Parts<'_, impl Fn(u32) -> Range<usize>>>,
        out: &mut Vec<u8>,
    ) {
        let (lane, action, known) = parts.as_ref().map_or((&b""[..], &b""[..], None), |parts| {
            (&text[parts.lane.clone()], parts.action, parts.known)
        });
        let line = self.lines.next(&mut self.sides[0], lane, action, known);
        if line.action == RAW {
            return self.sides[0].text(text, out);
        }
        if self.patterns.len() == line.action as usize {
            self.pattern();
        }
        let own = mix(line.lane, line.action);
        let pattern = &self.patterns[line.action as usize];
        let place = own as usize & (self.placed.len() - 1);
        let placed = &mut self.placed[place];
        if !S::WRITES && (placed.action != line.action || placed.lane != line.lane) {
            let lines = &self.lines;
            placed.place(line, pattern, lines.actions.get(line.action), lines.names.get(line.lane));
        }
        let [_, times, values, keys] = &mut self.sides;
        let (mut before, mut copied) = (0, 0);
        for (index, (hole, number)) in pattern.others.iter().enumerate() {
            if !S::WRITES {
                let place = placed.places[index];
                out.extend_from_slice(&placed.literal[copied..place]);
                copied = place;
            }
            let given = parts.as_ref().map_or(&b""[..], |parts| &text[(parts.field)(*number)]);
            let column = pattern.column + number;
            match *hole {
                holes::TIME => self.times.next(times, line, given, out),
                holes::START => {
                    self.keys.start(keys, column, [own, mix(own, line.history)], given, out);
                }
                holes::END => {
                    let contexts = [own, mix(own, line.history)];
                    self.keys.end(keys, column, line.lane, contexts, given, out);
                }
                _ => {
                    let contexts = [own, mix(line.action, before)];
                    let value = self.values.text(values, column, contexts, given, out);
                    before = value.bits as u32;
                }
            }
        }
        if !S::WRITES {
            out.extend_from_slice(&placed.literal[copied..]);
        }
    }
}

/// A line that is written, in parts.
struct Parts<'a, F> {
    lane: Range<usize>,
    action: &'a [u8],
    /// The number of the action, if it is known.
    known: Option<u32>,
    /// Text of a hole, as a range of the line.
    field: F,
}

/// Coded form of a segment.
pub(crate) struct Told {
    pub(crate) lines: u64,
    pub(crate) scale: Scale,
    /// For each stream, its columns and its texts.
    pub(crate) streams: [[Vec<u8>; 2]; STREAMS],
}

/// Bytes of text that are scanned together, so that what is found of them is at hand.
const BLOCK: usize = 1 << 14;

/// Writer of the lines of a segment.
struct LineWriter<'r> {
    teller: Teller<Writing>,
    roles: &'r mut Roles,
    cut: Cut,
    short: ShortCut,
}

impl LineWriter<'_> {
    /// Tells all lines, of which the last one does not end; how many there are.
    fn all(&mut self, text: &[u8]) -> u64 {
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
                        self.short_line(&text[start + at..], line);
                        at + line.len as usize
                    }
                    None => {
                        let Some(len) = memchr::memchr(b'\n', &block[at..]) else { break };
                        self.line(&block[at..at + len]);
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
                self.line(&rest[..len]);
                at += len + 1;
                lines += 1;
            }
            start += at;
        }
        lines
    }

    /// A line whose fields are known, and what follows it.
    #[inline]
    fn short_line(&mut self, text: &[u8], line: ShortLine) {
        if !self.short.cut(text, line, self.roles) {
            return self.line(&text[..line.len as usize]);
        }
        let (ShortCut { fields, lane, .. }, action) = (&self.short, self.short.action());
        let actions = &self.teller.lines.actions;
        // One that has not come yet may be none.
        let known = actions.find(action).filter(|action| self.teller.fits(*action, fields.len()));
        let Some(known) = known else { return self.line(&text[..line.len as usize]) };
        let range = |short: &Range<u8>| short.start.into()..short.end.into();
        let field = |number: u32| range(&fields[number as usize]);
        let parts = Parts { lane: range(lane), action, known: Some(known), field };
        self.teller.line(text, Some(parts), &mut Vec::new());
    }

    fn line(&mut self, line: &[u8]) {
        let header = is_header(line);
        if header {
            self.roles.learn(line);
        }
        let known = !header && self.cut.cut(line, self.roles);
        let Cut { action, fields, lane } = &self.cut;
        let field = |number: u32| fields[number as usize].clone();
        let parts = Parts { lane: lane.clone(), action, known: None, field };
        self.teller.line(line, known.then_some(parts), &mut Vec::new());
    }
}

/// Tells a text, whose definitions `roles` takes in. Its last line need not end.
///
/// # Errors
/// zstd lacks memory.
pub(crate) fn tell(text: &[u8], roles: &mut Roles, level: i32) -> io::Result<Told> {
    let mut before = roles.clone();
    before.learn_all(text);
    let scale = Scale::of(text, &before);
    let sides = std::array::from_fn(|_| Writing::default());
    let teller = Teller::new(sides, scale, text.len());
    let mut lines = LineWriter { teller, roles, cut: Cut::default(), short: ShortCut::default() };
    let count = lines.all(text.strip_suffix(b"\n").unwrap_or(text));
    let mut streams: [[Vec<u8>; 2]; STREAMS] = Default::default();
    for (stream, side) in streams.iter_mut().zip(lines.teller.sides) {
        *stream = side.finish(level)?;
    }
    Ok(Told { lines: count, scale, streams })
}

/// The text of a segment, which has `length` bytes.
///
/// # Errors
/// The streams do not tell such a text.
pub(crate) fn untell(told: &Told, length: usize) -> Result<Vec<u8>, ()> {
    let sides =
        told.streams.each_ref().map(|[columns, texts]| Reading::new(columns, texts, length));
    let mut teller = Teller::new(sides, told.scale, length);
    let mut text = Vec::with_capacity(length);
    for line in 0..told.lines {
        if line > 0 {
            text.push(b'\n');
        }
        teller.line(b"", None::<Parts<'_, fn(u32) -> Range<usize>>>, &mut text);
        if text.len() > length || teller.sides.iter().any(|side| side.failed) {
            return Err(());
        }
    }
    if text.len() < length {
        text.push(b'\n');
    }
    if text.len() == length { Ok(text) } else { Err(()) }
}
