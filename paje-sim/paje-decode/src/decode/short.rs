//! Fast path: decodes short lines without new names in batches. Almost all lines are of this kind.
//!
//! Lines are first sorted into batches by their event numbers, and then decoded batch by batch instead of in file
//! order. All lines of a batch have the same words in the same order and take the same branches. In file order, the
//! processor would mispredict every other line, which costs more than decoding it. The ordinal of a line restores the
//! order of the events.
//!
//! The edges of a line's fields are bits of one word. An adjacent type and container are looked up as one text. An
//! event number has two batches. One is for the [usual](crate::decode::plan::usual) order, with one byte between two
//! fields. There, the field of each bit is known at compile time, and one bounds check covers the whole line
//! ([`LineWindow`](paje_parser::number::LineWindow)). The other batch is for all other short lines.
//!
//! All other lines go to [`Decoder::line`], which checks everything: lines with a first use, a missing or surplus word,
//! an unusual number or any error. A batch must accept the same lines as `line` with the same results, so change both
//! together.

use std::ops::Range;

use paje_parser::token::is_white;

use crate::decode::Decoder;
use crate::decode::batch::Batch;
use crate::decode::decoded::{Decoded, NOTHING, Op, WORDLESS};
use crate::decode::fields::{InBlock, InWindow};
use crate::decode::plan::{Action, Plan};
use crate::decode::usual::{UsualLines, Waiting, batch_of};
use crate::decode::wide;
use paje_model::names::hash::word;

/// After a line with an unknown name, the names of this many lines are looked up one by one, because they may be
/// unknown too.
const STRANGE: usize = 4;

impl Decoder {
    /// Classifies the lines that begin in `range`, up to the first line of a definition. Returns the start of that
    /// line, or of the next line after the range.
    pub(super) fn classify(
        &mut self,
        text: &[u8],
        padded: &[u8],
        range: Range<usize>,
        inside_definition: bool,
    ) -> usize {
        let mut start = range.start;
        let mut ordinal = self.waiting.lines;
        while start < range.end {
            if !inside_definition {
                (start, ordinal) = wide::run(UsualLines {
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
            } else if self.config.follows {
                self.follow(start as u32, WORDLESS);
            }
            start += line.len as usize + 1;
        }
        self.waiting.lines = ordinal;
        start
    }

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

    pub(super) fn decode_batches(&mut self, padded: &[u8], decoded: &mut Decoded) {
        let lines = self.waiting.lines as usize;
        if self.grouping.unsorted.len() < lines {
            self.grouping.unsorted.resize(lines + lines / 8, NOTHING);
        }
        let mut filled = std::mem::take(&mut self.waiting.filled);
        // The batches are decoded in a fixed order, so that the items do not depend on the order of lines.
        filled.sort_unstable();
        for index in filled.drain(..) {
            let plan = index as usize / 2;
            self.note_use(plan);
            let mut batch = self.waiting.take(index);
            let plan = self.plans.all[plan];
            match plan.action {
                Action::Structural => self.waiting.rest.append(&mut batch),
                // These are usual lines, or long lines with a usual head.
                Action::Replayed(op) if index.is_multiple_of(2) => {
                    self.batch::<InWindow<'_>>(padded, &plan, op, &batch, decoded);
                }
                Action::Replayed(_) if !plan.fits_batch => self.waiting.rest.append(&mut batch),
                Action::Replayed(op) => {
                    self.batch::<InBlock<'_>>(padded, &plan, op, &batch, decoded);
                }
            }
            self.waiting.give_back(batch);
        }
        self.waiting.filled = filled;
    }

    fn batch<'t, T: Batch<'t>>(
        &mut self,
        padded: &'t [u8],
        plan: &Plan,
        op: Op,
        batch: &[Waiting],
        decoded: &mut Decoded,
    ) {
        let rest = self.waiting.rest.len();
        let mut lines = batch;
        loop {
            // Names can only be looked up as one text if they are adjacent.
            let as_one = T::IS_USUAL && self.looks_up_names_as_one(op);
            let taken = T::decode(self.lines_of(padded, plan, lines, decoded), op, as_one);
            let Some((line, behind)) = lines[taken..].split_first() else { break };
            lines = behind;
            if !self.learn::<T>(padded, plan, op, line, decoded) {
                let (strange, behind) = lines.split_at(lines.len().min(STRANGE));
                T::decode(self.lines_of(padded, plan, strange, decoded), op, false);
                lines = behind;
            }
        }
        decoded.event_count += (batch.len() - (self.waiting.rest.len() - rest)) as u64;
    }

    fn looks_up_names_as_one(&self, op: Op) -> bool {
        let has_tail = op.is_link() || matches!(op, Op::SetState | Op::PushState | Op::Event);
        has_tail && self.known.line_names(op.is_link()).is_used() && !self.symbols.unique_values
    }

    /// Decodes a line name by name, and remembers its names as one text. If a name is unknown, appends the line to the
    /// rest. Returns whether all names are known.
    #[cold]
    #[inline(never)]
    fn learn<'t, T: Batch<'t>>(
        &mut self,
        padded: &'t [u8],
        plan: &Plan,
        op: Op,
        line: &Waiting,
        decoded: &mut Decoded,
    ) -> bool {
        let lines = std::slice::from_ref(line);
        let learnt = self.lines_of(padded, plan, lines, decoded).learn::<T>(op);
        let Some((names, word, len)) = learnt else {
            self.waiting.rest.push(*line);
            return false;
        };
        if let Some(word) = word {
            self.known.line_names_mut(op.is_link()).insert(word, plan.pair_context(len), op, names);
        }
        T::decode(self.lines_of(padded, plan, lines, decoded), op, false);
        true
    }
}
