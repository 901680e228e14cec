//! Short lines that name nothing new, which are almost all lines of almost all traces, in batches.
//!
//! Lines are first sorted out by their event numbers, and then decoded event by event rather than in
//! file order. In a batch every line has the same words in the same places and takes the same
//! branches; in file order, the processor would guess wrong at every other line, which costs more
//! than decoding it. The line's ordinal puts its event back in place.
//!
//! The fields of a line are bits of one word, and a type and a container that stand side by side are
//! looked up as one text. Whatever does not fit (a first use, a missing or surplus word, a number of
//! unusual shape, any error) is left to [`Decoder::line`], which knows every rule: a batch decides
//! nothing that `line` would decide otherwise. Change them together.

use std::ops::Range;

use paje_parser::token::is_white;
use paje_parser::{LinkEnd, Span, number};

use crate::decode::context::end_context;
use crate::decode::decoded::{Decoded, LinkEvent, NOTHING, Op, StrandSymbol, WORDLESS};
use crate::decode::plan::{Action, Plan, WORDS};
use crate::decode::values::told_apart;
use crate::decode::{Decoder, KnownLane};
use crate::names::hash::{hash_text, word};
use crate::names::options::Precision;

/// A line that waits to be decoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// Where it begins in the block.
    pub(super) start: u32,
    /// How many lines with words come before it.
    pub(super) ordinal: u32,
    /// Its fields: see [`paje_parser::scan::ShortLine`].
    edges: u64,
}

/// Lines that wait to be decoded: short ones by their plans, and all others.
#[derive(Debug, Default)]
pub(super) struct Batches {
    pub(super) batches: Vec<Vec<Waiting>>,
    /// Those that are not empty.
    pub(super) filled: Vec<u32>,
    pub(super) rest: Vec<Waiting>,
    /// How many lines with words the block at hand has so far.
    pub(super) lines: u32,
}

impl Decoder {
    /// Sorts out the lines that begin in `range`, up to the first line of a definition. Returns where
    /// that one begins, or where the next line does that is not in the range.
    pub(super) fn classify(
        &mut self,
        text: &[u8],
        padded: &[u8],
        range: Range<usize>,
        inside_definition: bool,
    ) -> usize {
        let mut start = range.start;
        while start < range.end {
            let ordinal = self.waiting.lines;
            let Some(line) = self.lexing.scanner.short_line(start) else {
                let end = self.lexing.scanner.line_end(text, start);
                let first = text[start..end].iter().find(|byte| !is_white(**byte));
                if first == Some(&b'%') {
                    return start;
                }
                self.waiting.rest.push(Waiting { start: start as u32, ordinal, edges: 0 });
                self.waiting.lines += 1;
                start = end + 1;
                continue;
            };
            if line.edges != 0 {
                let first = line.edges.trailing_zeros() as usize;
                if padded[start + first] == b'%' {
                    return start;
                }
                let waiting = Waiting { start: start as u32, ordinal, edges: line.edges };
                match self.batch_of(padded, start, line.edges) {
                    Some(plan) if !inside_definition => {
                        let batch = &mut self.waiting.batches[plan];
                        if batch.is_empty() {
                            self.waiting.filled.push(plan as u32);
                        }
                        batch.push(waiting);
                    }
                    _ => self.waiting.rest.push(waiting),
                }
                self.waiting.lines += 1;
            } else if self.asked.follows {
                self.follow(start as u32, WORDLESS);
            }
            start += line.len as usize + 1;
        }
        start
    }

    /// The plan of a line that can be decoded in a batch.
    #[inline(always)]
    fn batch_of(&self, padded: &[u8], start: usize, edges: u64) -> Option<usize> {
        if edges & 1 == 0 {
            return None;
        }
        let id_len = (edges & (edges - 1)).trailing_zeros() as usize;
        let id = word(padded, start, id_len)?;
        let index = self.plans.by_id.find(id, id_len as u64)? as usize;
        Some(index)
    }

    /// Decodes the batches; the lines that do not fit join the rest.
    pub(super) fn decode_batches(&mut self, padded: &[u8], decoded: &mut Decoded) {
        if self.grouping.unsorted.len() < self.waiting.lines as usize {
            self.grouping.unsorted.resize(self.waiting.lines as usize, NOTHING);
        }
        let mut filled = std::mem::take(&mut self.waiting.filled);
        // A rule, so that what is noted does not depend on the order of lines.
        filled.sort_unstable();
        for index in filled.drain(..) {
            let index = index as usize;
            self.note_use(index);
            let mut batch = std::mem::take(&mut self.waiting.batches[index]);
            let plan = self.plans.all[index];
            match plan.action {
                Action::Structural => self.waiting.rest.append(&mut batch),
                Action::Replayed(_) if !plan.fits_batch => self.waiting.rest.append(&mut batch),
                // One loop for each event, so that what differs between them is settled outside.
                Action::Replayed(op) => match op {
                    Op::PopState => self.batch(padded, &plan, Op::PopState, &batch, decoded),
                    Op::PushState => self.batch(padded, &plan, Op::PushState, &batch, decoded),
                    Op::SetState => self.batch(padded, &plan, Op::SetState, &batch, decoded),
                    Op::StartLink => self.batch(padded, &plan, Op::StartLink, &batch, decoded),
                    Op::EndLink => self.batch(padded, &plan, Op::EndLink, &batch, decoded),
                    Op::SetVariable => self.batch(padded, &plan, Op::SetVariable, &batch, decoded),
                    other => self.batch(padded, &plan, other, &batch, decoded),
                },
            }
            batch.clear();
            self.waiting.batches[index] = batch;
        }
        self.waiting.filled = filled;
    }

    #[inline(always)]
    fn batch(
        &mut self,
        padded: &[u8],
        plan: &Plan,
        op: Op,
        batch: &[Waiting],
        decoded: &mut Decoded,
    ) {
        let mut last_time = decoded.last_time;
        for line in batch {
            let event = match Words::read(line, plan.expected) {
                Some(words) => self.short_line(padded, line.start, plan, op, &words, decoded),
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
                    decoded.event_count += 1;
                }
                None => self.waiting.rest.push(*line),
            }
        }
        decoded.last_time = last_time;
    }

    /// The strand, the time and the argument of a line's event, if it is plain enough.
    #[inline(always)]
    fn short_line(
        &mut self,
        padded: &[u8],
        start_of_line: u32,
        plan: &Plan,
        op: Op,
        words: &Words,
        decoded: &mut Decoded,
    ) -> Option<(StrandSymbol, f64, u64)> {
        let (time_start, time_end) = words.get(plan.time);
        let time = number::parse_time_at(padded, time_start, time_end)?;
        if time > self.asked.stop_at {
            return None;
        }
        let pair = plan.pair?;
        let (pair_start, pair_end) = (words.get(pair).0, words.get(pair + 1).1);
        let pair = word(padded, pair_start, pair_end - pair_start)?;
        let lane = self.known.by_pair.find(pair, plan.pair_context(pair_end - pair_start))?;
        let KnownLane { type_, mut strand } = *self.known.lanes.get(lane as usize)?;
        let argument = match op {
            Op::PopState | Op::ResetState => 0,
            Op::SetState | Op::PushState | Op::Event => {
                let (names, word) = (self.asked.value_names, words.get(plan.value));
                u64::from(self.symbols.values.short_symbol(
                    padded,
                    word,
                    type_,
                    names,
                    start_of_line,
                    decoded,
                )?)
            }
            Op::SetVariable | Op::AddVariable | Op::SubVariable => {
                let (start, end) = words.get(plan.value);
                let value = match self.asked.precision {
                    Precision::Single => f64::from(number::parse_f32_at(padded, start, end)?),
                    Precision::Double => number::parse_f64_at(padded, start, end)?,
                };
                value.to_bits()
            }
            Op::StartLink | Op::EndLink => {
                let side = if op == Op::StartLink { LinkEnd::Start } else { LinkEnd::End };
                let names = self.asked.value_names;
                let (start, end) = words.get(plan.end);
                let told_apart = told_apart(names, padded[start] == b'"');
                let (start, end) = bare(padded, (start, end));
                let context = end_context(type_, side, told_apart);
                let end = self.symbols.link_ends.find_short(padded, start, end, context)?;
                let word = words.get(plan.value);
                let value = self.symbols.values.short_symbol(
                    padded,
                    word,
                    type_,
                    names,
                    start_of_line,
                    decoded,
                )?;
                let raw_key = words.get(plan.key);
                let (key_start, key_end) = bare(padded, raw_key);
                let key_hash = hash_text(padded, key_start, key_end);
                strand += self.known.spread.part(key_hash);
                let raw_key = Span { start: raw_key.0 as u32, end: raw_key.1 as u32 };
                decoded.links.push(LinkEvent { value, end, raw_key, key_hash });
                decoded.links.len() as u64 - 1
            }
        };
        Some((strand, time, argument))
    }
}

/// A word without its quotes, which in a short line come in pairs.
#[inline(always)]
fn bare(padded: &[u8], (start, end): (usize, usize)) -> (usize, usize) {
    if padded[start] == b'"' { (start + 1, end - 1) } else { (start, end) }
}

/// Where the words of a line begin and end in the block: each in one integer, which is stored and
/// loaded whole. As two integers, stored one by one and loaded as a pair, each would make the
/// processor wait for its stores.
struct Words([u64; WORDS]);

impl Words {
    /// Reads `count` words off the bits where they begin and end; `None` if the line has more or
    /// fewer.
    #[inline(always)]
    fn read(line: &Waiting, count: usize) -> Option<Words> {
        let start = u64::from(line.start);
        let both = start | start << 32;
        let mut words = [both; WORDS];
        let mut edges = line.edges;
        let mut before = edges;
        for word in words.iter_mut().take(count) {
            // The top bit spares the question whether there is any: if not, the line is refused.
            let first = u64::from((edges | 1 << 63).trailing_zeros());
            edges &= edges.wrapping_sub(1);
            before = edges;
            let end = u64::from((edges | 1 << 63).trailing_zeros());
            edges &= edges.wrapping_sub(1);
            *word = both + (first | end << 32);
        }
        (before != 0 && edges == 0).then_some(Words(words))
    }

    /// Where a word begins and ends in the block.
    #[inline(always)]
    fn get(&self, word: usize) -> (usize, usize) {
        let both = self.0[word % WORDS];
        ((both & 0xffff_ffff) as usize, (both >> 32) as usize)
    }
}
