//! A segment: so many lines, and the streams that tell them.

use std::io;

use rustc_hash::FxHashMap;

use crate::coder::{CLASSES, Guesses, NUMBER, Reading, Side, Writing, mix, room};
use crate::column::{Columns, unzigzag, zigzag};
use crate::keys::Keys;
use crate::lines::{Line, Lines, RAW, holes};
use crate::template::{Cut, Roles, is_header};
use crate::value::{Kind, Value, write_decimal};

/// The streams of a segment: lines, times, values, keys.
pub(crate) const STREAMS: usize = 4;

/// Spelling of times: digits after the point, of which the last `zeros` are zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scale {
    pub(crate) after: u8,
    pub(crate) zeros: u8,
}

impl Scale {
    /// The time in the units of the scale, if it is spelt as the others.
    fn units(self, text: &[u8]) -> Option<i64> {
        let Value { kind: Kind::Decimal(after), bits } = Value::decimal(text)? else { return None };
        let power = 10_i64.pow(self.zeros.into());
        (after == self.after && bits as i64 % power == 0).then(|| bits as i64 / power)
    }

    fn write(self, units: i64, out: &mut Vec<u8>) {
        write_decimal(units.wrapping_mul(10_i64.pow(self.zeros.into())), self.after, out);
    }
}

/// Columns of times: runs of those that are spelt as the others; of guesses; numbers by action; then what odd ones need.
mod column {
    use super::{CLASSES, NUMBER};

    pub(super) const USUAL: usize = 0;
    pub(super) const RUNS: usize = 1;
    pub(super) const NUMBERS: usize = RUNS + 2 * CLASSES;
    /// Actions that share no columns.
    pub(super) const ACTIONS: usize = 64;
    pub(super) const ODD: usize = NUMBERS + 2 * ACTIONS * NUMBER;
}

/// Times, in the order of their lines.
struct Times {
    scale: Scale,
    last: i64,
    /// Spelling of the last time, once there is one.
    text: Vec<u8>,
    durations: Guesses<i64>,
    /// When a lane had its last line.
    lanes: Vec<i64>,
    odd: Columns,
}

impl Times {
    #[inline]
    fn next<S: Side>(&mut self, side: &mut S, line: Line, given: &[u8], out: &mut Vec<u8>) {
        let units = match S::WRITES {
            true if given == self.text => Some(self.last),
            true => self.scale.units(given),
            false => None,
        };
        if !side.hit(column::USUAL, units.is_some()) {
            self.odd.text(side, 0, [line.action, 0], given, out);
            return;
        }
        let lane = line.lane as usize;
        if self.lanes.len() <= lane {
            self.lanes.resize(lane + 1, 0);
        }
        let before = self.lanes[lane];
        let units = units.unwrap_or(0);
        let stays = usize::from(line.stays);
        let place = self.durations.place(mix(line.history, line.action));
        let runs = column::RUNS + stays * CLASSES;
        let duration = units.wrapping_sub(before);
        let duration = match self.durations.try_one(side, place, runs, None, duration) {
            Some(duration) => duration,
            None => {
                let action = line.action as usize % column::ACTIONS;
                let numbers = column::NUMBERS + (2 * action + stays) * NUMBER;
                let difference = zigzag(units.wrapping_sub(self.last));
                let difference = unzigzag(side.number(numbers, difference));
                self.last.wrapping_add(difference).wrapping_sub(before)
            }
        };
        self.durations.learn(place, duration);
        let now = before.wrapping_add(duration);
        self.lanes[lane] = now;
        // Many lines have the time of the line before.
        if now != self.last || self.text.is_empty() {
            self.last = now;
            self.text.clear();
            match S::WRITES {
                true => self.text.extend_from_slice(given),
                false => self.scale.write(now, &mut self.text),
            }
        }
        if !S::WRITES {
            out.extend_from_slice(&self.text);
        }
    }
}

/// Holes of an action: where they are, and which.
struct Pattern {
    holes: Vec<(u32, u8)>,
    /// The column of the first hole; those of one event, with as many holes, are the same.
    column: u32,
}

/// An action in a lane: its text with the lane in place, and the other holes: where, which, and the how many-th of all.
#[derive(Default)]
struct Placed {
    lane: u32,
    action: u32,
    literal: Vec<u8>,
    holes: Vec<(u32, u8, u32)>,
    column: u32,
}

impl Placed {
    fn place(&mut self, line: Line, pattern: &Pattern, action: &[u8], lane: &[u8]) {
        (self.lane, self.action, self.column) = (line.lane, line.action, pattern.column);
        self.literal.clear();
        self.holes.clear();
        let mut copied = 0;
        for (number, (place, hole)) in (0..).zip(&pattern.holes) {
            let place = *place as usize;
            self.literal.extend_from_slice(&action[copied..place]);
            copied = place + 1;
            if *hole == holes::LANE {
                self.literal.extend_from_slice(lane);
            } else {
                self.holes.push((self.literal.len() as u32, *hole, number));
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
            times: Times {
                scale,
                last: 0,
                text: Vec::new(),
                durations: Guesses::new(room),
                lanes: Vec::new(),
                odd: Columns::new(8, column::ODD),
            },
            values: Columns::new(room, 0),
            keys: Keys::new(room),
            columns: FxHashMap::default(),
            patterns: vec![Pattern { holes: Vec::new(), column: 0 }],
            placed: (0..1 << room.min(12)).map(|_| Placed::default()).collect(),
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
        self.patterns.push(Pattern { holes, column });
    }

    /// The next line; one that is read is appended to `out`. When it is written, `cut` has it in parts, or is none if it is raw.
    #[inline]
    fn line(&mut self, text: &[u8], cut: Option<&Cut>, out: &mut Vec<u8>) {
        let (lane, action) =
            cut.map_or((&b""[..], &b""[..]), |cut| (&text[cut.lane.clone()], &cut.action));
        let line = self.lines.next(&mut self.sides[0], lane, action);
        if line.action == RAW {
            return self.sides[0].text(text, out);
        }
        if self.patterns.len() == line.action as usize {
            self.pattern();
        }
        let own = mix(line.lane, line.action);
        let place = own as usize & (self.placed.len() - 1);
        let placed = &mut self.placed[place];
        if placed.action != line.action || placed.lane != line.lane {
            let pattern = &self.patterns[line.action as usize];
            let lines = &self.lines;
            placed.place(line, pattern, lines.actions.get(line.action), lines.names.get(line.lane));
        }
        let [_, times, values, keys] = &mut self.sides;
        let (mut before, mut copied) = (0, 0);
        for (place, hole, number) in &placed.holes {
            if !S::WRITES {
                let place = *place as usize;
                out.extend_from_slice(&placed.literal[copied..place]);
                copied = place;
            }
            let field = cut.and_then(|cut| cut.fields.get(*number as usize));
            let given = field.map_or(&b""[..], |field| &text[field.clone()]);
            let column = placed.column + number;
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

/// Coded form of a segment.
pub(crate) struct Told {
    pub(crate) lines: u64,
    pub(crate) scale: Scale,
    /// For each stream, its columns and its texts.
    pub(crate) streams: [[Vec<u8>; 2]; STREAMS],
}

/// Spelling of the first times of a text, most of them.
fn scale(text: &[u8], roles: &Roles) -> Scale {
    const SAMPLE: usize = 4096;
    let mut cut = Cut::default();
    let mut counts = [0_usize; 20];
    let mut zeros = [18_u8; 20];
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !is_header(line));
    for line in lines.take(SAMPLE) {
        if !cut.cut(line, roles) {
            continue;
        }
        let is_hole = |byte: &&u8| (holes::LANE..=holes::VALUE).contains(*byte);
        for (hole, field) in cut.action.iter().filter(is_hole).zip(&cut.fields) {
            if *hole == holes::TIME
                && let Some(Value { kind: Kind::Decimal(after), bits }) =
                    Value::decimal(&line[field.clone()])
            {
                counts[usize::from(after)] += 1;
                let of =
                    (0..after).take_while(|zeros| bits % 10_u64.pow(u32::from(*zeros) + 1) == 0);
                let zeros = &mut zeros[usize::from(after)];
                *zeros = (*zeros).min(of.count() as u8);
            }
        }
    }
    let after = (0..20).max_by_key(|after| counts[*after]).unwrap_or(0);
    if counts[after] == 0 {
        Scale::default()
    } else {
        Scale { after: after as u8, zeros: zeros[after] }
    }
}

/// Tells a text, whose definitions `roles` takes in. Its last line need not end.
///
/// # Errors
/// zstd lacks memory.
pub(crate) fn tell(text: &[u8], roles: &mut Roles, level: i32) -> io::Result<Told> {
    let mut before = roles.clone();
    before.learn_all(text);
    let scale = scale(text, &before);
    let sides = std::array::from_fn(|_| Writing::default());
    let mut teller = Teller::new(sides, scale, text.len());
    let (mut cut, mut out, mut lines) = (Cut::default(), Vec::new(), 0);
    let whole = text.strip_suffix(b"\n").unwrap_or(text);
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', whole).chain([whole.len()]) {
        let line = &whole[start..end];
        start = end + 1;
        let header = is_header(line);
        if header {
            roles.learn(line);
        }
        let known = !header && cut.cut(line, roles);
        out.clear();
        teller.line(line, known.then_some(&cut), &mut out);
        lines += 1;
    }
    let mut streams: [[Vec<u8>; 2]; STREAMS] = Default::default();
    for (stream, side) in streams.iter_mut().zip(teller.sides) {
        *stream = side.finish(level)?;
    }
    Ok(Told { lines, scale, streams })
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
        teller.line(b"", None, &mut text);
        if text.len() > length || teller.sides.iter().any(|side| side.failed) {
            return Err(());
        }
    }
    if text.len() < length {
        text.push(b'\n');
    }
    if text.len() == length { Ok(text) } else { Err(()) }
}
