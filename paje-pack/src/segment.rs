//! A segment: so many lines, and the streams that tell them.

use std::io;

use paje_parser::scan::{Scanner, ShortLine};
use rustc_hash::FxHashMap;

use crate::coder::{Reading, Side, Writing, mix, room};
use crate::column::Columns;
use crate::keys::Keys;
use crate::lines::{Line, Lines, RAW, holes};
use crate::matcher::{Matcher, lane};
use crate::out::Out;
use crate::template::{Cut, Roles, is_header};
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

/// Text of a step, with its lane in place, for who reads it: where it begins among the literals, where its holes begin among
/// places, and where it ends.
struct Placed {
    start: usize,
    holes: usize,
    end: usize,
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
    next_column: u32,
    /// For each step; a writer fills no holes.
    placed: Vec<Placed>,
    literals: Vec<u8>,
    places: Vec<usize>,
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
            next_column: 0,
            placed: Vec::new(),
            literals: Vec::new(),
            places: Vec::new(),
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

    /// Takes in the next step, which is that of a line.
    #[cold]
    fn place(&mut self, line: Line) {
        let (start, holes) = (self.literals.len(), self.places.len());
        let action = self.lines.actions.get(line.action);
        let mut copied = 0;
        for (place, hole) in &self.patterns[line.action as usize].holes {
            let place = *place as usize;
            self.literals.extend_from_slice(&action[copied..place]);
            copied = place + 1;
            if *hole == holes::LANE {
                self.literals.extend_from_slice(self.lines.names.get(line.lane));
            } else {
                self.places.push(self.literals.len());
            }
        }
        self.literals.extend_from_slice(&action[copied..]);
        self.placed.push(Placed { start, holes, end: self.literals.len() });
    }

    /// Takes in what is new in a line.
    #[inline]
    fn meet(&mut self, line: Line) {
        if self.patterns.len() == line.action as usize {
            self.pattern();
        }
        if !S::WRITES && self.placed.len() == line.step as usize {
            self.place(line);
        }
    }

    /// The holes of a line, in which `field` has what is given; what is read is appended to `out`.
    #[inline]
    fn holes<'t>(&mut self, line: Line, field: impl Fn(u32) -> &'t [u8], out: &mut Out) {
        let own = mix(line.lane, line.action);
        let pattern = &self.patterns[line.action as usize];
        let placed = self.placed.get(line.step as usize);
        let (mut copied, end, mut next) =
            placed.map_or((0, 0, 0), |placed| (placed.start, placed.end, placed.holes));
        let [_, times, values, keys] = &mut self.sides;
        let mut before = 0;
        for (hole, number) in &pattern.others {
            if !S::WRITES {
                let place = self.places[next];
                next += 1;
                out.put_of(&self.literals, copied, place - copied);
                copied = place;
            }
            let given = field(*number);
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
            out.put_of(&self.literals, copied, end - copied);
        }
    }
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
    matcher: Matcher,
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
        let end = line.len as usize;
        let lines = &mut self.teller.lines;
        let side = &mut self.teller.sides[0];
        let guess = lines.guess();
        // The guess of a raw line is none that a line can be compared with.
        let is_raw = guess.is_some_and(|guess| guess.step.action == RAW);
        let Some(window) = text.first_chunk().filter(|_| !is_raw) else {
            self.line(&text[..end]);
            return;
        };
        let guessed = guess.and_then(|guess| {
            let right = self.matcher.fits(guess.step.action, window, line)
                && lines.names.get(guess.step.lane) == self.matcher.places.lane(text);
            right.then_some(guess)
        });
        let told = match guessed {
            Some(guess) => lines.guessed(side, guess, true),
            None => {
                let number = lane(window, line, self.roles).and_then(|lane| lines.names.find(lane));
                let likely = number
                    .and_then(|number| lines.likely(number))
                    .filter(|action| self.matcher.fits(*action, window, line));
                likely.or_else(|| self.matcher.find(window, line, self.roles)).map(|action| {
                    guess.and_then(|guess| lines.guessed(side, guess, false));
                    let lane = self.matcher.places.lane(text);
                    let number = number.filter(|number| lines.names.get(*number) == lane);
                    lines.told(side, lane, b"", [number, Some(action)])
                })
            }
        };
        let Some(told) = told else {
            let action = self.line(&text[..end]);
            let text = self.teller.lines.actions.get(action);
            return self.matcher.learn(action, text, window, line, self.roles);
        };
        let field = |number| self.matcher.places.field(text, number);
        self.teller.holes(told, field, &mut Out::default());
    }

    /// Any line; its action.
    fn line(&mut self, line: &[u8]) -> u32 {
        let header = is_header(line);
        if header {
            self.roles.learn(line);
        }
        let known = !header && self.cut.cut(line, self.roles);
        let Cut { action, fields, lane } = &self.cut;
        let (lane, action) =
            if known { (&line[lane.clone()], &action[..]) } else { (&b""[..], &b""[..]) };
        let lines = &mut self.teller.lines;
        let side = &mut self.teller.sides[0];
        let guessed = lines.guess().and_then(|guess| {
            let right = lines.names.get(guess.step.lane) == lane
                && lines.actions.get(guess.step.action) == action;
            lines.guessed(side, guess, right)
        });
        let told = guessed.unwrap_or_else(|| lines.told(side, lane, action, [None; 2]));
        self.teller.meet(told);
        if told.action == RAW {
            self.teller.sides[0].text(line);
        } else {
            let field = |number: u32| &line[fields[number as usize].clone()];
            self.teller.holes(told, field, &mut Out::default());
        }
        told.action
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
    let (cut, matcher) = (Cut::default(), Matcher::default());
    let mut lines = LineWriter { teller, roles, cut, matcher };
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
    let mut text = Out::new(length);
    for line in 0..told.lines {
        if line > 0 {
            text.push(b'\n');
        }
        let came = teller.lines.next(&mut teller.sides[0]);
        teller.meet(came);
        if came.action == RAW {
            text.put(teller.sides[0].text(b""));
        } else {
            teller.holes(came, |_| b"", &mut text);
        }
        // Whoever has failed goes on with lines of nothing, for a while.
        let failed = || teller.sides.iter().any(|side| side.failed);
        if text.len() > length || text.is_full() || (line % 64 == 0 && failed()) {
            return Err(());
        }
    }
    if teller.sides.iter().any(|side| side.failed) {
        return Err(());
    }
    if text.len() < length {
        text.push(b'\n');
    }
    if text.len() == length { Ok(text.finish()) } else { Err(()) }
}
