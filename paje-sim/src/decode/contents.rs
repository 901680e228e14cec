//! Contents of lines of packed traces, which are numbers or links: the loop over those that are told by what is known of their steps.

use paje_pack::{ColumnLine, Content, Linked};
use paje_parser::Span;

use crate::decode::decoded::LinkEvent;
use crate::decode::partitioning::Partitioning;
use crate::decode::quotients::number;
use crate::decode::spread::Spread;
use crate::decode::symbols::Symbol;
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

/// Contents that are told, and who keeps what they tell.
pub(super) struct Contents<'c> {
    pub(super) steps: &'c mut [Step],
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
        let Contents { steps, spread, links, parts, precision, text } = self;
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
            let Linked { key_at: (from, to), at: key_at, .. } = content.linked;
            let raw_key = Span { start: from, end: to };
            let (start, stop) = bare(padded, raw_key);
            let (key, key_hash) = ShortText::hashed(padded, start, stop);
            links.push(LinkEvent { value, end, raw_key, key, key_hash, key_at });
            spread.put_argument(content.step, number as u64);
            if has_parts && let Some(line) = lines.get_mut(content.line as usize) {
                line.step = spread.move_to(line.step, step.alike + parts.part(key_hash));
            }
            false
        });
        plain.unwrap_or(contents.len())
    }
}
