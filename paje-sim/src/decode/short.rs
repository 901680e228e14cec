//! Short lines that name nothing new, which are almost all lines of almost all traces, in batches.
//!
//! Lines are first sorted out by their event numbers, and then decoded event by event rather than in
//! file order. In a batch every line has the same words in the same places and takes the same
//! branches; in file order, the processor would guess wrong at every other line, which costs more
//! than decoding it. The line's ordinal puts its event back in place.
//!
//! The fields of a line are bits of one word, and a type and a container that stand side by side are
//! looked up as one text. An event has two batches. One is for lines as most programs write them: the fields
//! in the [usual](crate::decode::plan::usual) order, one byte between two of them. There, what a bit is
//! about is known when this is compiled, and one look at the text answers all questions whether bytes are
//! there ([`LineWindow`](paje_parser::number::LineWindow)). The other is for all other short lines.
//!
//! Whatever does not fit (a first use, a missing or surplus word, a number of
//! unusual shape, any error) is left to [`Decoder::line`], which knows every rule: a batch decides
//! nothing that `line` would decide otherwise. Change them together.

use std::ops::Range;

use paje_parser::token::is_white;
use paje_parser::{LinkEnd, Span};

use crate::decode::Decoder;
use crate::decode::context::end_context;
use crate::decode::decoded::{Decoded, LinkEvent, NOTHING, Op, StrandSymbol, WORDLESS};
use crate::decode::fields::{Fields, InBlock, InWindow, Text, bare};
use crate::decode::pairs::KnownLane;
use crate::decode::plan::{Action, Plan};
use crate::decode::tails::Tail;
use crate::decode::usual::{UsualLines, Waiting, batch_of};
use crate::decode::values::told_apart;
use crate::names::hash::{ShortText, word};

/// Lines whose lanes are fetched together, where there are many: they are still in the nearest cache when they are decoded.
const AHEAD: usize = 64;

impl Decoder {
    /// Sorts out the lines that begin in `range`, up to the first line of a definition. Returns where
    /// that one begins, or where the next line does that is not in the range.
    ///
    /// `usual` is [`usual_lines`](crate::decode::usual::usual_lines).
    #[inline(always)]
    pub(super) fn classify(
        &mut self,
        usual: impl Fn(UsualLines<'_>) -> (usize, u32),
        text: &[u8],
        padded: &[u8],
        range: Range<usize>,
        inside_definition: bool,
    ) -> usize {
        let mut start = range.start;
        let mut ordinal = self.waiting.lines;
        while start < range.end {
            if !inside_definition {
                (start, ordinal) = usual(UsualLines {
                    lines: self.lexing.scanner.short_lines(),
                    ids: &self.plans.short_ids,
                    padded,
                    range: start..range.end,
                    ordinal,
                    waiting: &mut self.waiting,
                });
                if start >= range.end {
                    break;
                }
            }
            let Some(line) = self.lexing.scanner.short_lines().at(start) else {
                let end = self.lexing.scanner.line_end(text, start);
                let first = text[start..end].iter().find(|byte| !is_white(**byte));
                if first == Some(&b'%') {
                    break;
                }
                self.waiting.rest.push(Waiting { start: start as u32, ordinal, fields: 0 });
                ordinal += 1;
                start = end + 1;
                continue;
            };
            if line.edges != 0 {
                let batch = match inside_definition {
                    false => self.batch_by_id(padded, start, line.edges),
                    true => None,
                };
                let waiting = Waiting { start: start as u32, ordinal, fields: line.edges };
                match batch {
                    Some(batch) => self.waiting.push(batch, waiting),
                    None if padded[start + line.edges.trailing_zeros() as usize] == b'%' => break,
                    None => self.waiting.rest.push(waiting),
                }
                ordinal += 1;
            } else if self.asked.follows {
                self.follow(start as u32, WORDLESS);
            }
            start += line.len as usize + 1;
        }
        self.waiting.lines = ordinal;
        start
    }

    /// The batch of any short line, which is not that of the usual ones.
    #[inline(never)]
    fn batch_by_id(&self, padded: &[u8], start: usize, edges: u64) -> Option<u32> {
        if edges & 1 == 0 || padded[start] == b'%' {
            return None;
        }
        let id_len = (edges & (edges - 1)).trailing_zeros() as usize;
        let id = word(padded, start, id_len)?;
        let plan = self.plans.by_id.find(id, id_len as u64)?;
        Some(batch_of(plan, false))
    }

    /// Decodes the batches; the lines that do not fit join the rest.
    #[inline(always)]
    pub(super) fn decode_batches(&mut self, padded: &[u8], decoded: &mut Decoded) {
        let lines = self.waiting.lines as usize;
        if self.grouping.unsorted.len() < lines {
            self.grouping.unsorted.resize(lines + lines / 8, NOTHING);
        }
        let mut filled = std::mem::take(&mut self.waiting.filled);
        // A rule, so that what is noted does not depend on the order of lines.
        filled.sort_unstable();
        for index in filled.drain(..) {
            let plan = index as usize / 2;
            self.note_use(plan);
            let mut batch = self.waiting.take(index);
            let plan = self.plans.all[plan];
            match plan.action {
                Action::Structural => self.waiting.rest.append(&mut batch),
                Action::Replayed(_) if !plan.fits_batch => self.waiting.rest.append(&mut batch),
                // One loop for each event, so that what differs between them is settled outside.
                Action::Replayed(op) if index.is_multiple_of(2) => match op {
                    Op::PopState => {
                        self.batch::<InWindow<'_>>(padded, &plan, Op::PopState, &batch, decoded)
                    }
                    Op::PushState => {
                        self.batch::<InWindow<'_>>(padded, &plan, Op::PushState, &batch, decoded)
                    }
                    Op::SetState => {
                        self.batch::<InWindow<'_>>(padded, &plan, Op::SetState, &batch, decoded)
                    }
                    Op::StartLink => {
                        self.batch::<InWindow<'_>>(padded, &plan, Op::StartLink, &batch, decoded)
                    }
                    Op::EndLink => {
                        self.batch::<InWindow<'_>>(padded, &plan, Op::EndLink, &batch, decoded)
                    }
                    Op::SetVariable => {
                        self.batch::<InWindow<'_>>(padded, &plan, Op::SetVariable, &batch, decoded);
                    }
                    other => self.batch::<InWindow<'_>>(padded, &plan, other, &batch, decoded),
                },
                Action::Replayed(op) => self.other_batch(padded, &plan, op, &batch, decoded),
            }
            self.waiting.give_back(batch);
        }
        self.waiting.filled = filled;
    }

    /// Decodes a batch; the lines that do not fit join the rest.
    #[inline(always)]
    fn batch<'t, T: Text<'t>>(
        &mut self,
        padded: &'t [u8],
        plan: &Plan,
        op: Op,
        batch: &[Waiting],
        decoded: &mut Decoded,
    ) {
        let rest = self.waiting.rest.len();
        let looks_ahead = self.known.are_many();
        for lines in batch.chunks(if looks_ahead { AHEAD } else { usize::MAX }) {
            if looks_ahead {
                self.look_ahead::<T>(padded, plan, lines);
            }
            // Only where the names stand side by side are they one text.
            match T::IS_USUAL && self.knows_tails(op) {
                true => self.lines::<T, true>(padded, plan, op, lines, decoded),
                false => self.lines::<T, false>(padded, plan, op, lines, decoded),
            }
        }
        decoded.event_count += (batch.len() - (self.waiting.rest.len() - rest)) as u64;
    }

    /// Tells whether the names of an event's lines are looked up as one text.
    #[inline(always)]
    fn knows_tails(&self, op: Op) -> bool {
        let is_link = match op {
            Op::SetState | Op::PushState | Op::Event => false,
            Op::StartLink | Op::EndLink => true,
            _ => return false,
        };
        self.known.tails(is_link).are_few() && !self.symbols.values.are_fleeting()
    }

    /// Decodes some lines of a batch, whose names are looked up `AS_ONE` text or one by one.
    #[inline(always)]
    fn lines<'t, T: Text<'t>, const AS_ONE: bool>(
        &mut self,
        padded: &'t [u8],
        plan: &Plan,
        op: Op,
        batch: &[Waiting],
        decoded: &mut Decoded,
    ) {
        let mut last_time = decoded.last_time;
        for line in batch {
            let event = match T::read(padded, (line.start, line.fields), plan, op, &mut self.times)
            {
                Some((text, time, fields)) => {
                    let read = (time, fields);
                    self.event::<T, AS_ONE>(text, line.start, plan, op, read, decoded)
                }
                None => None,
            };
            match event {
                Some((strand, time, argument)) => {
                    if time > last_time {
                        last_time = time;
                    }
                    let (to, event) = &mut self.grouping.unsorted[line.ordinal as usize];
                    *to = strand;
                    event.time = time;
                    event.argument = argument;
                    event.at = line.start;
                    event.tail = op as u32;
                }
                None if AS_ONE => {
                    self.learn::<T>(padded, plan, op, line, decoded);
                    last_time = last_time.max(decoded.last_time);
                }
                None => self.waiting.rest.push(*line),
            }
        }
        decoded.last_time = last_time;
    }

    /// Decodes a line name by name, whose names are then known as one text. By the line alone, so that what the others
    /// have of theirs stays in registers.
    #[cold]
    #[inline(never)]
    fn learn<'t, T: Text<'t>>(
        &mut self,
        padded: &'t [u8],
        plan: &Plan,
        op: Op,
        line: &Waiting,
        decoded: &mut Decoded,
    ) {
        let is_link = matches!(op, Op::StartLink | Op::EndLink);
        let (start, place) = (line.start, (line.start, line.fields));
        let read = T::read(padded, place, plan, op, &mut self.times);
        let tail = read.and_then(|(text, _, fields)| {
            let tail = self.tail_by_names(text, start, plan, op, fields, decoded)?;
            let (from, to) = (fields.pair.0, if is_link { fields.end.1 } else { fields.value.1 });
            Some((tail, word(text.bytes(), from, to - from), to - from))
        });
        let Some((tail, word, len)) = tail else {
            self.waiting.rest.push(*line);
            return;
        };
        if let Some(word) = word.filter(|_| self.known.tails(is_link).are_few()) {
            self.known.tails_mut(is_link).insert(word, plan.pair_context(len), op, tail);
        }
        self.lines::<T, false>(padded, plan, op, std::slice::from_ref(line), decoded);
    }

    /// Fetches what decoding these lines will look at for their lanes: side by side, for none depends on another.
    #[inline(never)]
    fn look_ahead<'t, T: Text<'t>>(&self, padded: &[u8], plan: &Plan, lines: &[Waiting]) {
        let looks = lines.iter().map(|line| {
            let (start, end) = T::pair((line.start, line.fields), plan)?;
            let len = end.checked_sub(start)?;
            Some(self.known.look(word(padded, start, len)?))
        });
        std::hint::black_box(looks.flatten().fold(0, |all, look| all ^ look));
    }

    #[inline(never)]
    fn other_batch(
        &mut self,
        padded: &[u8],
        plan: &Plan,
        op: Op,
        batch: &[Waiting],
        decoded: &mut Decoded,
    ) {
        self.batch::<InBlock<'_>>(padded, plan, op, batch, decoded);
    }

    /// The strand, the time and the argument of a line's event, if it is plain enough.
    #[inline(always)]
    fn event<'t, T: Text<'t>, const AS_ONE: bool>(
        &mut self,
        line: T,
        start_of_line: u32,
        plan: &Plan,
        op: Op,
        (time, fields): (f64, Fields),
        decoded: &mut Decoded,
    ) -> Option<(StrandSymbol, f64, u64)> {
        let text = line.bytes();
        if time > self.asked.stop_at {
            return None;
        }
        match op {
            Op::PopState | Op::ResetState => Some((self.lane(text, plan, fields)?.strand, time, 0)),
            Op::SetState | Op::PushState | Op::Event => {
                let Tail { strand, value, .. } =
                    self.tail::<T, AS_ONE>(line, start_of_line, plan, op, fields, decoded)?;
                Some((strand, time, u64::from(value)))
            }
            Op::SetVariable | Op::AddVariable | Op::SubVariable => {
                let strand = self.lane(text, plan, fields)?.strand;
                let number = line.number(self.asked.precision, fields.value)?;
                Some((strand, time, number.to_bits()))
            }
            Op::StartLink | Op::EndLink => {
                let Tail { strand, value, end } =
                    self.tail::<T, AS_ONE>(line, start_of_line, plan, op, fields, decoded)?;
                let (key_start, key_end) = bare(text, fields.key);
                let (key, key_hash) = ShortText::hashed(text, key_start, key_end);
                let base = line.base(start_of_line);
                let place = |at: usize| base.wrapping_add(at as u32);
                let raw_key = Span { start: place(fields.key.0), end: place(fields.key.1) };
                decoded.links.push(LinkEvent { value, end, raw_key, key, key_hash });
                let strand = strand + self.known.spread.part(key_hash);
                Some((strand, time, decoded.links.len() as u64 - 1))
            }
        }
    }

    /// The lane of a line, if it is known by the text of its type and container.
    #[inline(always)]
    fn lane(&self, text: &[u8], plan: &Plan, fields: Fields) -> Option<KnownLane> {
        let len = fields.pair.1 - fields.pair.0;
        self.known.find(word(text, fields.pair.0, len)?, plan.pair_context(len))
    }

    /// The strand and the symbols that the names of a line stand for, if they are known.
    #[inline(always)]
    fn tail<'t, T: Text<'t>, const AS_ONE: bool>(
        &mut self,
        line: T,
        start_of_line: u32,
        plan: &Plan,
        op: Op,
        fields: Fields,
        decoded: &mut Decoded,
    ) -> Option<Tail> {
        let is_link = matches!(op, Op::StartLink | Op::EndLink);
        let (from, to) = (fields.pair.0, if is_link { fields.end.1 } else { fields.value.1 });
        let known = if AS_ONE { word(line.bytes(), from, to - from) } else { None };
        let Some(word) = known else {
            return self.tail_by_names(line, start_of_line, plan, op, fields, decoded);
        };
        self.known.tails(is_link).find(word, plan.pair_context(to - from), op)
    }

    /// The same of any line, name by name.
    #[inline(always)]
    fn tail_by_names<'t, T: Text<'t>>(
        &mut self,
        line: T,
        start_of_line: u32,
        plan: &Plan,
        op: Op,
        fields: Fields,
        decoded: &mut Decoded,
    ) -> Option<Tail> {
        let text = line.bytes();
        let KnownLane { type_, strand } = self.lane(text, plan, fields)?;
        let names = self.asked.value_names;
        let end = match op {
            Op::StartLink | Op::EndLink => {
                let side = if op == Op::StartLink { LinkEnd::Start } else { LinkEnd::End };
                let (start, end) = fields.end;
                let told_apart = told_apart(names, text[start] == b'"');
                let (start, end) = bare(text, (start, end));
                let context = end_context(type_, side, told_apart);
                self.symbols.link_ends.find_short(text, start, end, context)?
            }
            _ => 0,
        };
        let values = &mut self.symbols.values;
        let place = (start_of_line, line.base(start_of_line));
        let value = values.short_symbol(text, fields.value, type_, names, place, decoded)?;
        Some(Tail { strand, value, end })
    }
}
