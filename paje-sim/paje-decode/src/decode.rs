//! Decodes a block of lines into small events, grouped by lane.
//!
//! Decoding a block needs the event definitions, but no other block. Names become symbols of this decoder, which are
//! resolved later, in file order, once per symbol. Structural events (definitions of types and values, creations and
//! destructions of containers) are rare. A block only lists them, and the engine reads them again when it resolves the
//! block.

mod batch;
pub mod block;
pub mod columns;
pub mod context;
pub mod decoded;
pub mod definitions;
mod fields;
mod follow;
mod group;
mod interrupt;
mod known;
mod line;
mod line_names;
pub mod names;
pub mod partitioning;
mod plan;
mod quotients;
mod restart;
mod short;
mod steps;
mod structure;
pub mod symbol_tables;
pub mod symbols;
mod times;
pub mod usage_notes;
mod usual;
mod wide;

use std::sync::Arc;

use paje_parser::scan::{Scanner, Spans};
use paje_parser::{DefTable, Fault};
use splitter::{Block, ReadError};

use crate::decode::columns::{Columns, LaneFilter};
use crate::decode::decoded::{Decoded, HEADER, NO_STRAND, NOTHING, StrandSymbol, WORDLESS};
use crate::decode::group::Grouping;
use crate::decode::known::KnownLanes;
use crate::decode::partitioning::Partitioning;
use crate::decode::plan::{Action, Head, Plan, Plans, ShortIds};
use crate::decode::structure::Colors;
use crate::decode::symbol_tables::Symbols;
use crate::decode::symbols::{Symbol, WordTable};
use crate::decode::times::Times;
use crate::decode::usual::{Batches, batch_of};
use paje_model::names::hash::word;
use paje_model::names::options::{Options, Precision, ValueNames};

/// How many bytes of a block are decoded at a time. These bytes and the batches of their lines stay in a core's
/// second-level cache.
const PORTION: usize = 1 << 17;

/// Size in bytes of the first portion of a block with many new lanes. Each further portion is four times as large as
/// the previous one. Batches only hold lines of known lanes. The slow path adds the lanes of a portion, and further
/// portions find them.
const FIRST_LINES: usize = 4096;

/// Decodes blocks, and remembers their names.
#[derive(Debug)]
pub struct Decoder {
    pub symbols: Symbols,
    known: KnownLanes,
    plans: Plans,
    lexing: Lexing,
    waiting: Batches,
    times: Times,
    columns: Columns,
    grouping: Grouping,
    colors: Colors,
    config: DecoderConfig,
    /// Number of lines with words since the decoder's tables were last empty.
    decoded: u64,
    /// Number of symbols above which the decoder may be [crowded](Decoder::is_crowded).
    most_symbols: usize,
    /// Number of consecutive restarts after which values were not interned.
    unique_restarts: u32,
    /// Lines that belong to no strand. Filled only if the owners of lines are listed.
    strandless: Vec<(u32, StrandSymbol)>,
}

#[derive(Debug, Default)]
struct Lexing {
    scanner: Scanner,
    spans: Spans,
    /// Offset of the current block's last line, if that line lacks its newline.
    unended: usize,
}

#[derive(Clone, Copy, Debug)]
struct DecoderConfig {
    precision: Precision,
    /// If the value is `AsWritten`, two symbols may mean the same name.
    value_names: ValueNames,
    stop_at: f64,
    keeps_lines: bool,
    follows: bool,
    recovers: bool,
    notes_usage: bool,
}

impl Decoder {
    /// Creates a decoder. If `follows` is true, blocks list the owner of each line.
    pub fn new(options: &Options, partitioning: Partitioning, follows: bool) -> Self {
        Decoder {
            symbols: Symbols::default(),
            known: KnownLanes::new(partitioning),
            plans: Plans {
                keeps_extras: options.user_defined,
                needed: options.needed_fields,
                ..Plans::default()
            },
            lexing: Lexing { unended: usize::MAX, ..Lexing::default() },
            waiting: Batches::default(),
            times: Times::default(),
            columns: Columns::default(),
            grouping: Grouping::default(),
            colors: Colors::default(),
            config: DecoderConfig {
                precision: options.variable_precision,
                value_names: match options.keeps_usage() {
                    true => ValueNames::AsWritten,
                    false => options.value_names,
                },
                stop_at: options.stop_at.unwrap_or(f64::INFINITY),
                keeps_lines: options.keeps().lines,
                follows,
                recovers: options.recover,
                notes_usage: options.keeps_usage(),
            },
            decoded: 0,
            most_symbols: options.decoder_symbols,
            unique_restarts: 0,
            strandless: Vec::new(),
        }
    }

    pub fn shards_of(&self, lane: Symbol) -> &[u8] {
        let first = self.known.lanes[lane as usize].strand as usize;
        let next = self.known.lanes.get(lane as usize + 1);
        let end = next.map_or(self.known.shards.len(), |next| next.strand as usize);
        &self.known.shards[first..end]
    }

    /// Decodes a block, given the definitions `defs` before it. With `is_first`, this is the decoder's first block of a
    /// file, and most lanes may be new. A filter leaves out lines of segments.
    ///
    /// # Errors
    /// The block is a damaged segment. The block and the result are then empty.
    pub fn decode(
        &mut self,
        block: &mut Block,
        defs: &DefTable,
        is_first: bool,
        filter: Option<LaneFilter<'_>>,
        decoded: &mut Decoded,
    ) -> Result<(), ReadError> {
        decoded.clear();
        if self.read_columns(block, defs, filter, decoded) {
            self.decode_columns(block, defs, decoded);
            self.note_used(&mut decoded.used);
            return Ok(());
        }
        let unpacked = block.unpack();
        self.decode_text(block, defs, is_first, decoded);
        unpacked
    }

    #[inline(never)]
    fn decode_text(
        &mut self,
        block: &Block,
        defs: &DefTable,
        is_first: bool,
        decoded: &mut Decoded,
    ) {
        let text = block.text();
        self.lexing.scanner.scan(text);
        decoded.lines = self.lexing.scanner.newlines();
        if self.config.keeps_lines {
            let newlines = memchr::memchr_iter(b'\n', text).map(|newline| newline as u32);
            decoded.newlines.extend(newlines);
        }
        if self.config.recovers {
            let last = memchr::memrchr(b'\n', text).map_or(0, |newline| newline + 1);
            self.lexing.unended = if last < text.len() { last } else { usize::MAX };
        }
        let mut start = 0;
        let mut until = if is_first { FIRST_LINES } else { PORTION };
        while start < text.len() && decoded.fault.is_none() {
            // Stops at the next line of a definition, which may change the meaning of the lines after it.
            let changed = decoded.defs.take();
            let current = changed.as_deref().unwrap_or(defs);
            if current.is_open() && self.config.recovers && self.interrupts(text, start) {
                self.interrupt(text, start, changed, defs, decoded);
                continue;
            }
            if text[start] != b'%' {
                self.plan(current);
            }
            let (lines, range) = (self.waiting.lines, start..until.min(text.len()));
            start = self.classify(text, block.padded(), range, current.is_open());
            // There are no events between two lines of the same definition. With many definitions, decoding these empty
            // pieces would take a long time.
            if self.waiting.lines > lines {
                self.decode_batches(block.padded(), decoded);
                self.decode_rest(block, current, decoded);
            }
            decoded.defs = changed;
            if start >= until.min(text.len()) {
                until = start + (3 * until).min(PORTION);
            } else if decoded.fault.is_none() {
                let end = self.lexing.scanner.line_end(text, start);
                decoded.usage.header_to = start as u32 + 1;
                self.follow(start as u32, HEADER);
                let changed = self.change(start, defs, decoded);
                let line = &text[start..end];
                let taken = match self.config.recovers {
                    false => changed.header_line(line),
                    true => changed.mend_line(line),
                };
                if let Err(fault) = taken {
                    let fault = Fault { at: fault.at + start as u32, ..fault };
                    self.note_fault(start as u32, fault, decoded);
                }
                start = end + 1;
            }
        }
        match &decoded.defs {
            Some(after) => {
                decoded.changes = defs.is_midway() || after.is_midway() || !after.is_part_of(defs);
                self.note_used(&mut decoded.usage.used);
            }
            None => self.note_used(&mut decoded.used),
        }
        self.group_by_strand(decoded);
        if self.config.notes_usage {
            let Decoded { events, shards, usage, .. } = decoded;
            let count = shards.last().map_or(0, |(_, events)| *events as usize);
            usage.note_times(events[..count].iter().map(|event| event.time));
        }
    }

    #[inline(never)]
    fn decode_rest(&mut self, block: &Block, defs: &DefTable, decoded: &mut Decoded) {
        let mut rest = std::mem::take(&mut self.waiting.rest);
        // Most lines are in order already, so sorting only merges them.
        rest.sort_by_key(|line| line.start);
        for line in rest.drain(..) {
            // The entry may hold an event of an earlier block, and nothing is decoded after an
            // invalid line.
            self.grouping.unsorted[line.ordinal as usize] = NOTHING;
            if decoded.fault.is_some() {
                continue;
            }
            let (text, start) = (block.text(), line.start as usize);
            let Lexing { scanner, spans, .. } = &mut self.lexing;
            match line.fields {
                0 => scanner.fields_by_search(text, start, spans),
                _ => scanner.fields(text, start, spans),
            };
            match self.line(block.padded(), line.start as usize, defs, decoded) {
                Ok(event) => {
                    self.grouping.unsorted[line.ordinal as usize] = event;
                    if self.config.follows && event.0 == NO_STRAND {
                        self.follow_strandless(line.start, decoded);
                    }
                }
                Err(fault) => {
                    self.note_fault(line.start, fault, decoded);
                    self.follow(line.start, WORDLESS);
                }
            }
        }
        self.waiting.rest = rest;
    }

    /// Records an invalid line. Decoding stops there, except during recovery.
    #[cold]
    fn note_fault(&self, line: u32, fault: Fault, decoded: &mut Decoded) {
        if !self.config.recovers {
            decoded.fault = Some((line, fault));
            return;
        }
        // The line is reported as invalid, so it no longer needs a warning.
        decoded.doubtful.pop_if(|doubtful| doubtful.at == line);
        decoded.faults.push((line, fault));
    }

    /// Returns the definitions that the line at `start` can change.
    fn change<'d>(
        &mut self,
        start: usize,
        defs: &DefTable,
        decoded: &'d mut Decoded,
    ) -> &'d mut DefTable {
        if decoded.defs.is_none() {
            decoded.defs_from = start as u32;
            self.note_used(&mut decoded.used);
        }
        Arc::make_mut(decoded.defs.get_or_insert_with(|| Arc::new(defs.clone())))
    }

    fn note_used(&mut self, all: &mut Vec<u32>) {
        for index in self.plans.used_list.drain(..) {
            self.plans.used[index as usize] = false;
            all.push(index);
        }
    }

    #[inline]
    fn note_use(&mut self, index: usize) {
        if !std::mem::replace(&mut self.plans.used[index], true) {
            self.plans.used_list.push(index as u32);
        }
    }

    fn plan(&mut self, defs: &DefTable) {
        for def in defs.defs().since(self.plans.all.len()) {
            let keeps_extras = self.plans.keeps_extras_of(def);
            self.plans.all.push(Plan::new(def, keeps_extras));
            self.waiting.batches.extend([Vec::new(), Vec::new()]);
            self.plans.used.push(false);
        }
        let known = self.plans.numbering.as_ref().and_then(|known| defs.numbered_since(known));
        let first = match known {
            Some(known) if known == defs.numbered().len() => return,
            Some(known) => known,
            None => {
                self.plans.by_id = WordTable::default();
                self.plans.short_ids = ShortIds::default();
                0
            }
        };
        for index in defs.numbered().since(first) {
            let id = defs.defs()[*index as usize].id();
            let plan = &self.plans.all[*index as usize];
            // Structural lines are decoded one by one, but classified as quickly as other lines.
            if plan.is_usual || plan.action == Action::Structural {
                self.plans.short_ids.insert(id, batch_of(*index, true));
            }
            if let Some(fields) = plan.head {
                let (batch, all) = (batch_of(*index, true), plan.expected as u32);
                self.plans.short_ids.insert_head(id, Head { batch, fields, all });
            }
            let mut padded = id.to_vec();
            padded.resize(padded.len() + 16, 0);
            if let Some(word) = word(&padded, 0, id.len()) {
                self.plans.by_id.insert(word, id.len() as u64, *index);
            }
        }
        self.plans.numbering = Some(defs.numbering());
    }
}
