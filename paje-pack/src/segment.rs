//! A segment that is written: so many lines, and the streams that tell them.

use std::io;
use std::ops::Range;

use paje_parser::scan::{Scanner, ShortLine};

use crate::coder::{Side, Writing};
use crate::definitions::Definitions;
use crate::fields::{Fields, FieldsOut};
use crate::foresight::{Foresight, room};
use crate::keys::{FIRST_PART, Keys};
use crate::lines::{Line, LinesOut, RAW, holes};
use crate::look::Look;
use crate::matcher::{Matcher, lane};
use crate::out::Out;
use crate::passage::Passage;
use crate::patterns::{Patterns, Slots};
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

/// Writer of the streams of a segment, and of what is in the holes of its lines.
struct HolesWriter {
    sides: [Writing; STREAMS],
    times: TimesOut,
    values: FieldsOut,
    keys: Keys<FieldsOut>,
    patterns: Patterns,
    steps: Steps,
    /// The first slots of each step, and those of the next one.
    starts: Vec<Slots>,
    next: Slots,
}

impl HolesWriter {
    /// The holes of a line, in which `field` has what is given. Gives the line's time.
    #[inline]
    fn put<'t>(&mut self, line: Line, field: impl Fn(u32) -> &'t [u8]) -> Moment {
        let [_, times, values, keys] = &mut self.sides;
        let pattern = self.patterns.get(line.action);
        let step = self.steps.number(line) as usize;
        if self.starts.len() == step {
            self.starts.push(self.next);
            for (hole, number) in &pattern.others {
                pattern.place(*hole, *number, &mut self.next);
            }
        }
        let (mut slots, mut moment) = (self.starts[step], Moment::None);
        for (hole, number) in &pattern.others {
            let given = field(*number);
            let place = pattern.place(*hole, *number, &mut slots);
            let nothing = &mut Out::default();
            match *hole {
                holes::TIME => {
                    let units = self.times.put(times, line, given);
                    moment = units.map_or(Moment::Odd(*number), Moment::Units);
                }
                holes::START => self.keys.start(keys, place, given, nothing),
                holes::END => self.keys.end(keys, place, line.lane, given, nothing),
                _ => {
                    self.values.value(values, place, given, nothing);
                }
            }
        }
        moment
    }
}

/// Writer of the lines of a segment.
struct LineWriter<'t> {
    holes: HolesWriter,
    lines: LinesOut,
    roles: Roles,
    cut: Cut,
    matcher: Matcher,
    foresight: Foresight,
    look: Option<Look<'t>>,
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
                        self.short_line(text, start + at, line);
                        at + line.len as usize
                    }
                    None => {
                        let Some(len) = memchr::memchr(b'\n', &block[at..]) else { break };
                        self.line(&block[at..at + len], start + at);
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
                self.line(&rest[..len], start + at);
                at += len + 1;
                lines += 1;
            }
            start += at;
        }
        lines
    }

    /// A line whose fields are known, and what follows it.
    #[inline]
    fn short_line(&mut self, text: &[u8], start: usize, line: ShortLine) {
        let text = &text[start..];
        let end = line.len as usize;
        let Some(window) = text.first_chunk() else {
            self.line(&text[..end], start);
            return;
        };
        let lines = &mut self.lines;
        // The guess of a raw line is none that a line can be compared with.
        let guess = self.foresight.guess().filter(|step| {
            step.action != RAW
                && self.matcher.fits(step.action, window, line)
                && lines.names.get(step.lane) == self.matcher.places.lane(text)
        });
        let came = match guess {
            Some(step) => Some(lines.again(step.lane, step.action)),
            None => {
                let find = |lane| lines.names.find(lane);
                let number = lane(window, line, &self.roles).and_then(find);
                let likely = number
                    .and_then(|number| self.foresight.likely(number))
                    .filter(|action| self.matcher.fits(*action, window, line));
                likely.or_else(|| self.matcher.find(window, line, &self.roles)).map(|action| {
                    let lane = self.matcher.places.lane(text);
                    let number = number.filter(|number| lines.names.get(*number) == lane);
                    lines.put(&mut self.holes.sides[0], [lane, b""], [number, Some(action)])
                })
            }
        };
        let Some(came) = came else {
            let action = self.line(&text[..end], start);
            let text = self.lines.actions.get(action);
            return self.matcher.learn(action, text, window, line, &self.roles);
        };
        self.foresight.learn(came, guess.is_some());
        let places = &self.matcher.places;
        let moment = self.holes.put(came, |number| &text[places.place(number)]);
        show(&mut self.look, came, (start, moment), &self.roles, |number| places.place(number));
    }

    /// Any line, which begins at byte `start` of the text; its action.
    fn line(&mut self, line: &[u8], start: usize) -> u32 {
        let header = is_header(line);
        if header {
            self.roles.learn(line);
        }
        let known = !header && self.cut.cut(line, &self.roles);
        let cut = &self.cut;
        let texts = if known { [&line[cut.lane.clone()], &cut.action[..]] } else { [&b""[..]; 2] };
        let came = self.lines.put(&mut self.holes.sides[0], texts, [None; 2]);
        self.foresight.learn(came, false);
        let action = came.action;
        let place = |number: u32| cut.fields[number as usize].clone();
        let moment = if action == RAW {
            self.holes.sides[0].text(line);
            Moment::None
        } else {
            if self.holes.patterns.len() == action as usize {
                self.holes.patterns.learn(&cut.action);
            }
            self.holes.put(came, |number| &line[place(number)])
        };
        show(&mut self.look, came, (start, moment), &self.roles, place);
        action
    }
}

/// Shows a line, which begins at byte `start`, to who looks, until one comes that the look cannot tell.
#[inline]
fn show(
    look: &mut Option<Look<'_>>,
    line: Line,
    (start, moment): (usize, Moment),
    roles: &Roles,
    place: impl Fn(u32) -> Range<usize>,
) {
    if let Some(looks) = look
        && looks.see((line.lane, line.action), start, moment, roles, place).is_none()
    {
        *look = None;
    }
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
    looks: bool,
) -> io::Result<(Told, Option<Passage>)> {
    let roles = definitions.roles.clone();
    let mut all = roles.clone();
    all.learn_all(text);
    let scale = Scale::of(text, &all);
    let room = room(text.len());
    let holes = HolesWriter {
        sides: Default::default(),
        times: TimesOut::new(scale),
        values: FieldsOut::default(),
        keys: Keys::new(FieldsOut::default()),
        patterns: Patterns::default(),
        steps: Steps::default(),
        starts: Vec::new(),
        next: Slots::default(),
    };
    let mut lines = LineWriter {
        holes,
        lines: LinesOut::new(),
        roles,
        cut: Cut::default(),
        matcher: Matcher::default(),
        foresight: Foresight::new(room),
        look: looks.then(|| Look::new(text, scale, definitions)),
    };
    let count = lines.all(text.strip_suffix(b"\n").unwrap_or(text));
    let HolesWriter { mut sides, times, values, keys, .. } = lines.holes;
    lines.lines.write(&mut sides[0]);
    times.write(&mut sides[1])?;
    values.write(&mut sides[2], 0);
    keys.fields.write(&mut sides[3], FIRST_PART);
    let mut streams: [[Vec<u8>; 2]; STREAMS] = Default::default();
    for (stream, side) in streams.iter_mut().zip(sides) {
        *stream = side.finish(level)?;
    }
    Ok((Told { lines: count, scale, streams }, lines.look.map(Look::passage)))
}
