//! Reads a segment as columns. Most lines are only counted and located. Only the other lines are
//! written as text.

use paje_parser::token::is_white;

use crate::decode::LineReader;
use crate::fields::Place;
use crate::lines::{Line, holes};
use crate::out::Out;
use crate::segment::EncodedSegment;
use crate::times::Scale;
use paje_parser::columns::{Asked, ColumnLine, Content, Hole, HoleKind, Lines, Wanted};

use order::Order;

mod contents;
mod order;

/// A hole in the lines of a step that are read without text. Not used for holes of times.
#[derive(Clone, Copy)]
struct Passed {
    /// Number of bytes before the hole that all lines of its step share.
    before: u32,
    /// 1 if a time precedes the hole, otherwise 0.
    times: u32,
    hole: u8,
    asked: Option<bool>,
    place: Place,
    /// Code and position of the text that was last requested for this hole.
    last: u64,
    last_at: (u32, u32),
}

#[derive(Clone, Copy)]
struct StepLines {
    form: Form,
    /// Number of bytes that all of these lines share.
    bytes: u32,
    /// Number of requested lines without text.
    count: u32,
    lane: u32,
    /// Range of these lines' holes in the list of all holes, without the hole for the time.
    holes: (u32, u32),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Texts,
    /// The time is the only hole.
    Times,
    /// The lines have other holes, at least one of which is a key or was requested.
    Contents,
    /// The lines have other holes, none of which is a key or was requested.
    Passed,
    Nothing,
}

enum Unread {
    Text,
    /// Values or keys are needed, but have not been read.
    Values,
}

/// Reads the lines of a segment without writing them.
struct ColumnReader<'a, 'j> {
    reader: LineReader<'a>,
    order: Order,
    steps: Vec<StepLines>,
    passed: Vec<Passed>,
    judge: &'j mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
    holes: Vec<Hole>,
    scale: Scale,
    /// Whether only times are read, without values and keys.
    is_of_times: bool,
    /// Whether a line needed values or keys that have not been read.
    lacks: bool,
}

impl ColumnReader<'_, '_> {
    /// Reads all lines of a text with `length` bytes. The first pass reads the steps of all lines,
    /// the second pass all times, and the third pass offsets and contents. Separate passes keep the
    /// memory of each pass small. Returns `None` if a line can only be read as text.
    fn lines(&mut self, count: u64, length: usize, out: &mut Out, lines: &mut Lines) -> Option<()> {
        let count =
            usize::try_from(count).ok().filter(|count| *count <= self.reader.lines.len())?;
        let mut all = std::mem::take(&mut lines.lines);
        all.clear();
        all.resize(count, ColumnLine::NOTHING);
        let kept = self.all(&mut all, length, out, lines).filter(|_| !self.reader.failed());
        all.truncate(kept.unwrap_or(0));
        lines.lines = all;
        kept.map(|_| ())
    }

    fn all(
        &mut self,
        all: &mut [ColumnLine],
        length: usize,
        out: &mut Out,
        lines: &mut Lines,
    ) -> Option<usize> {
        let LineReader { sides: [lines_side, times_side, ..], lines: coded, times, .. } =
            &mut self.reader;
        self.order.read(coded, lines_side, all)?;
        times.read(times_side, &self.order.clocks(coded)?, all)?;
        self.placed(all, length, out, lines)
    }

    /// Reads a line as text: a raw line, the first line of a step, or a line whose text is
    /// requested. If the line is left out, also returns its time.
    #[cold]
    fn line(&mut self, coded: ColumnLine, out: &mut Out) -> Option<(Content, Option<i64>)> {
        let Some(line) = self.order.step(coded.step) else {
            out.put(self.order.raw());
            out.push(b'\n');
            return Some((Content { step: ColumnLine::OTHER, ..Content::default() }, None));
        };
        let step = coded.step as usize;
        let (step, left_out) = match self.steps.get(step).map(|step| step.form) {
            None => (coded.step, self.learn(line, step, coded.time, out)?),
            Some(Form::Nothing) => return None,
            Some(_) => {
                self.write(line, step, coded.time, out);
                if self.lacks {
                    return None;
                }
                (ColumnLine::OTHER, None)
            }
        };
        Some((Content { step, ..Content::default() }, left_out))
    }

    #[cold]
    fn write(&mut self, line: Line, step: usize, time: i64, out: &mut Out) {
        self.holes.clear();
        let (LineReader { sides, pieces, times, values, keys, .. }, start) =
            (&mut self.reader, out.len());
        let [_, _, values_side, keys_side] = sides;
        for piece in pieces.of(step) {
            out.put_short(piece.text);
            let from = out.len();
            let kind = match piece.hole {
                holes::TIME => {
                    times.put(time, out);
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
                    let at = keys.end(keys_side, (piece.place, line.lane), out);
                    out.repeat_before(from, at);
                    HoleKind::Key
                }
                holes::VALUE => {
                    values.value(values_side, piece.place, out);
                    HoleKind::Value
                }
                _ => continue,
            };
            self.holes.push(Hole { kind, range: from - start..out.len() - start });
        }
    }
}

impl ColumnReader<'_, '_> {
    /// Reads the first line of a step. If the line is left out, returns its time. Returns `None` if
    /// the position of the line's first word depends on its text.
    #[cold]
    fn learn(&mut self, line: Line, step: usize, at: i64, out: &mut Out) -> Option<Option<i64>> {
        let start = out.len();
        self.reader.pieces.step(line, &self.reader.lines);
        self.write(line, step, at, out);
        let text = self.reader.lines.actions.get(line.action);
        let first = text.iter().find(|byte| !is_white(**byte));
        if first.is_none_or(|byte| (holes::TIME..=holes::VALUE).contains(byte)) {
            return None;
        }
        let written = out.since(start);
        let wanted = (self.judge)(written.strip_suffix(b"\n")?, &self.holes);
        let mut time = None;
        let from = self.passed.len() as u32;
        let (form, bytes) = match wanted {
            Wanted::Nothing => {
                self.lacks = false;
                let hole = self.holes.iter().find(|hole| hole.kind == HoleKind::Time)?;
                time = Some(self.scale.units(&written[hole.range.clone()])?);
                (Form::Nothing, self.passed(step, None).1)
            }
            _ if self.lacks => return None,
            Wanted::Text => (Form::Texts, 0),
            Wanted::Columns(asked) => self.passed(step, asked),
        };
        let times = self.holes.iter().filter(|hole| hole.kind == HoleKind::Time).count();
        if form != Form::Texts && times != 1 {
            return None;
        }
        let (count, lane, holes) = (0, line.lane, (from, self.passed.len() as u32));
        self.steps.push(StepLines { form, bytes, count, lane, holes });
        Some(time)
    }

    /// Adds the holes of the lines of a step. `asked` is the requested hole, if any. Returns the
    /// form of these lines and the number of bytes that they share.
    fn passed(&mut self, step: usize, asked: Option<Asked>) -> (Form, u32) {
        let from = self.passed.len();
        let (last, last_at) = (0, (0, 0));
        let (mut before, mut times, mut number) = (0, 0, 0);
        let mut is_other = false;
        for piece in self.reader.pieces.of(step) {
            before += piece.text.len() as u32;
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
            self.passed.push(Passed { before, times, hole, asked, place, last, last_at });
            is_other |= asked.is_some() || matches!(hole, holes::START | holes::END);
        }
        let form = match (self.passed.len() == from, is_other) {
            (true, _) => Form::Times,
            (_, true) => Form::Contents,
            _ => Form::Passed,
        };
        (form, before)
    }
}

/// Reads the lines of a segment that has `length` bytes of text, and writes the necessary bytes to
/// `text`. Returns `false` if the whole text is needed or the streams are invalid.
pub(crate) fn columns(
    encoded: &EncodedSegment,
    length: usize,
    text: &mut Vec<u8>,
    lines: &mut Lines,
    judge: &mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
) -> bool {
    // All lines that may be part of a definition are among these texts.
    if memchr::memchr(b'%', &encoded.streams[0][1]).is_some() {
        return false;
    }
    // If most lines are left out, values and keys are rarely needed.
    match read(encoded, length, text, lines, judge, lines.leaves_out) {
        Err(Unread::Values) => read(encoded, length, text, lines, judge, false).is_ok(),
        taken => taken.is_ok(),
    }
}

/// Reads the lines. If `is_of_times` is true, does not read values and keys.
fn read(
    encoded: &EncodedSegment,
    length: usize,
    text: &mut Vec<u8>,
    lines: &mut Lines,
    judge: &mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
    is_of_times: bool,
) -> Result<(), Unread> {
    lines.clear(encoded.scale.after - encoded.scale.zeros);
    let mut all = ColumnReader {
        reader: match is_of_times {
            true => LineReader::of_times(encoded, length),
            false => LineReader::new(encoded, length),
        },
        order: Order::default(),
        steps: Vec::new(),
        passed: Vec::new(),
        judge,
        holes: Vec::new(),
        scale: encoded.scale,
        is_of_times,
        lacks: false,
    };
    let mut out = Out::within(std::mem::take(text), length);
    let taken = all.lines(encoded.lines, length, &mut out, lines).is_some();
    lines.counts.extend(all.steps.iter().map(|step| step.count));
    // The lengths of values in lines that were left out are unknown.
    let is_whole = out.len() == length || is_of_times && lines.left_out > 0;
    let taken = taken && is_whole && !all.reader.has_overrun();
    *text = out.into_bytes();
    match taken {
        true => Ok(()),
        false if all.lacks => Err(Unread::Values),
        false => Err(Unread::Text),
    }
}
