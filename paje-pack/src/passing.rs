//! A segment that is read as columns: most lines are passed over, and the text of the others is written.

use std::ops::Range;

use paje_parser::token::is_white;

use crate::coder::{Reading, Side};
use crate::columns::{Asked, ColumnLine, Content, Hole, HoleKind, Lines, Wanted, is_word};
use crate::fields::{Fields, FieldsIn, Place};
use crate::grid::Grid;
use crate::keys::KeysIn;
use crate::lines::{Line, RAW, holes};
use crate::out::Out;
use crate::segment::{STREAMS, Told};
use crate::times::Scale;
use crate::untell::LineReader;
use crate::value::Kind;

mod known;

/// Bytes that lines of a step have, which are passed over, and the hole behind them, which is not the time's.
#[derive(Clone, Copy)]
struct Passed {
    bytes: u32,
    /// Times that are among them: one at most.
    times: u32,
    hole: u8,
    asked: Option<bool>,
    place: Place,
    /// The number that told the last text that was asked for, and where that is.
    last: u64,
    last_at: (u32, u32),
}

/// Lines of a step.
#[derive(Clone, Copy)]
struct StepLines {
    form: Form,
    /// Bytes that all of them have.
    bytes: u32,
    /// Number of those that are wanted and have no text.
    count: u32,
    /// Of these, those behind the last hole but the time's, and how many times are there.
    behind: (u32, u32),
    /// Their holes but the time's.
    from: u32,
    to: u32,
}

/// Form in which lines are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Texts,
    /// They have no hole but their time.
    Times,
    /// They have others, of which at least one is a key or was asked for, or none.
    Contents,
    Passed,
    /// They are left out.
    Nothing,
}

/// Reason why lines are not read as columns.
enum Unread {
    /// Only the text tells.
    Text,
    /// Values or keys are needed, which were not read.
    Values,
}

/// Reader of the lines of a segment that are not written.
struct ColumnReader<'a, 'j> {
    reader: LineReader<'a>,
    steps: Vec<StepLines>,
    /// Those that need no text.
    grid: Grid,
    passed: Vec<Passed>,
    judge: &'j mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
    holes: Vec<Hole>,
    scale: Scale,
    /// Values and keys are not read: nobody has needed any.
    is_of_times: bool,
    /// Somebody has.
    lacks: bool,
}

impl ColumnReader<'_, '_> {
    /// Reads so many lines, whose text has `length` bytes; none if there is something about them that only the text tells.
    fn lines(&mut self, count: u64, length: usize, out: &mut Out, lines: &mut Lines) -> Option<()> {
        let mut left = count;
        while left > 0 {
            left = left.checked_sub(self.known_lines(out, lines)? as u64)?;
            if left > 0 {
                self.line(out, lines)?;
                left -= 1;
            }
            if out.len() > length || self.reader.failed() {
                return None;
            }
        }
        Some(())
    }

    /// Reads the next line, whatever it is.
    #[inline(never)]
    fn line(&mut self, out: &mut Out, lines: &mut Lines) -> Option<()> {
        let (reader, start) = (&mut self.reader, out.len());
        let line = reader.lines.next(&mut reader.sides[0]);
        if line.action == RAW {
            out.put(reader.sides[0].text(b""));
            out.push(b'\n');
            lines.put_text(start, ColumnLine::OTHER);
            return Some(());
        }
        let step = reader.pieces.steps.number(line);
        match self.steps.get(step as usize).map(|step| step.form) {
            None => match self.learn(line, step as usize, out)? {
                None => lines.put_text(start, step),
                Some(time) => lines.leave_out(time),
            },
            // Where there are many lanes, steps may have found no room where they are looked up at first.
            Some(form)
                if form != Form::Texts
                    && let Some(told) = reader.times.told(line) =>
            {
                let time = reader.times.units(line, told)?;
                let all = &mut self.steps[step as usize];
                let LineReader { sides, values, keys, .. } = reader;
                let mut contents = Contents { sides, values, keys, passed: &mut self.passed };
                known::put((line, step, all), time, self.is_of_times, &mut contents, out, lines)?;
            }
            Some(Form::Nothing) => return None,
            Some(_) => {
                self.write(line, step as usize, out);
                if self.lacks {
                    return None;
                }
                lines.put_text(start, ColumnLine::OTHER);
            }
        }
        Some(())
    }

    /// A line whose text is wanted.
    #[cold]
    fn write(&mut self, line: Line, step: usize, out: &mut Out) {
        self.holes.clear();
        let (LineReader { sides, pieces, times, values, keys, .. }, start) =
            (&mut self.reader, out.len());
        let [_, times_side, values_side, keys_side] = sides;
        for piece in pieces.of(step) {
            out.put_short(piece.text);
            let from = out.len();
            let kind = match piece.hole {
                holes::TIME => {
                    times.next(times_side, line, out);
                    HoleKind::Time
                }
                holes::START | holes::END | holes::VALUE if self.is_of_times => {
                    self.lacks = true;
                    out.push(b'0');
                    if piece.hole == holes::VALUE { HoleKind::Value } else { HoleKind::Key }
                }
                holes::START => {
                    keys.start(keys_side, piece.place, out);
                    HoleKind::Key
                }
                holes::END => {
                    keys.end(keys_side, piece.place, line.lane, out);
                    HoleKind::Key
                }
                holes::VALUE => {
                    values.value(values_side, piece.place, b"", out);
                    HoleKind::Value
                }
                _ => continue,
            };
            self.holes.push(Hole { kind, range: from - start..out.len() - start });
        }
    }
}

/// Contents of holes, and the places of these.
struct Contents<'c, 'a> {
    sides: &'c mut [Reading<'a>; STREAMS],
    values: &'c mut FieldsIn,
    keys: &'c mut KeysIn,
    passed: &'c mut [Passed],
}

impl Contents<'_, '_> {
    /// The contents of a line that needs no text, whose time has so many bytes.
    #[inline(never)]
    fn pass(
        &mut self,
        line: Line,
        time_len: usize,
        range: Range<usize>,
        out: &mut Out,
        all: &mut Content,
    ) -> Option<()> {
        let Contents { sides, values, keys, passed } = self;
        let [_, _, values_side, keys_side] = &mut **sides;
        for passed in passed.get_mut(range)? {
            out.pass(passed.bytes as usize + time_len * passed.times as usize);
            match passed.hole {
                holes::START | holes::END => {
                    let from = out.len();
                    match passed.hole {
                        holes::START => keys.start(keys_side, passed.place, out),
                        _ => keys.end(keys_side, passed.place, line.lane, out),
                    }
                    if keys.fields.has_odd() && !is_word(out.since(from)) {
                        return None;
                    }
                    all.key_at = (from as u32, out.len() as u32);
                }
                holes::VALUE => match passed.asked {
                    None => {
                        let told = values.value_only(values_side, passed.place);
                        out.pass(values.len_of(told)?);
                    }
                    Some(true) => {
                        let told = values.value_only(values_side, passed.place);
                        let (from, len) = (out.len(), values.len_of(told)?);
                        match told.kind {
                            Kind::Decimal(after) if told.is_exact() => {
                                out.pass(len);
                                all.value = told.bits;
                                all.value_at = (Content::NUMBER, after.into());
                            }
                            _ => {
                                values.put(told, out);
                                all.value_at = (from as u32, out.len() as u32);
                            }
                        }
                    }
                    Some(false) => {
                        match values.other(values_side, passed.place, &mut passed.last) {
                            None => out.pass((passed.last_at.1 - passed.last_at.0) as usize),
                            Some(told) => {
                                values.len_of(told)?;
                                let from = out.len();
                                values.put(told, out);
                                passed.last_at = (from as u32, out.len() as u32);
                            }
                        }
                        all.value_at = passed.last_at;
                    }
                },
                _ => {}
            }
        }
        Some(())
    }
}

impl ColumnReader<'_, '_> {
    /// The first line of a step: its time if it is left out. None if nobody can tell where its first word begins without its text.
    #[cold]
    fn learn(&mut self, line: Line, step: usize, out: &mut Out) -> Option<Option<i64>> {
        let start = out.len();
        self.reader.pieces.step(line, &self.reader.lines);
        self.write(line, step, out);
        let text = self.reader.lines.actions.get(line.action);
        let first = text.iter().find(|byte| !is_white(**byte));
        if first.is_none_or(|byte| (holes::TIME..=holes::VALUE).contains(byte)) {
            return None;
        }
        let written = out.since(start);
        let wanted = (self.judge)(written.strip_suffix(b"\n")?, &self.holes);
        let mut time = None;
        let lines = match wanted {
            Wanted::Nothing => {
                self.lacks = false;
                let hole = self.holes.iter().find(|hole| hole.kind == HoleKind::Time)?;
                time = Some(self.scale.units(&written[hole.range.clone()])?);
                StepLines { form: Form::Nothing, ..self.passed(step, None) }
            }
            _ if self.lacks => return None,
            Wanted::Text => {
                StepLines { form: Form::Texts, bytes: 0, behind: (0, 0), count: 0, from: 0, to: 0 }
            }
            Wanted::Columns(asked) => self.passed(step, asked),
        };
        if lines.form != Form::Texts {
            if self.holes.iter().filter(|hole| hole.kind == HoleKind::Time).count() != 1 {
                return None;
            }
            self.grid.put(line, step as u32);
        }
        self.steps.push(lines);
        Some(time)
    }

    /// Lines of a step, of which one hole may be asked for, without their texts.
    fn passed(&mut self, step: usize, asked: Option<Asked>) -> StepLines {
        let from = self.passed.len();
        let (last, last_at) = (0, (0, 0));
        let (mut bytes, mut times, mut all, mut number) = (0, 0, 0, 0);
        let mut is_other = false;
        for piece in self.reader.pieces.of(step) {
            let len = piece.text.len() as u32;
            bytes += len;
            all += len;
            if piece.hole == 0 {
                continue;
            }
            let asked = asked.filter(|asked| asked.hole == number).map(|asked| asked.numbers);
            number += 1;
            if piece.hole == holes::TIME {
                times += 1;
                continue;
            }
            let (hole, place) = (piece.hole, piece.place);
            let (bytes, times) = (std::mem::take(&mut bytes), std::mem::take(&mut times));
            self.passed.push(Passed { bytes, times, hole, asked, place, last, last_at });
            is_other |= asked.is_some() || matches!(hole, holes::START | holes::END);
        }
        let form = match (self.passed.len() == from, is_other) {
            (true, _) => Form::Times,
            (_, true) => Form::Contents,
            _ => Form::Passed,
        };
        let (from, to) = (from as u32, self.passed.len() as u32);
        StepLines { form, bytes: all, behind: (bytes, times), count: 0, from, to }
    }
}

/// The lines of a segment, which has `length` bytes, and in `text` what is needed of theirs; false if all of the text is needed, or
/// the streams do not tell it.
pub(crate) fn columns(
    told: &Told,
    length: usize,
    text: &mut Vec<u8>,
    lines: &mut Lines,
    judge: &mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
) -> bool {
    // Whatever may be part of a definition is among these.
    if memchr::memchr(b'%', &told.streams[0][1]).is_some() {
        return false;
    }
    // Mostly, nobody wants values and keys where most lines are left out.
    match read(told, length, text, lines, judge, lines.leaves_out) {
        Err(Unread::Values) => read(told, length, text, lines, judge, false).is_ok(),
        taken => taken.is_ok(),
    }
}

/// Reads the lines; of times and nothing else if `is_of_times`.
fn read(
    told: &Told,
    length: usize,
    text: &mut Vec<u8>,
    lines: &mut Lines,
    judge: &mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
    is_of_times: bool,
) -> Result<(), Unread> {
    lines.clear(told.scale.after - told.scale.zeros);
    let mut all = ColumnReader {
        reader: match is_of_times {
            true => LineReader::of_times(told, length),
            false => LineReader::new(told, length),
        },
        steps: Vec::new(),
        grid: Grid::default(),
        passed: Vec::new(),
        judge,
        holes: Vec::new(),
        scale: told.scale,
        is_of_times,
        lacks: false,
    };
    let mut out = Out::within(std::mem::take(text), length);
    if !is_of_times {
        lines.lines.reserve(all.reader.lines.len());
    }
    let taken = all.lines(told.lines, length, &mut out, lines).is_some();
    lines.counts.extend(all.steps.iter().map(|step| step.count));
    // Of lines that were left out, nobody knows how long their values are.
    let is_whole = out.len() == length || is_of_times && lines.left_out > 0;
    let taken = taken && is_whole;
    *text = out.into_bytes();
    match taken {
        true => Ok(()),
        false if all.lacks => Err(Unread::Values),
        false => Err(Unread::Text),
    }
}
