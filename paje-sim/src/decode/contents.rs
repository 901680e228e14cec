//! Contents of lines of packed traces, which are numbers or links: the loop over those that are told by what is known of their steps.

use paje_pack::{ColumnLine, Content, Linked};
use paje_parser::Span;

use crate::decode::decoded::LinkEvent;
use crate::decode::partitioning::Partitioning;
use crate::decode::quotients::number;
use crate::decode::spread::Spread;
use crate::decode::symbols::Symbol;
use crate::lanes::links::PairNumber;
use crate::names::hash::{ShortText, bare};
use crate::names::options::Precision;

/// A step whose lines tell more than their times.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    pub(super) kind: StepKind,
    /// Number of what is alike of its lines; of links, of those of the first strand.
    pub(super) alike: u32,
    /// Of links: the container at their end, their last value, where its text is, and their type.
    pub(super) end: Symbol,
    pub(super) value: Symbol,
    pub(super) value_at: (u32, u32),
    pub(super) type_: Symbol,
}

/// Kind of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StepKind {
    /// Nothing is known of it, or nothing is to be told of its lines.
    #[default]
    Plain,
    Number,
    StartLink,
    EndLink,
}

/// Links that have begun in a segment, by the numbers that it has for them: the number of each among the block's links, and its part of
/// its lane.
#[derive(Debug, Default)]
pub(super) struct Begun(Vec<(PairNumber, u32)>);

impl Begun {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A link begins.
    #[inline(always)]
    fn note(&mut self, link: u32, number: usize, part: u32) {
        let event = (PairNumber(number as u32), part);
        if link as usize == self.0.len() {
            self.0.push(event);
        } else {
            self.note_any(link, event);
        }
    }

    /// The same where some before it are not known: their lines are not wanted, or have other keys than it seems.
    #[cold]
    #[inline(never)]
    fn note_any(&mut self, link: u32, event: (PairNumber, u32)) {
        if link != Linked::NONE && link as usize > self.0.len() {
            self.0.resize(link as usize, (PairNumber::NONE, 0));
            self.0.push(event);
        }
    }

    /// The beginning of the link that ends with a line.
    #[inline(always)]
    fn of(&self, link: u32) -> Option<(PairNumber, u32)> {
        self.0.get(link as usize).copied().filter(|(number, _)| *number != PairNumber::NONE)
    }

    /// The last of the block's links is that of a line with a text; whether its other event is known.
    pub(super) fn note_last(
        &mut self,
        linked: &Linked,
        is_end: bool,
        links: &mut [LinkEvent],
        parts: Partitioning,
    ) {
        let Some((event, before)) = links.split_last_mut() else { return };
        if linked.key_at != (event.raw_key.start, event.raw_key.end) {
            return;
        }
        match is_end {
            true => event.pair = self.of(linked.link).map_or(PairNumber::NONE, |(first, _)| first),
            false => self.note(linked.link, before.len(), parts.part(event.key_hash)),
        }
    }
}

/// Contents that are told, and who keeps what they tell.
pub(super) struct Contents<'c> {
    pub(super) steps: &'c mut [Step],
    pub(super) begun: &'c mut Begun,
    pub(super) spread: &'c mut Spread,
    pub(super) links: &'c mut Vec<LinkEvent>,
    pub(super) parts: Partitioning,
    pub(super) precision: Precision,
    pub(super) text: &'c [u8],
}

impl Contents<'_> {
    /// Takes contents up to the first of a line with a text, or with a value that must be looked at; returns how many.
    #[inline(never)]
    pub(super) fn take(&mut self, contents: &[Content], lines: &mut [ColumnLine]) -> usize {
        let Contents { steps, begun, spread, links, parts, precision, text } = self;
        let (has_parts, padded) = (parts.per_link_lane > 1, &text[..]);
        let plain = contents.iter().position(|content| {
            let Some(step) = steps.get(content.step as usize) else { return true };
            let number = match step.kind {
                StepKind::Plain => return true,
                StepKind::Number => {
                    let (Content::NUMBER, digits) = content.value_at else { return true };
                    let number = number(content.value as i64, digits, *precision);
                    spread.put_argument(content.step, number.to_bits());
                    return false;
                }
                StepKind::StartLink | StepKind::EndLink => links.len(),
            };
            if content.value_at != step.value_at && content.value_at != (0, 0) {
                return true;
            }
            let Step { value, end, .. } = *step;
            let Linked { link, key_at: (from, to), at } = content.linked;
            let first = match step.kind {
                StepKind::EndLink => begun.of(link),
                _ => None,
            };
            let part = match first {
                Some((pair, part)) => {
                    let raw_key = Span { start: at, end: at.wrapping_add(to - from) };
                    let (key, key_hash) = (ShortText::LONG, 0);
                    links.push(LinkEvent { value, end, raw_key, key, key_hash, pair });
                    part
                }
                None => {
                    let raw_key = Span { start: from, end: to };
                    let (start, stop) = bare(padded, raw_key);
                    let (key, key_hash) = ShortText::hashed(padded, start, stop);
                    let pair = PairNumber::NONE;
                    links.push(LinkEvent { value, end, raw_key, key, key_hash, pair });
                    let part = parts.part(key_hash);
                    if step.kind == StepKind::StartLink {
                        begun.note(link, number, part);
                    }
                    part
                }
            };
            spread.put_argument(content.step, number as u64);
            if has_parts && let Some(line) = lines.get_mut(content.line as usize) {
                line.step = spread.move_to(line.step, step.alike + part);
            }
            false
        });
        plain.unwrap_or(contents.len())
    }
}
