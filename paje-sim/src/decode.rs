//! One block of lines to columns of small, plain events, sorted by lane.
//!
//! Nothing here depends on other blocks but the event definitions. Names become symbols of this
//! decoder; what a symbol stands for is resolved afterwards, in file order, once per symbol.
//! Structural events (definitions of types and values, creations and destructions of containers)
//! are only noted: they are few, and are read again when it is their turn.

pub(crate) mod block;
pub(crate) mod context;
pub(crate) mod decoded;
pub(crate) mod definitions;
mod group;
mod line;
mod lines;
mod plan;
mod short;
pub(crate) mod strands;
mod successor;
pub(crate) mod symbols;
pub(crate) mod values;

use std::sync::Arc;

use paje_parser::scan::{Scanner, Spans};
use paje_parser::{DefTable, Fault, FaultKind, Numbering, token};
use splitter::Block;

use crate::decode::decoded::{
    Decoded, HEADER, LaneEvent, NO_STRAND, NOTHING, StrandSymbol, WORDLESS,
};
use crate::decode::plan::Plan;
use crate::decode::strands::Strands;
use crate::decode::symbols::{Symbol, SymbolTable, WordTable};
use crate::decode::values::Values;
use crate::names::hash::word;
use crate::names::options::{Options, Precision, ValueNames};

/// A line that waits to be decoded.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Where it begins in the block.
    start: u32,
    /// How many lines with words come before it.
    ordinal: u32,
    /// Its fields: see [`paje_parser::scan::ShortLine`].
    edges: u64,
}

/// What a decoder knows of a lane.
#[derive(Clone, Copy, Debug)]
struct KnownLane {
    type_: Symbol,
    /// Its first strand; a link lane has as many as [`Strands`] says, one after the other.
    strand: StrandSymbol,
}

/// Bytes of a block whose lines are decoded before the others where many lanes may be new: batches only
/// take lines of lanes that are known, so what these lines name is known to all others.
const FIRST_LINES: usize = 4096;

/// Decodes blocks; knows every name that it has met.
#[derive(Debug)]
pub(crate) struct Decoder {
    pub(crate) types: SymbolTable,
    /// Containers, in the context of a type and nature: see [`lane_context`].
    pub(crate) lanes: SymbolTable,
    /// Containers, in the context of a link type and an end: see [`end_context`].
    pub(crate) link_ends: SymbolTable,
    pub(crate) values: Values,
    /// How many lines with words it has decoded.
    decoded: u64,
    scanner: Scanner,
    spans: Spans,
    plans: Vec<Plan>,
    /// Plans by the texts of their numbers, as they were in this table: see [`short`].
    plans_by_id: WordTable,
    planned: Option<Numbering>,
    /// Which definitions the lines at hand have used, and a list of them.
    used: Vec<bool>,
    used_list: Vec<u32>,
    /// Lanes by the texts of a type and a container: see [`short`].
    lanes_by_pair: WordTable,
    known_lanes: Vec<KnownLane>,
    /// The shard of each strand.
    strand_shards: Vec<u32>,
    spread: Strands,
    /// With more lanes and ends of links than this, it asks itself whether it is crowded.
    most_places: usize,
    /// Short lines by their plans, and all others.
    batches: Vec<Vec<Waiting>>,
    /// Those that are not empty.
    filled: Vec<u32>,
    rest: Vec<Waiting>,
    /// How many lines with words the block at hand has so far.
    lines: u32,
    /// The strand and the event of each line, by its ordinal; what is beyond the lines at hand is old.
    unsorted: Vec<(StrandSymbol, LaneEvent)>,
    /// How many events of each strand the block at hand has; zeros between blocks.
    counts: Vec<u32>,
    /// The block's strands before they are brought together by shard.
    met: Vec<(StrandSymbol, u32)>,
    precision: Precision,
    value_names: ValueNames,
    stop_at: f64,
    extras: bool,
    keeps_lines: bool,
    /// Whether it is to be told whose each line is, and lines that are no strand's.
    follows: bool,
    strandless: Vec<(u32, StrandSymbol)>,
    /// Decoding goes on after a line that is wrong.
    recovers: bool,
    /// Where the line begins that lacks its newline, if the block at hand has one.
    unended: usize,
}

impl Decoder {
    /// If `follows`, blocks are told whose each of their lines is.
    pub(crate) fn new(options: &Options, spread: Strands, follows: bool) -> Self {
        Decoder {
            types: SymbolTable::default(),
            lanes: SymbolTable::default(),
            link_ends: SymbolTable::default(),
            values: Values::default(),
            decoded: 0,
            scanner: Scanner::default(),
            spans: Spans::default(),
            plans: Vec::new(),
            plans_by_id: WordTable::default(),
            planned: None,
            used: Vec::new(),
            used_list: Vec::new(),
            lanes_by_pair: WordTable::default(),
            known_lanes: Vec::new(),
            strand_shards: Vec::new(),
            spread,
            most_places: successor::MOST_PLACES,
            batches: Vec::new(),
            filled: Vec::new(),
            rest: Vec::new(),
            lines: 0,
            unsorted: Vec::new(),
            counts: Vec::new(),
            met: Vec::new(),
            precision: options.variable_precision,
            value_names: options.value_names,
            stop_at: options.stop_at.unwrap_or(f64::INFINITY),
            extras: options.user_defined,
            keeps_lines: options.keeps().lines,
            follows,
            strandless: Vec::new(),
            recovers: options.recover,
            unended: usize::MAX,
        }
    }

    /// The shards of a lane's strands.
    pub(crate) fn shards_of(&self, lane: Symbol) -> &[u32] {
        let first = self.known_lanes[lane as usize].strand as usize;
        let next = self.known_lanes.get(lane as usize + 1);
        let end = next.map_or(self.strand_shards.len(), |next| next.strand as usize);
        &self.strand_shards[first..end]
    }

    /// Decodes a block; `defs` are the definitions before it. If it is the first of a file that this
    /// decoder sees, most of its lines may be for lanes that are new.
    pub(crate) fn decode(
        &mut self,
        block: &Block,
        defs: &DefTable,
        is_first: bool,
        decoded: &mut Decoded,
    ) {
        decoded.clear();
        let text = block.text();
        decoded.lines = memchr::memchr_iter(b'\n', text).count() as u64;
        if self.keeps_lines {
            let newlines = memchr::memchr_iter(b'\n', text).map(|newline| newline as u32);
            decoded.newlines.extend(newlines);
        }
        self.scanner.scan(text);
        if self.recovers {
            let last = memchr::memrchr(b'\n', text).map_or(0, |newline| newline + 1);
            self.unended = if last < text.len() { last } else { usize::MAX };
        }
        let mut start = 0;
        let mut until = if is_first { FIRST_LINES.min(text.len()) } else { text.len() };
        while start < text.len() && decoded.fault.is_none() {
            // Up to the next line of a definition, which changes what the lines after it are.
            let changed = decoded.defs.take();
            let at_hand = changed.as_deref().unwrap_or(defs);
            if at_hand.is_open() && self.recovers && self.interrupts(text, start) {
                self.interrupt(text, start, changed, defs, decoded);
                continue;
            }
            if text[start] != b'%' {
                self.plan(at_hand);
            }
            let lines = self.lines;
            start = self.sort_out(text, block.padded(), start..until, at_hand.is_open());
            // Between two lines of a definition there is nothing, and asking each plan takes long where
            // there are many definitions.
            if self.lines > lines {
                self.decode_batches(block.padded(), decoded);
                self.decode_rest(block, at_hand, decoded);
            }
            decoded.defs = changed;
            if start >= until {
                until = text.len();
            } else if decoded.fault.is_none() {
                let end = self.scanner.line_end(text, start);
                self.follow(start as u32, HEADER);
                let changed = self.change(start, defs, decoded);
                let line = &text[start..end];
                let taken = match self.recovers {
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
                self.note_used(&mut Vec::new());
            }
            None => self.note_used(&mut decoded.used),
        }
        self.group_by_strand(decoded);
    }

    /// Decodes the lines that no batch took, in file order, up to the first that is wrong.
    fn decode_rest(&mut self, block: &Block, defs: &DefTable, decoded: &mut Decoded) {
        let mut rest = std::mem::take(&mut self.rest);
        // In order already but for what batches left, so that this merges.
        rest.sort_by_key(|line| line.start);
        for line in rest.drain(..) {
            // What stands there is of a block before; nothing is decoded after a wrong line.
            self.unsorted[line.ordinal as usize] = NOTHING;
            if decoded.fault.is_some() {
                continue;
            }
            self.scanner.fields(block.text(), line.start as usize, &mut self.spans);
            match self.line(block.padded(), line.start as usize, defs, decoded) {
                Ok(event) => {
                    self.unsorted[line.ordinal as usize] = event;
                    if self.follows && event.0 == NO_STRAND {
                        self.follow_strandless(line.start, decoded);
                    }
                }
                Err(fault) => {
                    self.note_fault(line.start, fault, decoded);
                    self.follow(line.start, WORDLESS);
                }
            }
        }
        self.rest = rest;
    }

    /// A line is wrong: it is the last, unless decoding goes on.
    #[cold]
    fn note_fault(&self, line: u32, fault: Fault, decoded: &mut Decoded) {
        if !self.recovers {
            decoded.fault = Some((line, fault));
            return;
        }
        // What was doubtful about it is no matter any more.
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

    /// Whether the next line with words, from `start` on, is an event's: within a definition, it ends that.
    fn interrupts(&self, text: &[u8], mut start: usize) -> bool {
        let mut words = Vec::new();
        while start < text.len() {
            let end = self.scanner.line_end(text, start);
            token::fields(&text[start..end], 0, &mut words);
            if let Some(first) = words.first() {
                return text[start + first.start as usize] != b'%';
            }
            start = end + 1;
        }
        false
    }

    /// Ends the definition at hand before the next line with words.
    #[cold]
    fn interrupt(
        &mut self,
        text: &[u8],
        mut start: usize,
        changed: Option<Arc<DefTable>>,
        defs: &DefTable,
        decoded: &mut Decoded,
    ) {
        let mut words = Vec::new();
        let first = loop {
            let end = self.scanner.line_end(text, start);
            token::fields(&text[start..end], 0, &mut words);
            match words.first() {
                Some(first) => break first.start,
                None => start = end + 1,
            }
        };
        decoded.defs = changed;
        self.change(start, defs, decoded).end_early();
        let at = start as u32 + first;
        self.note_fault(start as u32, Fault { at, kind: FaultKind::UnfinishedDefinition }, decoded);
    }

    /// Adds the definitions that lines have used since this was asked last.
    fn note_used(&mut self, all: &mut Vec<u32>) {
        for index in self.used_list.drain(..) {
            self.used[index as usize] = false;
            all.push(index);
        }
    }

    /// A line has used a definition.
    #[inline]
    fn note_use(&mut self, index: usize) {
        if !std::mem::replace(&mut self.used[index], true) {
            self.used_list.push(index as u32);
        }
    }

    /// Plans for the definitions that have none yet, and for what the numbers stand for now.
    fn plan(&mut self, defs: &DefTable) {
        for def in defs.defs().since(self.plans.len()) {
            self.plans.push(Plan::new(def, self.extras));
            self.batches.push(Vec::new());
            self.used.push(false);
        }
        let known = self.planned.as_ref().and_then(|known| defs.numbered_since(known));
        let first = match known {
            Some(known) if known == defs.numbered().len() => return,
            Some(known) => known,
            None => {
                self.plans_by_id = WordTable::default();
                0
            }
        };
        for index in defs.numbered().since(first) {
            let id = defs.defs()[*index as usize].id();
            let mut padded = id.to_vec();
            padded.resize(padded.len() + 16, 0);
            if let Some(word) = word(&padded, 0, id.len()) {
                self.plans_by_id.insert(word, id.len() as u64, *index);
            }
        }
        self.planned = Some(defs.numbering());
    }
}
