//! A segment that is read as columns: most lines are passed over, and the text of the others is written.

use std::ops::Range;

use paje_parser::token::is_white;

use crate::coder::Side;
use crate::columns::{Asked, ColumnLine, Hole, HoleKind, Lines, NO_STEP, Wanted, is_word};
use crate::fields::{Fields, Place};
use crate::lines::{Line, RAW, holes};
use crate::out::Out;
use crate::segment::Told;
use crate::times::Scale;
use crate::untell::LineReader;
use crate::value::Kind;

/// Bytes that lines of a step have, which are passed over, and the hole behind them.
#[derive(Clone, Copy)]
struct Passed {
    bytes: u32,
    /// 0 if there is none, but the end.
    hole: u8,
    asked: Option<bool>,
    place: Place,
    /// The number that told the last text that was asked for, and where that is.
    last: u64,
    last_at: (u32, u32),
}

/// Lines of a step.
#[derive(Clone, Copy)]
enum StepLines {
    Texts,
    /// So many bytes, the time, and others.
    Times(u32, u32),
    /// Pieces that are passed over, from one place to another.
    Passed(u32, u32),
    /// The same of lines that are left out, and the bytes of all pieces.
    Nothing(u32, u32, u32),
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
    /// Reads the next line; none if there is something about it that only its text tells.
    #[inline(always)]
    fn line(&mut self, out: &mut Out, lines: &mut Lines) -> Option<()> {
        let (reader, start) = (&mut self.reader, out.len());
        let line = reader.lines.next(&mut reader.sides[0]);
        if line.action == RAW {
            out.put(reader.sides[0].text(b""));
            out.push(b'\n');
            lines.lines.push(ColumnLine::with_text(start, NO_STEP));
            return Some(());
        }
        let step = reader.pieces.steps.number(line);
        match self.steps.get(step as usize).copied() {
            None => match self.learn(line, step as usize, out)? {
                None => lines.lines.push(ColumnLine::with_text(start, step)),
                Some(time) => lines.leave_out(time),
            },
            Some(StepLines::Times(before, behind)) if let Some(told) = reader.times.told(line) => {
                let (time, len) = reader.times.units(line, told)?;
                out.pass(before as usize + len + behind as usize);
                lines.lines.push(ColumnLine { time, ..ColumnLine::of(start, step) });
            }
            Some(StepLines::Passed(from, to)) if let Some(told) = reader.times.told(line) => {
                let mut all = ColumnLine::of(start, step);
                self.pass((line, told), from as usize..to as usize, out, &mut all)?;
                lines.lines.push(all);
            }
            Some(StepLines::Nothing(from, to, bytes)) => {
                let told = reader.times.told(line)?;
                if self.is_of_times || from == to {
                    let (time, len) = reader.times.units(line, told)?;
                    out.pass(bytes as usize + len);
                    lines.leave_out(time);
                } else {
                    let mut all = ColumnLine::of(start, step);
                    self.pass((line, told), from as usize..to as usize, out, &mut all)?;
                    lines.leave_out(all.time);
                }
            }
            _ => {
                self.write(line, step as usize, out);
                if self.lacks {
                    return None;
                }
                lines.lines.push(ColumnLine::with_text(start, NO_STEP));
            }
        }
        Some(())
    }

    /// A line that needs no text.
    #[inline(always)]
    fn pass(
        &mut self,
        (line, time): (Line, u64),
        range: Range<usize>,
        out: &mut Out,
        all: &mut ColumnLine,
    ) -> Option<()> {
        let LineReader { sides, times, values, keys, .. } = &mut self.reader;
        let [_, _, values_side, keys_side] = sides;
        for passed in &mut self.passed[range] {
            out.pass(passed.bytes as usize);
            match passed.hole {
                holes::TIME => {
                    let (units, len) = times.units(line, time)?;
                    all.time = units;
                    out.pass(len);
                }
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
                                all.value_at = (ColumnLine::NUMBER, after.into());
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
                let bytes = self.reader.pieces.of(step).iter().map(|piece| piece.text.len());
                let bytes = bytes.sum::<usize>() as u32;
                match self.passed(step, None) {
                    StepLines::Passed(from, to) => StepLines::Nothing(from, to, bytes),
                    _ => StepLines::Nothing(0, 0, bytes),
                }
            }
            _ if self.lacks => return None,
            Wanted::Text => StepLines::Texts,
            Wanted::Columns(asked) => self.passed(step, asked),
        };
        self.steps.push(lines);
        Some(time)
    }

    /// Pieces that are passed over of a step's lines, of which one hole may be asked for.
    fn passed(&mut self, step: usize, asked: Option<Asked>) -> StepLines {
        let from = self.passed.len();
        let (last, last_at) = (0, (0, 0));
        let (mut bytes, mut number) = (0, 0);
        for piece in self.reader.pieces.of(step) {
            bytes += piece.text.len() as u32;
            if piece.hole != 0 {
                let asked = asked.filter(|asked| asked.hole == number).map(|asked| asked.numbers);
                let (hole, place) = (piece.hole, piece.place);
                let bytes = std::mem::take(&mut bytes);
                self.passed.push(Passed { bytes, hole, asked, place, last, last_at });
                number += 1;
            }
        }
        let place = Place { slot: 0, field: 0 };
        self.passed.push(Passed { bytes, hole: 0, asked: None, place, last, last_at });
        match self.passed[from..] {
            [Passed { bytes: before, hole: holes::TIME, .. }, Passed { bytes, hole: 0, .. }] => {
                self.passed.truncate(from);
                StepLines::Times(before, bytes)
            }
            _ => StepLines::Passed(from as u32, self.passed.len() as u32),
        }
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
        passed: Vec::new(),
        judge,
        holes: Vec::new(),
        scale: told.scale,
        is_of_times,
        lacks: false,
    };
    let mut out = Out::within(std::mem::take(text), length);
    let mut taken = true;
    if !is_of_times {
        lines.lines.reserve(all.reader.lines.len());
    }
    for number in 0..told.lines {
        taken = all.line(&mut out, lines).is_some()
            && out.len() <= length
            && (number % 64 != 0 || !all.reader.failed());
        if !taken {
            break;
        }
    }
    // Of lines that were left out, nobody knows how long their values are.
    let is_whole = out.len() == length || is_of_times && lines.left_out > 0;
    taken &= !all.reader.failed() && is_whole;
    *text = out.into_bytes();
    match taken {
        true => Ok(()),
        false if all.lacks => Err(Unread::Values),
        false => Err(Unread::Text),
    }
}
