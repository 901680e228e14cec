//! The loop over the lines of a batch. It is compiled once per operation, so that no decision is made per line.

use std::marker::PhantomData;

use paje_parser::{LinkEnd, Span};

use crate::decode::context::{end_context, significant_quoting, value_context};
use crate::decode::decoded::{Decoded, LaneEvent, LinkEvent, Op, OrderedItem, StrandSymbol};
use crate::decode::fields::{Fields, InBlock, InWindow, Text, bare};
use crate::decode::known::{KnownLane, KnownLanes};
use crate::decode::line_names::{LineNames, LineNamesSlots};
use crate::decode::plan::Plan;
use crate::decode::symbols::Words;
use crate::decode::times::Times;
use crate::decode::usual::Waiting;
use crate::decode::wide::{self, Loop};
use crate::decode::{Decoder, DecoderConfig, Symbols};
use paje_model::names::hash::{ShortText, Word, hash_text, word};

pub(super) struct Lines<'a, 't> {
    pub(super) padded: &'t [u8],
    pub(super) plan: &'a Plan,
    pub(super) batch: &'a [Waiting],
    known: &'a KnownLanes,
    symbols: &'a mut Symbols,
    times: &'a mut Times,
    unsorted: &'a mut [(StrandSymbol, LaneEvent)],
    rest: &'a mut Vec<Waiting>,
    config: &'a DecoderConfig,
    decoded: &'a mut Decoded,
}

pub(super) trait Batch<'t>: Text<'t> {
    /// Decodes lines and returns the number of decoded lines. With `as_one`, looks up all names of a line as one text,
    /// and stops at the first line that does not fit or has an unknown text. Without `as_one`, looks up names one by
    /// one, and appends lines that do not fit to the rest.
    fn decode(lines: Lines<'_, 't>, op: Op, as_one: bool) -> usize;
}

impl<'t> Batch<'t> for InWindow<'t> {
    fn decode(lines: Lines<'_, 't>, op: Op, as_one: bool) -> usize {
        const PUSH: u8 = Op::PushState as u8;
        const SET: u8 = Op::SetState as u8;
        const POP: u8 = Op::PopState as u8;
        const VARIABLE: u8 = Op::SetVariable as u8;
        const START: u8 = Op::StartLink as u8;
        const END: u8 = Op::EndLink as u8;
        match (op, as_one) {
            (Op::PopState, _) => lines.decode::<Self, _, false>(Always::<POP>),
            (Op::PushState, true) => lines.decode::<Self, _, true>(Always::<PUSH>),
            (Op::PushState, false) => lines.decode::<Self, _, false>(Always::<PUSH>),
            (Op::SetState, true) => lines.decode::<Self, _, true>(Always::<SET>),
            (Op::SetState, false) => lines.decode::<Self, _, false>(Always::<SET>),
            (Op::StartLink, true) => lines.decode::<Self, _, true>(Always::<START>),
            (Op::StartLink, false) => lines.decode::<Self, _, false>(Always::<START>),
            (Op::EndLink, true) => lines.decode::<Self, _, true>(Always::<END>),
            (Op::EndLink, false) => lines.decode::<Self, _, false>(Always::<END>),
            (Op::SetVariable, _) => lines.decode::<Self, _, false>(Always::<VARIABLE>),
            (other, true) => lines.decode::<Self, _, true>(other),
            (other, false) => lines.decode::<Self, _, false>(other),
        }
    }
}

impl<'t> Batch<'t> for InBlock<'t> {
    fn decode(lines: Lines<'_, 't>, op: Op, _: bool) -> usize {
        lines.decode::<Self, _, false>(op)
    }
}

trait Operation: Copy {
    fn op(self) -> Op;
}

impl Operation for Op {
    #[inline(always)]
    fn op(self) -> Op {
        self
    }
}

#[derive(Clone, Copy)]
struct Always<const OP: u8>;

impl<const OP: u8> Operation for Always<OP> {
    #[inline(always)]
    fn op(self) -> Op {
        Op::ALL[usize::from(OP)]
    }
}

struct OfOperation<'a, 't, T, O, const AS_ONE: bool> {
    lines: Lines<'a, 't>,
    op: O,
    text: PhantomData<T>,
}

#[derive(Clone, Copy)]
struct Tables<'a> {
    plan: &'a Plan,
    known: &'a KnownLanes,
    /// Slots of `known.by_pair`, borrowed so that the pointers stay in registers.
    pairs: Words<'a, KnownLane>,
    line_names: LineNamesSlots<'a>,
    config: &'a DecoderConfig,
}

struct OneByOne<'a, 't> {
    padded: &'t [u8],
    plan: &'a Plan,
    known: &'a KnownLanes,
    config: &'a DecoderConfig,
    symbols: &'a mut Symbols,
}

impl Decoder {
    pub(super) fn lines_of<'a, 't>(
        &'a mut self,
        padded: &'t [u8],
        plan: &'a Plan,
        batch: &'a [Waiting],
        decoded: &'a mut Decoded,
    ) -> Lines<'a, 't> {
        Lines {
            padded,
            plan,
            batch,
            known: &self.known,
            symbols: &mut self.symbols,
            times: &mut self.times,
            unsorted: &mut self.grouping.unsorted,
            rest: &mut self.waiting.rest,
            config: &self.config,
            decoded,
        }
    }
}

impl<'t> Lines<'_, 't> {
    fn decode<T: Text<'t>, O: Operation, const AS_ONE: bool>(self, op: O) -> usize {
        wide::run(OfOperation::<T, O, AS_ONE> { lines: self, op, text: PhantomData })
    }

    /// Looks up the names of the first line one by one. Returns their symbols, the text of all names if it is short,
    /// and the length of that text.
    pub(super) fn learn<T: Text<'t>>(self, op: Op) -> Option<(LineNames, Option<Word>, usize)> {
        let Lines { padded, plan, known, symbols, times, config, decoded, .. } = self;
        let line = self.batch.first()?;
        let (text, _, fields) = T::read(padded, line, plan, op, times)?;
        let mut names = OneByOne { padded, plan, known, config, symbols };
        let found = names.find(
            Tables::new(plan, known, config, op),
            text,
            line.start,
            op,
            fields,
            decoded,
        )?;
        let (from, to) = place_of_names(op, fields);
        Some((found, word(text.bytes(), from, to - from), to - from))
    }
}

impl<'t, T: Text<'t>, O: Operation, const AS_ONE: bool> Loop for OfOperation<'_, 't, T, O, AS_ONE> {
    type Result = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Lines { padded, plan, batch, known, symbols, times, .. } = self.lines;
        let Lines { unsorted, rest, config, decoded, .. } = self.lines;
        let op = self.op.op();
        let tables = Tables::new(plan, known, config, op);
        let mut names = OneByOne { padded, plan, known, config, symbols };
        let stop_at = config.stop_at;
        let mut lines = batch.iter();
        while let [line, ..] = lines.as_slice() {
            let event = 'event: {
                let Some((text, time, fields)) = T::read(padded, line, plan, op, times) else {
                    break 'event None;
                };
                if time > stop_at {
                    break 'event None;
                }
                let found = match op {
                    Op::PopState | Op::ResetState => {
                        tables.lane(text.bytes(), fields).map(|lane| (lane.strand, 0))
                    }
                    Op::SetVariable | Op::AddVariable | Op::SubVariable => {
                        tables.lane(text.bytes(), fields).and_then(|lane| {
                            let number = text.number(config.precision, fields.value)?;
                            Some((lane.strand, number.to_bits()))
                        })
                    }
                    _ => {
                        let found = match AS_ONE {
                            true => tables.find(&mut names, text, *line, op, fields, decoded),
                            false => names.find(tables, text, line.start, op, fields, decoded),
                        };
                        found.map(|names| match op.is_link() {
                            true => tables.link(names, text, line.start, fields, decoded),
                            false => (names.strand, u64::from(names.value)),
                        })
                    }
                };
                found.map(|(strand, argument)| (strand, time, argument))
            };
            match event {
                Some((strand, time, argument)) => {
                    let (to, event) = &mut unsorted[line.ordinal as usize];
                    *to = strand;
                    event.time = time;
                    event.argument = argument;
                    event.at = line.start;
                    event.tail = op as u32;
                }
                None if AS_ONE => break,
                None => rest.push(*line),
            }
            lines.next();
        }
        batch.len() - lines.len()
    }
}

impl<'a> Tables<'a> {
    #[inline(always)]
    fn new(plan: &'a Plan, known: &'a KnownLanes, config: &'a DecoderConfig, op: Op) -> Self {
        let line_names = known.line_names(op.is_link()).slots();
        Tables { plan, known, pairs: known.by_pair.slots(), line_names, config }
    }

    #[inline(always)]
    fn link<'t, T: Text<'t>>(
        self,
        LineNames { strand, value, end }: LineNames,
        line: T,
        start_of_line: u32,
        fields: Fields,
        decoded: &mut Decoded,
    ) -> (StrandSymbol, u64) {
        let (from, to) = bare(line.bytes(), fields.key);
        let (key, key_hash) = ShortText::hashed(line.bytes(), from, to);
        let base = line.base(start_of_line);
        let place = |at: usize| base.wrapping_add(at as u32);
        let raw_key = Span { start: place(fields.key.0), end: place(fields.key.1) };
        let number = decoded.links.len() as u64;
        let key_at = raw_key.start;
        decoded.links.push(LinkEvent { value, end, raw_key, key, key_hash, key_at });
        (strand + self.known.partitioning.part(key_hash), number)
    }

    /// Returns the lane of a line, if its type and container are known as one text.
    #[inline(always)]
    fn lane(self, text: &[u8], fields: Fields) -> Option<KnownLane> {
        let len = fields.pair.1 - fields.pair.0;
        let (word, context) = (word(text, fields.pair.0, len)?, self.plan.pair_context(len));
        self.pairs.find_salted(word, context, 0)
    }

    /// Returns the strand and the symbols of a line's names, if they are known as one text, or if their text is long
    /// and each name is known.
    #[inline(always)]
    fn find<'t, T: Text<'t>>(
        self,
        names: &mut OneByOne<'_, 't>,
        text: T,
        line: Waiting,
        op: Op,
        fields: Fields,
        decoded: &mut Decoded,
    ) -> Option<LineNames> {
        let (from, to) = place_of_names(op, fields);
        match word(text.bytes(), from, to - from) {
            Some(word) => self.line_names.find(word, self.plan.pair_context(to - from), op),
            None => LineNames::of_halves(names.long_names::<T>(line, op, decoded)),
        }
    }
}

impl<'t> OneByOne<'_, 't> {
    #[inline(always)]
    fn find<T: Text<'t>>(
        &mut self,
        tables: Tables<'_>,
        line: T,
        start_of_line: u32,
        op: Op,
        fields: Fields,
        decoded: &mut Decoded,
    ) -> Option<LineNames> {
        let text = line.bytes();
        let KnownLane { type_, strand } = tables.lane(text, fields)?;
        let names = tables.config.value_names;
        let end = match op {
            Op::StartLink | Op::EndLink => {
                let side = if op == Op::StartLink { LinkEnd::Start } else { LinkEnd::End };
                let (start, end) = fields.end;
                let significant_quoting = significant_quoting(names, text[start] == b'"');
                let (start, end) = bare(text, (start, end));
                let context = end_context(type_, side, significant_quoting);
                self.symbols.link_ends.find_short(text, start, end, context)?
            }
            _ => 0,
        };
        let quoted = text[fields.value.0] == b'"';
        let (from, to) = bare(text, fields.value);
        let context = value_context(type_, significant_quoting(names, quoted));
        let values = &mut self.symbols.values;
        let value = match self.symbols.unique_values {
            false => values.find_short(text, from, to, context)?,
            true => {
                let base = line.base(start_of_line);
                let place = |at: usize| base.wrapping_add(at as u32);
                let span = Span { start: place(fields.value.0), end: place(fields.value.1) };
                let symbol = values.append_span(span, context);
                let item = OrderedItem::Value(symbol, hash_text(text, from, to));
                decoded.ordered.push((start_of_line, item));
                symbol
            }
        };
        Some(LineNames { strand, value, end })
    }

    /// Returns the [halves](LineNames::halves) of a line's names. Reads the fields again, so that
    /// the loop keeps its own in registers.
    #[inline(never)]
    fn long_names<T: Text<'t>>(
        &mut self,
        line: Waiting,
        op: Op,
        decoded: &mut Decoded,
    ) -> (u64, u64) {
        let read = T::fields(self.padded, &line, self.plan, op);
        let found = read.and_then(|(text, fields)| {
            let tables = Tables::new(self.plan, self.known, self.config, op);
            self.find(tables, text, line.start, op, fields, decoded)
        });
        LineNames::halves(found)
    }
}

#[inline(always)]
fn place_of_names(op: Op, fields: Fields) -> (usize, usize) {
    (fields.pair.0, if op.is_link() { fields.end.1 } else { fields.value.1 })
}
