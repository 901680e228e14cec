//! A segment: so many lines, and the streams that tell them.

use rustc_hash::FxHashMap;

use crate::coder::{Context, Guesses, Model, Reading, Side, Writing, mix, room};
use crate::column::Columns;
use crate::keys::Keys;
use crate::lines::{Line, Lines, RAW, holes};
use crate::template::{Cut, Roles, is_header};
use crate::value::{Kind, Value, write_decimal};

/// The streams of a segment: lines, times, values, keys.
pub(crate) const STREAMS: usize = 4;

/// How times are written: digits after the point, of which the last `zeros` are zeros.
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

/// Times, in the order of their lines.
struct Times {
    scale: Scale,
    last: i64,
    model: Model,
    durations: Guesses<i64>,
    /// When a lane had its last line.
    lanes: Vec<i64>,
    action: u32,
    odd: Columns,
}

impl Times {
    fn next<S: Side>(&mut self, side: &mut S, line: Line, given: &[u8], out: &mut Vec<u8>) {
        let at =
            Context::new(line.action, mix(line.action, self.action << 1 | u32::from(line.stays)));
        let units = if S::WRITES { self.scale.units(given) } else { None };
        if self.model.bit(side, Context::new(1, 1), units.is_none()) {
            self.odd.text(side, 0, [line.action, 0], given, out);
            return;
        }
        self.action = line.action;
        let lane = line.lane as usize;
        if self.lanes.len() <= lane {
            self.lanes.resize(lane + 1, 0);
        }
        let came = 'came: {
            let units = units.unwrap_or(0);
            let duration = units.wrapping_sub(self.lanes[lane]);
            let context = mix(line.history, line.action);
            let came = self.durations.try_one(side, context, u32::from(line.stays), duration);
            if let Some(duration) = came {
                self.durations.learn(context, duration);
                break 'came self.lanes[lane].wrapping_add(duration);
            }
            let difference = units.wrapping_sub(self.last);
            let back = self.model.bit(side, at.with(2), difference < 0);
            let size = self.model.number(side, at.with(3), difference.unsigned_abs(), 6);
            let difference = if back { (size as i64).wrapping_neg() } else { size as i64 };
            let units = self.last.wrapping_add(difference);
            self.durations.learn(context, units.wrapping_sub(self.lanes[lane]));
            units
        };
        self.last = came;
        self.lanes[lane] = came;
        self.scale.write(came, out);
    }
}

/// What tells the lines of a segment, both ways.
struct Teller<S> {
    sides: [S; STREAMS],
    lines: Lines,
    times: Times,
    values: Columns,
    keys: Keys,
    /// The columns of each action: the number of the first, for each event one after the other.
    columns: FxHashMap<Box<[u8]>, u32>,
    action_columns: Vec<u32>,
    next_column: u32,
    /// The last number of the line.
    before: u32,
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
                model: Model::new(room),
                durations: Guesses::new(room),
                lanes: Vec::new(),
                action: 0,
                odd: Columns::new(10),
            },
            values: Columns::new(room),
            keys: Keys::new(room),
            columns: FxHashMap::default(),
            action_columns: vec![0],
            next_column: 0,
            before: 0,
        }
    }

    /// The number of the first column of an action: those of one event, with as many holes, are the same.
    fn columns_of(&mut self, action: u32) -> u32 {
        if let Some(first) = self.action_columns.get(action as usize) {
            return *first;
        }
        let text = self.lines.actions.get(action);
        let code = text.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
        let holes =
            text.iter().filter(|byte| (holes::LANE..=holes::VALUE).contains(byte)).count() as u32;
        let name = [code, &holes.to_be_bytes()].concat();
        let next = self.next_column;
        let first = *self.columns.entry(name.into()).or_insert(next);
        if first == next {
            self.next_column += holes;
        }
        self.action_columns.push(first);
        first
    }

    /// The next line, appended to `out`. When it is written, `cut` has it in parts, or is none if it is raw.
    fn line(&mut self, text: &[u8], cut: Option<&Cut>, out: &mut Vec<u8>) {
        let (lane, action) =
            cut.map_or((&b""[..], &b""[..]), |cut| (&text[cut.lane.clone()], &cut.action));
        let line = self.lines.next(&mut self.sides[0], lane, action);
        if line.action == RAW {
            return self.sides[0].text(text, out);
        }
        let first = self.columns_of(line.action);
        let [_, times, values, keys] = &mut self.sides;
        let pattern = self.lines.actions.get(line.action);
        let mut fields = cut.map_or(&[][..], |cut| &cut.fields).iter();
        let mut column = first;
        let contexts = [mix(line.lane, mix(line.action, line.recent)), line.action];
        self.before = 0;
        for byte in pattern {
            if !(holes::LANE..=holes::VALUE).contains(byte) {
                out.push(*byte);
                continue;
            }
            let given = fields.next().map_or(&b""[..], |field| &text[field.clone()]);
            match *byte {
                holes::LANE => out.extend_from_slice(self.lines.names.get(line.lane)),
                holes::TIME => self.times.next(times, line, given, out),
                holes::START => self.keys.start(keys, column, contexts, given, out),
                holes::END => self.keys.end(keys, column, line.lane, contexts, given, out),
                _ => {
                    let contexts = [mix(line.lane, line.action), mix(line.action, self.before)];
                    let value = self.values.text(values, column, contexts, given, out);
                    self.before = value.bits as u32;
                }
            }
            column += 1;
        }
    }
}

/// What a segment is written as.
pub(crate) struct Told {
    pub(crate) lines: u64,
    pub(crate) scale: Scale,
    /// For each stream, its bits and its texts.
    pub(crate) streams: [[Vec<u8>; 2]; STREAMS],
}

/// How the first times of a text are spelt, most of them.
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
pub(crate) fn tell(text: &[u8], roles: &mut Roles) -> Told {
    let mut before = roles.clone();
    before.learn_all(text);
    let scale = scale(text, &before);
    let sides = std::array::from_fn(|_| Writing::new());
    let mut teller = Teller::new(sides, scale, text.len());
    let (mut cut, mut out, mut lines) = (Cut::default(), Vec::new(), 0);
    let whole = text.strip_suffix(b"\n").unwrap_or(text);
    for line in whole.split(|byte| *byte == b'\n') {
        let header = is_header(line);
        if header {
            roles.learn(line);
        }
        let known = !header && cut.cut(line, roles);
        out.clear();
        teller.line(line, known.then_some(&cut), &mut out);
        debug_assert_eq!(out.escape_ascii().to_string(), line.escape_ascii().to_string());
        lines += 1;
    }
    Told { lines, scale, streams: teller.sides.map(Writing::finish) }
}

/// The text of a segment, which has `length` bytes.
///
/// # Errors
/// The streams do not tell such a text.
pub(crate) fn untell(told: &Told, length: usize) -> Result<Vec<u8>, ()> {
    let sides = told.streams.each_ref().map(|[bits, texts]| Reading::new(bits, texts));
    let mut teller = Teller::new(sides, told.scale, length);
    let mut text = Vec::new();
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
