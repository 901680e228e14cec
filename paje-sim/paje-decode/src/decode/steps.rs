//! Steps of a segment, and the loop over lines that differ only in times, numbers and keys.

use paje_parser::Span;
use paje_parser::columns::{ColumnLine, Content, Linked};

use super::decoded::{LaneEvent, LinkEvent, NO_STRAND, StrandSymbol};
use super::partitioning::Partitioning;
use super::quotients::number;
use super::symbols::Symbol;
use paje_model::names::hash::{ShortText, bare};
use paje_model::names::options::Precision;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    pub(super) kind: StepKind,
    /// For links: template of the lane's first strand. The templates of the other strands follow.
    pub(super) template: u32,
    /// For links: container at the end that the step's lines describe.
    pub(super) end: Symbol,
    /// For links: last value, position of its text, and its type.
    pub(super) value: Symbol,
    pub(super) value_at: (u32, u32),
    pub(super) type_: Symbol,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StepKind {
    /// The first line of the step is not decoded yet, or its lines differ only in their times.
    #[default]
    Plain,
    Number,
    StartLink,
    EndLink,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct EventTemplate {
    pub(super) strand: StrandSymbol,
    pub(super) tail: u32,
    pub(super) argument: u64,
    pub(super) count: u32,
    pub(super) varies: Varies,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Varies {
    /// The time, in units of the segment.
    Time,
    TimeAndArgument,
    /// The time of a single line, as the bits of a double.
    ExactTime,
}

impl EventTemplate {
    pub(super) const NOTHING: EventTemplate = EventTemplate::of(NO_STRAND, &LaneEvent::NONE);

    const fn of(strand: StrandSymbol, event: &LaneEvent) -> EventTemplate {
        let LaneEvent { argument, tail, .. } = *event;
        EventTemplate { strand, tail, argument, count: 0, varies: Varies::Time }
    }
}

/// Steps of a segment. The memory is reused for the next segment.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub(super) all: Vec<Step>,
    /// Templates by the number in [`ColumnLine::step`]. The templates of the steps come first.
    pub(super) templates: Vec<EventTemplate>,
    /// Arguments of the lines whose templates have no argument, in the order of the lines.
    pub(super) arguments: Vec<u64>,
}

impl Steps {
    pub(super) fn begin(&mut self, counts: &[u32]) {
        self.all.clear();
        self.all.resize(counts.len(), Step::default());
        self.arguments.clear();
        self.templates.clear();
        let templates =
            counts.iter().map(|count| EventTemplate { count: *count, ..EventTemplate::NOTHING });
        self.templates.extend(templates);
    }

    pub(super) fn set(&mut self, step: u32, strand: StrandSymbol, event: &LaneEvent) {
        let template = &mut self.templates[step as usize];
        *template = EventTemplate { count: template.count, ..EventTemplate::of(strand, event) };
    }

    /// Adds templates for the links of the strands from `first` on. Returns the number of the first new template.
    pub(super) fn add_links(&mut self, first: StrandSymbol, count: u32, event: &LaneEvent) -> u32 {
        let number = self.templates.len() as u32;
        self.templates.extend((0..count).map(|part| EventTemplate {
            varies: Varies::TimeAndArgument,
            ..EventTemplate::of(first.wrapping_add(part), event)
        }));
        number
    }

    pub(super) fn add_line(&mut self, strand: StrandSymbol, event: &LaneEvent) -> u32 {
        let template = EventTemplate::of(strand, event);
        self.templates.push(EventTemplate { varies: Varies::ExactTime, count: 1, ..template });
        self.templates.len() as u32 - 1
    }

    #[inline(always)]
    pub(super) fn add_argument(&mut self, step: u32, argument: u64) {
        self.arguments.push(argument);
        self.templates[step as usize].varies = Varies::TimeAndArgument;
    }

    /// Counts the lines of each step again, after all lines but `lines` have been dropped.
    pub(super) fn keep(&mut self, lines: &[ColumnLine]) {
        self.templates.iter_mut().for_each(|template| template.count = 0);
        lines.iter().for_each(|line| self.templates[line.step as usize].count += 1);
    }

    /// Applies contents up to the first one that needs the segment's text. Returns the number of applied contents.
    #[inline(never)]
    pub(super) fn take(
        &mut self,
        contents: &[Content],
        lines: &mut [ColumnLine],
        links: &mut Vec<LinkEvent>,
        reading: &Reading<'_>,
    ) -> usize {
        let Reading { parts, precision, text } = *reading;
        let has_parts = parts.per_link_lane > 1;
        let taken = contents.iter().position(|content| {
            let Some(step) = self.all.get(content.step as usize) else { return true };
            match step.kind {
                StepKind::Plain => return true,
                StepKind::Number => {
                    let (Content::NUMBER, digits) = content.value_at else { return true };
                    let number = number(content.value as i64, digits, precision);
                    self.add_argument(content.step, number.to_bits());
                    return false;
                }
                StepKind::StartLink | StepKind::EndLink => {}
            }
            if content.value_at != step.value_at && content.value_at != (0, 0) {
                return true;
            }
            let Step { value, end, template, .. } = *step;
            let Linked { key_at: (from, to), at: key_at } = content.linked;
            let raw_key = Span { start: from, end: to };
            let (start, stop) = bare(text, raw_key);
            let (key, key_hash) = ShortText::hashed(text, start, stop);
            self.add_argument(content.step, links.len() as u64);
            links.push(LinkEvent { value, end, raw_key, key, key_hash, key_at });
            if has_parts && let Some(line) = lines.get_mut(content.line as usize) {
                let to = template + parts.part(key_hash);
                self.templates[line.step as usize].count -= 1;
                self.templates[to as usize].count += 1;
                line.step = to;
            }
            false
        });
        taken.unwrap_or(contents.len())
    }
}

#[derive(Clone, Copy)]
pub(super) struct Reading<'t> {
    pub(super) parts: Partitioning,
    pub(super) precision: Precision,
    pub(super) text: &'t [u8],
}
