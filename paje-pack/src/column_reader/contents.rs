//! Reads lines of known steps: their times and offsets, their keys, and requested values.

use super::{ColumnReader, Form, Passed};
use crate::decode::LineReader;
use crate::fields::{FieldsIn, Place, is_word, unzigzag};
use crate::keys::KeysIn;
use crate::lines::{Line, holes};
use crate::out::Out;
use crate::stream::StreamReader;
use crate::value::{Kind, Value};
use paje_parser::columns::{ColumnLine, Content, Lines, Linked};

impl ColumnReader<'_, '_> {
    /// Reads lines up to the first one that must be read as text. Returns `None` if a key or a
    /// requested value is not a single word.
    #[inline(never)]
    pub(super) fn known(&mut self, out: &mut Out, lines: &mut Lines) -> Option<()> {
        let ColumnReader { reader, steps, passed, .. } = self;
        let LineReader { sides, lines: coded, times, values, keys, pieces } = reader;
        let [_, _, values_side, keys_side] = sides;
        let mut contents = Contents { values, keys, values_side, keys_side };
        let (read, lanes, actions) = coded.parts();
        let (places, actions) = actions.parts();
        let (mut range, mut len) = (0..0, 0);
        let (groups, codes, last, scale) = times.parts();
        let (steps, mut start) = (&mut steps[..], out.len() as u32);
        while let Some(lane) = lanes.get(*read) {
            let lane = (*lane as usize).wrapping_sub(1);
            let Some(place) = places.get_mut(lane) else { break };
            let Some(action) = actions.get(place.next_or_other()) else { break };
            let line = Line { lane: lane as u32, action: (*action as u32).wrapping_sub(1) };
            let Some(step) = pieces.steps.find(line) else { break };
            let Some(of) = steps.get_mut(step as usize) else { break };
            let Some(group) = groups.get_mut(of.action as usize) else { break };
            let Some(code) = codes.get(group.next_or_other()) else { break };
            // The code 0 stands for a time in another format.
            let Some(code) = code.checked_sub(1).filter(|_| of.form != Form::Texts) else { break };
            let time = last.wrapping_add(unzigzag(code));
            if !range.contains(&time) {
                let Some(found) = scale.lengths(time) else { break };
                (range, len) = (found.0, found.1 as u32);
            }
            *read += 1;
            place.pass();
            group.pass();
            *last = time;
            if of.form == Form::Nothing {
                lines.leave_out(time);
            } else {
                lines.lines.push(ColumnLine { time, start, step });
                of.count += 1;
            }
            let mut own = 0;
            if of.form != Form::Times {
                let passed = passed.get_mut(of.holes.0 as usize..of.holes.1 as usize)?;
                let number = (lines.lines.len() as u32).wrapping_sub(1);
                let mut content = Content { line: number, step, ..Content::default() };
                own = contents.read(&mut content, passed, (start, len), out)?;
                if of.form == Form::Contents {
                    lines.contents.push(content);
                }
            }
            start = start.wrapping_add(of.bytes + len).wrapping_add(own);
        }
        out.move_to(start as usize);
        Some(())
    }
}

/// The streams of values and keys.
struct Contents<'r, 'a> {
    values: &'r mut FieldsIn,
    keys: &'r mut KeysIn,
    values_side: &'r mut StreamReader<'a>,
    keys_side: &'r mut StreamReader<'a>,
}

impl Contents<'_, '_> {
    /// Reads the contents of a line, given its holes, its start, and the length of its time.
    /// Returns the total length of its contents.
    #[inline]
    fn read(
        &mut self,
        content: &mut Content,
        passed: &mut [Passed],
        (start, time_len): (u32, u32),
        out: &mut Out,
    ) -> Option<u32> {
        let mut own = 0_u32;
        for passed in passed {
            let before = passed.before.wrapping_add(passed.times * time_len);
            let from = start.wrapping_add(before).wrapping_add(own);
            let len = match (passed.hole, passed.asked) {
                (holes::VALUE, None) => self.values.pass(self.values_side, passed.place)?,
                (holes::VALUE, Some(true)) => {
                    let (value, len) = self.values.word(self.values_side, passed.place)?;
                    match value.kind {
                        Kind::Decimal(after) if value.is_exact() => {
                            content.value = value.bits;
                            content.value_at = (Content::NUMBER, after.into());
                        }
                        _ => content.value_at = self.text(value, from, out),
                    }
                    len as u32
                }
                (holes::VALUE, Some(false)) => {
                    let of = passed.place;
                    let value = self.values.other(self.values_side, of, &mut passed.last);
                    if let Some(value) = value {
                        self.values.len_of(value)?;
                        passed.last_at = self.text(value, from, out);
                    }
                    content.value_at = passed.last_at;
                    passed.last_at.1.wrapping_sub(passed.last_at.0)
                }
                (hole, _) => {
                    content.linked = self.key(hole, passed.place, from, out)?;
                    let (from, to) = content.linked.key_at;
                    to.wrapping_sub(from)
                }
            };
            own = own.wrapping_add(len);
        }
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
    #[inline]
    fn key(&mut self, hole: u8, place: Place, at: u32, out: &mut Out) -> Option<Linked> {
        out.move_to(at as usize);
        let key_at = match hole {
            holes::START => self.keys.start(self.keys_side, place, out),
            _ => self.keys.end(self.keys_side, place, out),
        };
        let is_key = !self.keys.has_odd() || is_word(out.between(key_at));
        is_key.then_some(Linked { key_at, at })
    }
}
