//! Short lines that name nothing new: almost all lines of almost all traces.
//!
//! The line's fields are bits of one word, the plan is found by the number's text as an integer, and
//! a type and a container that stand side by side are looked up as one text. Whatever does not fit
//! (a first use, a missing or surplus word, a number of unusual shape, any error) is left to
//! [`Decoder::line`], which knows every rule: this path decides nothing that it would decide
//! otherwise. Change them together; `tests::short_lines_are_lines` compares them.

use paje_parser::{LinkEnd, Quoting, Span, TypeNature, number};

use super::plan::Action;
use super::{Decoded, Decoder, LaneEvent, LinkEvent, Op, end_context};
use crate::engine::symbols::{Symbol, hash_text, word};
use crate::options::{Precision, ValueNames};

/// Most words of a line that are read off its bits; longer events take the other way.
const WORDS: usize = 8;

/// Where the words of a line begin and end, from its first byte.
type Words = [(usize, usize); WORDS];

impl Decoder {
    /// Decodes the line at `start`, or does nothing. Returns where it ends.
    #[inline(always)]
    pub(super) fn short_line(
        &mut self,
        padded: &[u8],
        start: usize,
        decoded: &mut Decoded,
    ) -> Option<usize> {
        let line = self.scanner.short_line(start)?;
        let mut edges = line.edges;
        if edges & 1 == 0 {
            return None;
        }
        edges &= edges - 1;
        let id_len = edges.trailing_zeros() as usize;
        let id = word(padded, start, id_len)?;
        let plan = &self.plans[self.plans_by_id.find(id, id_len as u64)? as usize];
        let Action::Replayed(op) = plan.action else {
            return None;
        };
        if line.edges.count_ones() as usize != 2 * plan.expected
            || plan.expected > WORDS
            || plan.keeps_extras
        {
            return None;
        }
        let words = words(edges, start, id_len);
        let (time_start, time_end) = words[plan.time % WORDS];
        let time = number::parse_time_at(padded, time_start, time_end)?;
        if time > self.stop_at {
            return None;
        }
        let pair = plan.pair?;
        let (pair_start, pair_end) = (words[pair % WORDS].0, words[(pair + 1) % WORDS].1);
        let pair = word(padded, pair_start, pair_end - pair_start)?;
        let lane = self.lanes_by_pair.find(pair, plan.pair_context(pair_end - pair_start))?;

        let bare = |(start, end): (usize, usize)| {
            if line.quoted && padded[start] == b'"' { (start + 1, end - 1) } else { (start, end) }
        };
        let argument = match op {
            Op::PopState | Op::ResetState => 0,
            Op::SetState | Op::PushState | Op::Event => {
                let type_ = *self.lane_types.get(lane as usize)?;
                u64::from(self.find_value(padded, type_, words[plan.value % WORDS], line.quoted)?)
            }
            Op::SetVariable | Op::AddVariable | Op::SubVariable => {
                let (start, end) = words[plan.value % WORDS];
                let value = match self.precision {
                    Precision::Single => f64::from(number::parse_f32_at(padded, start, end)?),
                    Precision::Double => number::parse_f64_at(padded, start, end)?,
                };
                value.to_bits()
            }
            Op::StartLink | Op::EndLink => {
                let type_ = *self.lane_types.get(lane as usize)?;
                let value =
                    self.find_value(padded, type_, words[plan.value % WORDS], line.quoted)?;
                let side = if op == Op::StartLink { LinkEnd::Start } else { LinkEnd::End };
                let (end_start, end_end) = bare(words[plan.end % WORDS]);
                let end = self.link_ends.find_short(
                    padded,
                    end_start,
                    end_end,
                    end_context(type_, side),
                )?;
                let raw_key = words[plan.key % WORDS];
                let (key_start, key_end) = bare(raw_key);
                decoded.links.push(LinkEvent {
                    value,
                    end,
                    raw_key: Span { start: raw_key.0 as u32, end: raw_key.1 as u32 },
                    key_hash: hash_text(padded, key_start, key_end),
                });
                decoded.links.len() as u64 - 1
            }
        };
        debug_assert!(op.nature() != TypeNature::Container);
        decoded.event_count += 1;
        if time > decoded.last_time {
            decoded.last_time = time;
        }
        decoded
            .unsorted
            .push((lane, LaneEvent { time, argument, at: start as u32, tail: op as u32 }));
        Some(start + line.len as usize)
    }

    #[inline(always)]
    fn find_value(
        &self,
        padded: &[u8],
        type_: Symbol,
        (mut start, mut end): (usize, usize),
        quoted: bool,
    ) -> Option<Symbol> {
        let mut quoting = Quoting::Bare;
        if quoted && padded[start] == b'"' {
            (start, end) = (start + 1, end - 1);
            if self.value_names == ValueNames::AsWritten {
                quoting = Quoting::Quoted;
            }
        }
        self.values.find_short(padded, start, end, type_ << 2 | quoting as u32)
    }
}

/// Reads the words after the number off the bits where they begin and end; words that the line does
/// not have are beyond it.
#[inline(always)]
fn words(mut edges: u64, start: usize, id_len: usize) -> Words {
    let mut words = [(start, start + id_len); WORDS];
    edges &= edges.wrapping_sub(1);
    for word in &mut words[1..] {
        let first = edges.trailing_zeros() as usize;
        edges &= edges.wrapping_sub(1);
        let end = edges.trailing_zeros() as usize;
        edges &= edges.wrapping_sub(1);
        *word = (start + first, start + end);
    }
    words
}
