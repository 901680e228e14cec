//! Reads a segment as columns. Most lines are only counted and located. Only the other lines are
//! written as text.

use std::ops::Range;

use paje_parser::token::is_white;

use crate::decode::LineReader;
use crate::fields::Place;
use crate::lines::{Line, RAW, holes};
use crate::out::Out;
use crate::segment::EncodedSegment;
use crate::times::Scale;
use paje_parser::columns::{Asked, ColumnLine, Content, Hole, HoleKind, Lines, Wanted};

mod contents;

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
    /// Group of the lines' times.
    action: u32,
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
    /// The lines have other holes, but no key and no requested hole.
    Passed,
    Nothing,
}

/// Reads the lines of a segment without writing them.
struct ColumnReader<'a, 'j> {
    reader: LineReader<'a>,
    steps: Vec<StepLines>,
    passed: Vec<Passed>,
    judge: &'j mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
    holes: Vec<Hole>,
    scale: Scale,
}

impl ColumnReader<'_, '_> {
    /// Reads all lines of a text with `length` bytes. Returns `None` if a line can only be read as
    /// text.
    fn lines(&mut self, length: usize, out: &mut Out, lines: &mut Lines) -> Option<()> {
        lines.lines.reserve(self.reader.lines.left());
        loop {
            self.known(out, lines)?;
            if self.reader.lines.left() == 0 {
                return Some(());
            }
            let start = out.len() as u32;
            if let Some(step) = self.line(out, lines)? {
                let line = lines.lines.len() as u32;
                lines.contents.push(Content { line, step, ..Content::default() });
                lines.lines.push(ColumnLine { time: 0, start, step: ColumnLine::OTHER });
            }
            if out.len() > length || self.reader.failed() {
                return None;
            }
        }
    }

    /// Reads a line as text: a raw line, the first line of a step, or a line whose text is
    /// requested. Returns its step if it is the first line of the step, or `Some(None)` if it is
    /// left out.
    #[cold]
    fn line(&mut self, out: &mut Out, lines: &mut Lines) -> Option<Option<u32>> {
        let LineReader { sides, lines: coded, pieces, .. } = &mut self.reader;
        let line = coded.next(&mut sides[0]);
        if line.action == RAW {
            out.put(sides[0].text());
            out.push(b'\n');
            return Some(Some(ColumnLine::OTHER));
        }
        let step = pieces.step(line, coded);
        match self.steps.get(step).map(|step| step.form) {
            None => match self.learn(line, step, out)? {
                None => Some(Some(step as u32)),
                Some(time) => {
                    lines.leave_out(time);
                    Some(None)
                }
            },
            Some(Form::Nothing) => None,
            Some(_) => {
                self.reader.write(line, step, out, |_, _| {});
                Some(Some(ColumnLine::OTHER))
            }
        }
    }

    /// Reads the first line of a step. If the line is left out, returns its time. Returns `None` if
    /// the position of the line's first word depends on its text.
    fn learn(&mut self, line: Line, step: usize, out: &mut Out) -> Option<Option<i64>> {
        let start = out.len();
        let holes = &mut self.holes;
        holes.clear();
        self.reader.write(line, step, out, |kind, Range { start: from, end }| {
            holes.push(Hole { kind, range: from - start..end - start });
        });
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
                let hole = self.holes.iter().find(|hole| hole.kind == HoleKind::Time)?;
                time = Some(self.scale.units(&written[hole.range.clone()])?);
                (Form::Nothing, self.passed(step, None).1)
            }
            Wanted::Text => (Form::Texts, 0),
            Wanted::Columns(asked) => self.passed(step, asked),
        };
        let times = self.holes.iter().filter(|hole| hole.kind == HoleKind::Time).count();
        if form != Form::Texts && times != 1 {
            return None;
        }
        let (action, holes) = (line.action, (from, self.passed.len() as u32));
        self.steps.push(StepLines { form, bytes, count: 0, action, holes });
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
    lines.clear(encoded.scale.after - encoded.scale.zeros);
    let mut all = ColumnReader {
        reader: LineReader::new(encoded, length),
        steps: Vec::new(),
        passed: Vec::new(),
        judge,
        holes: Vec::new(),
        scale: encoded.scale,
    };
    let mut out = Out::within(std::mem::take(text), length);
    let has_all = all.reader.lines.left() as u64 == encoded.lines;
    let taken = has_all && all.lines(length, &mut out, lines).is_some() && !all.reader.failed();
    lines.counts.extend(all.steps.iter().map(|step| step.count));
    let taken = taken && out.len() == length && !all.reader.has_overrun();
    *text = out.into_bytes();
    taken
}
