//! One block of lines to columns of small, plain events, sorted by lane.
//!
//! Nothing here depends on other blocks but the event definitions. Names become symbols of this
//! decoder; what a symbol stands for is resolved afterwards, in file order, once per symbol.
//! Structural events (definitions of types and values, creations and destructions of containers)
//! are only noted: they are few, and are read again when it is their turn.

mod batch;
pub(crate) mod block;
mod columns;
mod contents;
pub(crate) mod context;
pub(crate) mod decoded;
pub(crate) mod definitions;
mod fields;
mod follow;
mod foreseen;
mod group;
mod interrupt;
mod known;
mod line;
pub(crate) mod names;
mod pairs;
pub(crate) mod partitioning;
mod plan;
mod quotients;
pub(crate) mod shared;
mod short;
mod spread;
mod structure;
mod successor;
pub(crate) mod symbols;
mod tails;
mod times;
mod usual;
pub(crate) mod values;
pub(crate) mod watched;
mod wide;

use std::sync::Arc;

use paje_parser::scan::{Scanner, Spans};
use paje_parser::{DefTable, Fault};
use splitter::Block;

use crate::decode::columns::Columns;
use crate::decode::decoded::{Decoded, HEADER, NO_STRAND, NOTHING, StrandSymbol, WORDLESS};
use crate::decode::group::Grouping;
use crate::decode::known::KnownLanes;
use crate::decode::names::NameTable;
use crate::decode::partitioning::Partitioning;
use crate::decode::plan::{Action, Head, Plan, Plans, ShortIds};
use crate::decode::structure::Colors;
use crate::decode::symbols::{Symbol, SymbolTable, WordTable};
use crate::decode::times::Times;
use crate::decode::usual::{Batches, batch_of};
use crate::decode::values::Values;
use crate::names::hash::word;
use crate::names::options::{Options, Precision, ValueNames};
use crate::trace::selected::Selected;

/// Bytes of a block whose lines are decoded at a time, batch by batch: they and what is noted of them stay in a core's
/// second-level cache meanwhile.
const PORTION: usize = 1 << 17;

/// As many to begin with where many lanes may be new, then four times as many, and so on: batches only take lines of
/// lanes that are known, so what some lines name is known to those after them.
const FIRST_LINES: usize = 4096;

/// Decodes blocks; knows every name that it has met.
#[derive(Debug)]
pub(crate) struct Decoder {
    pub(crate) symbols: Symbols,
    known: KnownLanes,
    plans: Plans,
    lexing: Lexing,
    waiting: Batches,
    times: Times,
    columns: Columns,
    grouping: Grouping,
    colors: Colors,
    asked: Asked,
    /// Number of lines with words that it has decoded.
    decoded: u64,
    /// With more lanes and ends of links than this, it asks itself whether it is crowded.
    most_places: usize,
    /// If it is to be told whose each line is: lines that are no strand's.
    strandless: Vec<(u32, StrandSymbol)>,
}

/// The names that a decoder has met.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    pub(crate) types: SymbolTable,
    /// Containers, in the context of a type and nature: see [`context::lane_context`].
    pub(crate) lanes: NameTable,
    /// Containers, in the context of a link type and an end: see [`context::end_context`].
    pub(crate) link_ends: SymbolTable,
    pub(crate) values: Values,
}

/// Where the lines and fields of the block at hand are.
#[derive(Debug, Default)]
struct Lexing {
    scanner: Scanner,
    /// Of the line at hand.
    spans: Spans,
    /// Where the line begins that lacks its newline, if the block at hand has one.
    unended: usize,
}

/// Settings of a decoder.
#[derive(Clone, Copy, Debug)]
struct Asked {
    precision: Precision,
    /// Symbols may differ where names do not.
    value_names: ValueNames,
    stop_at: f64,
    keeps_lines: bool,
    /// It is to be told whose each line is.
    follows: bool,
    /// Decoding goes on after a line that is wrong.
    recovers: bool,
    /// True if uses by lines are noted, and what is doubtful in their spelling.
    watches: bool,
}

impl Asked {
    /// Tells whether lanes may be shared: not where somebody wants to know more of each line.
    const fn may_share(&self) -> bool {
        !self.follows && !self.recovers && !self.watches
    }
}

impl Decoder {
    /// If `follows`, blocks are told whose each of their lines is.
    pub(crate) fn new(options: &Options, spread: Partitioning, follows: bool) -> Self {
        Decoder {
            symbols: Symbols::default(),
            known: KnownLanes::new(spread),
            plans: Plans { keeps_extras: options.user_defined, ..Plans::default() },
            lexing: Lexing { unended: usize::MAX, ..Lexing::default() },
            waiting: Batches::default(),
            times: Times::default(),
            columns: Columns::new(Selected::of(options)),
            grouping: Grouping::default(),
            colors: Colors::default(),
            asked: Asked {
                precision: options.variable_precision,
                value_names: match options.keeps_usage() {
                    true => ValueNames::AsWritten,
                    false => options.value_names,
                },
                stop_at: options.stop_at.unwrap_or(f64::INFINITY),
                keeps_lines: options.keeps().lines,
                follows,
                recovers: options.recover,
                watches: options.keeps_usage(),
            },
            decoded: 0,
            most_places: successor::MOST_PLACES,
            strandless: Vec::new(),
        }
    }

    /// The shards of a lane's strands.
    pub(crate) fn shards_of(&self, lane: Symbol) -> &[u8] {
        let first = self.known.lanes[lane as usize].strand as usize;
        let next = self.known.lanes.get(lane as usize + 1);
        let end = next.map_or(self.known.shards.len(), |next| next.strand as usize);
        &self.known.shards[first..end]
    }

    /// Decodes a block; `defs` are the definitions before it. If it is the first of a file that this
    /// decoder sees, most of its lines may be for lanes that are new.
    #[inline(never)]
    pub(crate) fn decode(
        &mut self,
        block: &Block,
        defs: &DefTable,
        is_first: bool,
        decoded: &mut Decoded,
    ) {
        decoded.clear();
        if self.takes_columns() {
            self.decode_columns(block, defs, decoded);
            self.note_used(&mut decoded.used);
            return;
        }
        let text = block.text();
        self.lexing.scanner.scan(text);
        decoded.lines = self.lexing.scanner.newlines();
        if self.asked.keeps_lines {
            let newlines = memchr::memchr_iter(b'\n', text).map(|newline| newline as u32);
            decoded.newlines.extend(newlines);
        }
        if self.asked.recovers {
            let last = memchr::memrchr(b'\n', text).map_or(0, |newline| newline + 1);
            self.lexing.unended = if last < text.len() { last } else { usize::MAX };
        }
        let mut start = 0;
        let mut until = if is_first { FIRST_LINES } else { PORTION };
        while start < text.len() && decoded.fault.is_none() {
            // Up to the next line of a definition, which changes what the lines after it are.
            let changed = decoded.defs.take();
            let at_hand = changed.as_deref().unwrap_or(defs);
            if at_hand.is_open() && self.asked.recovers && self.interrupts(text, start) {
                self.interrupt(text, start, changed, defs, decoded);
                continue;
            }
            if text[start] != b'%' {
                self.plan(at_hand);
            }
            let (lines, range) = (self.waiting.lines, start..until.min(text.len()));
            start = self.classify(text, block.padded(), range, at_hand.is_open());
            // Between two lines of a definition there is nothing, and asking each plan takes long where
            // there are many definitions.
            if self.waiting.lines > lines {
                self.decode_batches(block.padded(), decoded);
                self.decode_rest(block, at_hand, decoded);
            }
            decoded.defs = changed;
            if start >= until.min(text.len()) {
                until = start + (3 * until).min(PORTION);
            } else if decoded.fault.is_none() {
                let end = self.lexing.scanner.line_end(text, start);
                decoded.watched.header_to = start as u32 + 1;
                self.follow(start as u32, HEADER);
                let changed = self.change(start, defs, decoded);
                let line = &text[start..end];
                let taken = match self.asked.recovers {
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
                self.note_used(&mut decoded.watched.used);
            }
            None => self.note_used(&mut decoded.used),
        }
        self.group_by_strand(decoded);
        if self.asked.watches {
            let Decoded { events, shards, watched, .. } = decoded;
            let count = shards.last().map_or(0, |(_, events)| *events as usize);
            watched.note_times(events[..count].iter().map(|event| event.time));
        }
    }

    /// Decodes the lines that no batch took, in file order, up to the first that is wrong.
    #[inline(never)]
    fn decode_rest(&mut self, block: &Block, defs: &DefTable, decoded: &mut Decoded) {
        let mut rest = std::mem::take(&mut self.waiting.rest);
        // In order already but for what batches left, so that this merges.
        rest.sort_by_key(|line| line.start);
        for line in rest.drain(..) {
            // An event of a block before stands there; nothing is decoded after a wrong line.
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
                    if self.asked.follows && event.0 == NO_STRAND {
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

    /// A line is wrong: it is the last, unless decoding goes on.
    #[cold]
    fn note_fault(&self, line: u32, fault: Fault, decoded: &mut Decoded) {
        if !self.asked.recovers {
            decoded.fault = Some((line, fault));
            return;
        }
        // Doubts about it are no matter any more.
        decoded.doubtful.pop_if(|doubtful| doubtful.at == line);
        decoded.faults.push((line, fault));
    }

    /// The definitions, to be changed by the line at `start`.
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

    /// Adds the definitions that lines have used since this was asked last. (They are in no order.)
    fn note_used(&mut self, all: &mut Vec<u32>) {
        for index in self.plans.used_list.drain(..) {
            self.plans.used[index as usize] = false;
            all.push(index);
        }
    }

    /// A line has used a definition.
    #[inline]
    fn note_use(&mut self, index: usize) {
        if !std::mem::replace(&mut self.plans.used[index], true) {
            self.plans.used_list.push(index as u32);
        }
    }

    /// Plans for the definitions that have none yet, and for what the numbers stand for now.
    fn plan(&mut self, defs: &DefTable) {
        for def in defs.defs().since(self.plans.all.len()) {
            self.plans.all.push(Plan::new(def, self.plans.keeps_extras));
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
            // Structural lines are read one by one, but are sorted out as fast as the others.
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
