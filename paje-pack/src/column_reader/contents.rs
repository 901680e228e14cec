//! Finds the offsets of lines, and reads the contents of lines without text: keys and requested
//! values.

use super::{ColumnReader, Form, Passed};
use crate::decode::LineReader;
use crate::fields::{Place, is_word};
use crate::lines::holes;
use crate::out::Out;
use crate::value::{Kind, Value};
use paje_parser::columns::{ColumnLine, Content, Lines, Linked};

impl ColumnReader<'_, '_> {
    /// Records where lines begin, and reads their contents. Their steps and times are known. Drops
    /// the lines that are left out. Returns how many lines are kept.
    pub(super) fn placed(
        &mut self,
        all: &mut [ColumnLine],
        length: usize,
        out: &mut Out,
        lines: &mut Lines,
    ) -> Option<usize> {
        let (mut number, mut kept) = (0, 0);
        while number < all.len() {
            (number, kept) = self.known(all, (number, kept), out, lines)?;
            let Some(line) = all.get(number).copied() else { break };
            let start = out.len();
            let (content, left_out) = self.line(line, out)?;
            number += 1;
            match left_out {
                Some(time) => lines.leave_out(time),
                None => {
                    lines.contents.push(Content { line: kept as u32, ..content });
                    all[kept] =
                        ColumnLine { time: 0, start: start as u32, step: ColumnLine::OTHER };
                    kept += 1;
                }
            }
            if out.len() > length || self.reader.failed() {
                return None;
            }
        }
        Some(kept)
    }

    /// Finds the offsets of lines up to the first line whose text is requested. Returns the index
    /// of that line, and the number of lines kept so far.
    #[inline(never)]
    fn known(
        &mut self,
        all: &mut [ColumnLine],
        (mut number, mut kept): (usize, usize),
        out: &mut Out,
        lines: &mut Lines,
    ) -> Option<(usize, usize)> {
        let ColumnReader { reader, steps, passed, is_of_times, .. } = self;
        let (mut range, mut len) = reader.times.lengths();
        let mut start = out.len();
        let steps = &mut steps[..];
        while let Some(line) = all.get(number) {
            let ColumnLine { time, step, .. } = *line;
            let Some(of) = steps.get_mut(step as usize) else { break };
            if !range.contains(&time) {
                let Some(found) = reader.times.lengths_of(time) else { break };
                (range, len) = found;
            }
            if of.form == Form::Texts {
                break;
            }
            number += 1;
            of.count += 1;
            let Some(to) = all.get_mut(kept) else { break };
            *to = ColumnLine { time, start: start as u32, step };
            kept += 1;
            if of.form != Form::Times {
                let of = *of;
                if of.form != Form::Nothing || !*is_of_times {
                    let passed = passed.get_mut(of.holes.0 as usize..of.holes.1 as usize)?;
                    let content = Content { line: kept as u32 - 1, step, ..Content::default() };
                    let place = (start as u32, len, of.lane);
                    let contents = &mut lines.contents;
                    start += reader.contents(content, passed, place, out, contents)? as usize;
                    if of.form != Form::Contents {
                        lines.contents.pop();
                    }
                }
                if of.form == Form::Nothing {
                    lines.leave_out(time);
                    kept -= 1;
                    steps[step as usize].count -= 1;
                }
                start += of.bytes as usize + len as usize;
            } else {
                start += of.bytes as usize + len as usize;
            }
        }
        out.move_to(start);
        Some((number, kept))
    }
}

impl LineReader<'_> {
    /// Reads the contents of a line and appends them to `contents`, given its holes, its start, the
    /// length of its time, and its lane. Returns the total length of its contents.
    #[inline(never)]
    fn contents(
        &mut self,
        mut content: Content,
        passed: &mut [Passed],
        (start, time_len, lane): (u32, u32, u32),
        out: &mut Out,
        contents: &mut Vec<Content>,
    ) -> Option<u32> {
        let mut own = 0;
        for passed in passed {
            // Offset of this hole in the line.
            let before = passed.before.wrapping_add(passed.times * time_len);
            let from = |own| start.wrapping_add(before).wrapping_add(own);
            if passed.hole != holes::VALUE {
                let from = from(own);
                content.linked = self.key(passed.hole, (passed.place, lane), from, out)?;
                let (from, to) = content.linked.key_at;
                own = own.wrapping_add(to.wrapping_sub(from));
                continue;
            }
            match passed.asked {
                None => {
                    let len = self.values.pass(&mut self.sides[2], passed.place)?;
                    own = own.wrapping_add(len);
                }
                Some(true) => {
                    let (value, len) = self.values.word(&mut self.sides[2], passed.place)?;
                    match value.kind {
                        Kind::Decimal(after) if value.is_exact() => {
                            content.value = value.bits;
                            content.value_at = (Content::NUMBER, after.into());
                        }
                        _ => content.value_at = self.text(value, from(own), out),
                    }
                    own = own.wrapping_add(len as u32);
                }
                Some(false) => {
                    let of = passed.place;
                    let value = self.values.other(&mut self.sides[2], of, &mut passed.last);
                    if let Some(value) = value {
                        self.values.len_of(value)?;
                        passed.last_at = self.text(value, from(own), out);
                    }
                    own = own.wrapping_add(passed.last_at.1.wrapping_sub(passed.last_at.0));
                    content.value_at = passed.last_at;
                }
            }
        }
        contents.push(content);
        Some(own)
    }

    #[cold]
    fn text(&self, value: Value, from: u32, out: &mut Out) -> (u32, u32) {
        out.move_to(from as usize);
        self.values.put(value, out);
        (from, out.len() as u32)
    }

    /// Reads a key. The end of a link refers to the key of its start, so this key is not written
    /// again. Returns `None` if the key is not a single word.
    #[inline(always)]
    fn key(&mut self, hole: u8, place: (Place, u32), at: u32, out: &mut Out) -> Option<Linked> {
        let LineReader { sides: [_, _, _, side], keys, .. } = self;
        out.move_to(at as usize);
        let key_at = match hole {
            holes::START => keys.start(side, place.0, out),
            _ => keys.end(side, place, out),
        };
        let is_key = !keys.fields.has_odd() || is_word(out.between(key_at));
        is_key.then_some(Linked { key_at, at })
    }
}
