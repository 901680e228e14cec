//! Slow path: decodes any line with all checks.

use paje_parser::{
    DefTable, EventDef, Fault, FaultKind, FieldName, LinkEnd, Quoting, RawEvent, Span, TypeNature,
    number,
};

use crate::decode::Decoder;
use crate::decode::context::{end_context, lane_context, value_context};
use crate::decode::decoded::{
    Decoded, Doubtful, LaneEvent, LinkEvent, NOTHING, Op, OrderedItem, StrandSymbol,
};
use crate::decode::known::KnownLane;
use crate::decode::plan::{Action, Plan};
use crate::decode::structure::structure;
use crate::decode::symbols::Symbol;
use paje_model::names::hash::{ShortText, bare, hash_text, word};
use paje_model::names::options::{Precision, ValueNames};

impl Decoder {
    /// Decodes the line at `start`, whose words are in `self.lexing.spans`. Returns the event and
    /// its strand, if the line has an event.
    ///
    /// # Errors
    /// The line is not a valid event.
    pub(super) fn line(
        &mut self,
        padded: &[u8],
        start: usize,
        defs: &DefTable,
        decoded: &mut Decoded,
    ) -> Result<(StrandSymbol, LaneEvent), Fault> {
        let words = self.lexing.spans.as_slice();
        let Some(number) = words.first() else {
            return Ok(NOTHING);
        };
        if defs.is_open() {
            return Err(fault(*number, FaultKind::UnfinishedDefinition));
        }
        let (id_start, id_end) = bare(padded, *number);
        let Some(index) = defs.find(&padded[id_start..id_end]) else {
            return Err(fault(*number, FaultKind::UnknownId));
        };
        self.note_use(index);
        let words = self.lexing.spans.as_slice();
        let plan = self.plans.all[index];
        if words.len() != plan.expected {
            if words.len() < plan.needed {
                let fault = missing(&defs.defs()[index], words);
                let is_empty =
                    self.config.recovers && start != self.lexing.unended && plan.ends_with_key();
                if !is_empty || words.len() + 1 != plan.needed {
                    return Err(fault);
                }
                // The key is empty, not missing.
                self.lexing.spans.push(Span { start: fault.at, end: fault.at });
                let event = self.line(padded, start, defs, decoded)?;
                decoded.keyless.push((start as u32, fault));
                return Ok(event);
            }
            decoded.doubtful.push(Doubtful {
                at: start as u32,
                def: index as u32,
                surplus: words.len() > plan.expected,
            });
        }
        decoded.event_count += 1;
        if self.config.notes_usage {
            decoded.usage.note_end(padded, words);
        }
        let op = match plan.action {
            Action::Structural => {
                let structure = structure(
                    &defs.defs()[index],
                    index,
                    padded,
                    words,
                    &mut self.symbols.types,
                    &mut self.colors,
                    decoded,
                );
                decoded.ordered.push((start as u32, OrderedItem::Structural(structure)));
                return Ok(NOTHING);
            }
            Action::Replayed(op) => op,
        };
        let time = parse_time(padded, words[plan.time])?;
        let nature = op.nature();
        let mut argument = 0;
        if nature == TypeNature::Variable {
            argument = self.parse_value(padded, words[plan.value])?.to_bits();
        }
        if time > self.config.stop_at {
            return Ok(NOTHING);
        }
        if time > decoded.last_time {
            decoded.last_time = time;
        }
        let line = start as u32;
        let pair = plan.pair.and_then(|pair| {
            let (start, end) = (words[pair].start as usize, words[pair + 1].end as usize);
            Some((word(padded, start, end - start)?, plan.pair_context(end - start)))
        });
        let known = pair.and_then(|(word, context)| self.known.by_pair.find(word, context));
        let known = match known {
            // Usage notes compare the names of each line, so they need the slow path.
            Some(known) if !self.config.notes_usage => known,
            found => {
                let known = self.named_lane(padded, &plan, line, decoded);
                if let (Some((word, context)), None) = (pair, found) {
                    self.known.by_pair.insert(word, context, known);
                }
                known
            }
        };
        let KnownLane { type_, mut strand } = known;
        let words = self.lexing.spans.as_slice();
        match op {
            Op::StartLink | Op::EndLink => {
                let side = if op == Op::StartLink { LinkEnd::Start } else { LinkEnd::End };
                let span = words[plan.end];
                let context = end_context(type_, side, self.significant_quoting(padded, span));
                let end = self.symbols.link_end(padded, span, context, line, decoded);
                let span = words[plan.value];
                let significant_quoting = self.significant_quoting(padded, span);
                let context = value_context(type_, significant_quoting);
                let value = self.symbols.value(padded, span, context, line, decoded);
                let raw_key = self.lexing.spans.as_slice()[plan.key];
                let (key_start, key_end) = bare(padded, raw_key);
                let key_hash = hash_text(padded, key_start, key_end);
                strand += self.known.partitioning.part(key_hash);
                argument = decoded.links.len() as u64;
                let key = ShortText::new(padded, key_start, key_end);
                let key_at = raw_key.start;
                decoded.links.push(LinkEvent { value, end, raw_key, key, key_hash, key_at });
            }
            Op::SetState | Op::PushState | Op::Event => {
                let span = words[plan.value];
                let significant_quoting = self.significant_quoting(padded, span);
                let context = value_context(type_, significant_quoting);
                let value = self.symbols.value(padded, span, context, line, decoded);
                argument = u64::from(value);
            }
            _ => {}
        }
        let extra = if plan.keeps_extras {
            note_extras(
                &defs.defs()[index],
                index as u32,
                padded,
                self.lexing.spans.as_slice(),
                decoded,
            )
        } else {
            0
        };
        Ok((strand, LaneEvent::new(time, argument, start as u32, op, extra)))
    }

    fn named_lane(
        &mut self,
        padded: &[u8],
        plan: &Plan,
        line: u32,
        decoded: &mut Decoded,
    ) -> KnownLane {
        let words = self.lexing.spans.as_slice();
        let nature = match plan.action {
            Action::Replayed(op) => op.nature(),
            Action::Structural => TypeNature::Container,
        };
        let (type_word, container) = (words[plan.type_], words[plan.container]);
        let type_ = self.symbols.types.intern(padded, type_word, 0);
        let context = lane_context(type_, nature);
        let (lane, hash) = self.symbols.lanes.intern(padded, container, context);
        if lane as usize == self.known.lanes.len() {
            decoded.ordered.push((line, OrderedItem::Lane(lane, hash)));
            let (start, end) = bare(padded, type_word);
            self.learn_lane(type_, nature, hash ^ hash_text(padded, start, end).rotate_left(1));
        }
        if self.config.notes_usage {
            let known = [self.symbols.types.get(type_).0, self.symbols.lanes.get(lane).0];
            let places = [plan.type_, plan.container];
            decoded.usage.note_names(padded, known, places, &self.lexing.spans);
        }
        self.known.lanes[lane as usize]
    }

    /// Assigns strands and shards to a new lane. They depend only on the hash of the lane's texts.
    fn learn_lane(&mut self, type_: Symbol, nature: TypeNature, lane_hash: u64) {
        self.known.lanes.push(KnownLane { type_, strand: self.known.shards.len() as u32 });
        let parts = 0..self.known.partitioning.of(nature);
        self.known.shards.extend(parts.map(|part| self.known.partitioning.shard(lane_hash, part)));
    }

    #[inline]
    pub(super) fn significant_quoting(&self, padded: &[u8], span: Span) -> Quoting {
        match self.config.value_names {
            ValueNames::Bare => Quoting::Bare,
            ValueNames::AsWritten => span.of(padded).quoting(),
        }
    }

    pub(super) fn parse_value(&self, padded: &[u8], span: Span) -> Result<f64, Fault> {
        let (start, end) = bare(padded, span);
        let value = match self.config.precision {
            Precision::Single => number::parse_f32_at(padded, start, end).map(f64::from),
            Precision::Double => number::parse_f64_at(padded, start, end),
        };
        value.ok_or(fault(span, FaultKind::BadNumber))
    }
}

const fn fault(word: Span, kind: FaultKind) -> Fault {
    Fault { at: word.start, kind }
}

#[cold]
fn missing(def: &EventDef, words: &[Span]) -> Fault {
    // This checks the required fields, which determine the number of needed words.
    let failed = RawEvent::new(def, &[], words).err();
    failed.unwrap_or(Fault { at: 0, kind: FaultKind::MissingField(FieldName::Type) })
}

#[inline]
fn parse_time(padded: &[u8], span: Span) -> Result<f64, Fault> {
    let (start, end) = bare(padded, span);
    let time = number::parse_f64_at(padded, start, end).filter(|time| time.is_finite());
    time.ok_or(fault(span, FaultKind::BadTime))
}

#[inline(never)]
fn note_extras(
    def: &EventDef,
    index: u32,
    padded: &[u8],
    words: &[Span],
    decoded: &mut Decoded,
) -> u32 {
    let start = decoded.extra_text.len() as u32;
    for (_, word) in def.extras() {
        if let Some(span) = words.get(word) {
            decoded.extra_text.extend_from_slice(span.of(padded).raw());
        }
        decoded.extra_text.push(b'\n');
    }
    decoded.extras.push((index, start, decoded.extra_text.len() as u32));
    decoded.extras.len() as u32
}
