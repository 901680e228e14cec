//! Decodes segments of binary formats without their text.
//!
//! A segment groups its lines by step. The lines of a step have the same words, except in their holes ([`Lines`]).
//! `Decoder::line` decodes the first line of a step. The step's other lines are the same event with other times,
//! numbers and keys. Blocks with definitions, and lines with other holes, are decoded from their text. So are all
//! blocks if an option needs the text.

use paje_parser::columns::{Asked, ColumnLine, Content, Hole, HoleKind, Lines, Wanted};
use paje_parser::token::{self, is_white};
use paje_parser::{DefTable, Fault, Span, TypeNature};
use splitter::Block;

use crate::decode::Decoder;
use crate::decode::context::{value_context, value_type};
use crate::decode::decoded::{Decoded, LaneEvent, Op, StrandSymbol};
use crate::decode::plan::{Action, Plan, Plans};
use crate::decode::quotients::POWERS;
use crate::decode::steps::{EventTemplate, Reading, Step, StepKind, Steps};

/// Returns whether the rows of a lane are wanted, given the texts of its container and its type. Returns `None` if the
/// lane does not exist.
pub type LaneFilter<'f> = &'f dyn Fn(&[u8], &[u8]) -> Option<bool>;

#[derive(Debug, Default)]
pub(super) struct Columns {
    lines: Lines,
    steps: Steps,
}

impl Decoder {
    /// Reads a block as columns. Leaves out lines of lanes that the filter rejects.
    ///
    /// Returns `false` if the block must be decoded from its text.
    pub(super) fn read_columns(
        &mut self,
        block: &Block,
        defs: &DefTable,
        filter: Option<LaneFilter<'_>>,
        decoded: &mut Decoded,
    ) -> bool {
        let config = &self.config;
        let looks_at_lines =
            config.keeps_lines || config.follows || config.recovers || config.notes_usage;
        let unique_values = self.symbols.unique_values;
        if looks_at_lines || config.stop_at.is_finite() || defs.is_open() || unique_values {
            return false;
        }
        self.plan(defs);
        let (plans, mut words) = (&self.plans, Vec::new());
        let lines = &mut self.columns.lines;
        lines.leaves_out = filter.is_some();
        let mut judge = |line: &[u8], holes: &[Hole]| {
            words.clear();
            token::fields(line, 0, &mut words);
            let Some((form, plan)) = wanted(plans, defs, line, &words, holes) else {
                return Wanted::Text;
            };
            let text = |word: usize| words[word].of(line).bare();
            let wants = filter.and_then(|wants| wants(text(plan.container), text(plan.type_)));
            if wants == Some(false) { Wanted::Nothing } else { form }
        };
        decoded.sparse.fill(|text| block.columns(text, lines, &mut judge))
    }

    #[inline(never)]
    pub(super) fn decode_columns(&mut self, block: &Block, defs: &DefTable, decoded: &mut Decoded) {
        let Columns { mut lines, mut steps } = std::mem::take(&mut self.columns);
        let sparse = std::mem::take(&mut decoded.sparse);
        let text = sparse.get().unwrap_or_default();
        steps.begin(&lines.counts);
        decoded.lines = lines.lines.len() as u64 + lines.left_out;
        decoded.newlines.extend(lines.lines.windows(2).map(|lines| lines[1].start - 1));
        decoded.newlines.push(block.text_len() as u32 - 1);
        let reading =
            Reading { parts: self.known.partitioning, precision: self.config.precision, text };
        let Lines { lines: all, contents, .. } = &mut lines;
        let (mut count, mut texts, mut rest) = (all.len(), 0, &contents[..]);
        loop {
            let taken = steps.take(rest, all, &mut decoded.links, &reading);
            let Some((content, behind)) = rest.get(taken..).and_then(<[_]>::split_first) else {
                break;
            };
            rest = behind;
            let line = &mut all[content.line as usize];
            let decoding = if line.has_text() {
                texts += 1;
                self.line_with_text(line, content, defs, text, &mut steps, decoded)
            } else {
                match &mut steps.all[line.step as usize] {
                    // Lines of this step have no content.
                    Step { kind: StepKind::Plain, .. } => Ok(()),
                    Step { kind: StepKind::Number, .. } => {
                        let (start, end) = content.value_at;
                        let number = self.parse_value(text, Span { start, end });
                        number.map(|number| steps.add_argument(line.step, number.to_bits()))
                    }
                    step => {
                        self.link_value(line.start, content, step, text, decoded);
                        // The loop reads this link again, now that its value is known.
                        rest = &contents[contents.len() - rest.len() - 1..];
                        Ok(())
                    }
                }
            };
            if let Err(fault) = decoding {
                decoded.fault = Some((line.start, fault));
                (count, texts) = (content.line as usize, texts - usize::from(line.has_text()));
                steps.keep(&all[..count]);
                break;
            }
        }
        decoded.event_count += (count - texts) as u64 + lines.left_out;
        let power = POWERS[usize::from(lines.digits)];
        if lines.left_out > 0 {
            decoded.last_time = decoded.last_time.max(lines.latest as f64 / power);
        }
        self.spread(&lines.lines[..count], power, &steps, decoded);
        decoded.sparse = sparse;
        self.columns = Columns { lines, steps };
    }

    fn link_value(
        &mut self,
        start_of_line: u32,
        content: &Content,
        step: &mut Step,
        text: &[u8],
        decoded: &mut Decoded,
    ) {
        let of = |(start, end): (u32, u32)| &text[start as usize..end as usize];
        if of(content.value_at) != of(step.value_at) {
            let span = Span { start: content.value_at.0, end: content.value_at.1 };
            let context = value_context(step.type_, self.significant_quoting(text, span));
            step.value = self.symbols.value(text, span, context, start_of_line, decoded);
        }
        step.value_at = content.value_at;
    }

    /// Decodes a line with text. The first line of a step defines the event of the step's other lines.
    #[cold]
    fn line_with_text(
        &mut self,
        line: &mut ColumnLine,
        content: &Content,
        defs: &DefTable,
        text: &[u8],
        steps: &mut Steps,
        decoded: &mut Decoded,
    ) -> Result<(), Fault> {
        let start = line.start as usize;
        self.lexing.spans.read(text, start);
        if self.lexing.spans.as_slice().is_empty() {
            line.step = steps.templates.len() as u32;
            steps.templates.push(EventTemplate::NOTHING);
            return Ok(());
        }
        let (strand, event) = self.line(text, start, defs, decoded)?;
        if (content.step as usize) < steps.all.len() {
            self.learn_step(content.step, strand, &event, steps, decoded);
        }
        line.time = event.time.to_bits() as i64;
        line.step = steps.add_line(strand, &event);
        Ok(())
    }

    fn learn_step(
        &self,
        number: u32,
        strand: StrandSymbol,
        event: &LaneEvent,
        steps: &mut Steps,
        decoded: &Decoded,
    ) {
        steps.set(number, strand, event);
        let kind = match event.op() {
            Op::StartLink => StepKind::StartLink,
            Op::EndLink => StepKind::EndLink,
            op if op.nature() == TypeNature::Variable => StepKind::Number,
            _ => StepKind::Plain,
        };
        let mut step = Step { kind, ..Step::default() };
        if let Some(link) = decoded.links.last().filter(|_| event.op().is_link()) {
            let parts = self.known.partitioning;
            if parts.per_link_lane > 1 {
                let first = strand.wrapping_sub(parts.part(link.key_hash));
                step.template = steps.add_links(first, parts.per_link_lane, event);
            }
            (step.value, step.end) = (link.value, link.end);
            step.type_ = value_type(self.symbols.values.context(link.value));
        }
        steps.all[number as usize] = step;
    }
}

/// Returns how the lines of a step must be read, and the plan of their event. `words` and `holes` belong to the step's
/// first line. Returns `None` if the text of the lines is needed.
fn wanted(
    plans: &Plans,
    defs: &DefTable,
    line: &[u8],
    words: &[Span],
    holes: &[Hole],
) -> Option<(Wanted, Plan)> {
    let index = defs.find(words.first()?.of(line).bare())?;
    let plan = plans.all[index];
    let Action::Replayed(op) = plan.action else { return None };
    if plan.keeps_extras || words.len() != plan.expected {
        return None;
    }
    let nature = op.nature();
    let has_value = !matches!(op, Op::PopState | Op::ResetState);
    let (mut times, mut keys, mut asked) = (0, 0, None);
    for (number, hole) in holes.iter().enumerate() {
        let Hole { kind, range } = hole;
        let is_white_at = |at: usize| line.get(at).is_none_or(|byte| is_white(*byte));
        let word = words.iter().position(|word| {
            (word.start as usize, word.end as usize) == (range.start, range.end)
        })?;
        if word == 0 || !is_white_at(range.start - 1) || !is_white_at(range.end) {
            return None;
        }
        let is_end = nature == TypeNature::Link && word == plan.end;
        match kind {
            HoleKind::Time if word == plan.time => times += 1,
            HoleKind::Key if nature == TypeNature::Link && word == plan.key => keys += 1,
            HoleKind::Value if has_value && word == plan.value => {
                let numbers = match nature {
                    TypeNature::Variable => true,
                    TypeNature::Link => false,
                    _ => return None,
                };
                asked = Some(Asked { hole: number, numbers });
            }
            HoleKind::Value if word == plan.time || is_end => return None,
            HoleKind::Value if word == plan.type_ || word == plan.container => return None,
            // The replay does not need this field.
            HoleKind::Value if nature != TypeNature::Link || word != plan.key => {}
            _ => return None,
        }
    }
    let is_complete = times == 1 && keys == usize::from(nature == TypeNature::Link);
    is_complete.then_some((Wanted::Columns(asked), plan))
}
