//! Segments of packed traces, decoded without their text.
//!
//! A packed trace says of each line which one before it had the same words ([`paje_pack::Lines`]). The first of these is decoded by
//! [`Decoder::line`], as any other; then the others are its event at other times, with other numbers and keys. Whatever only the text tells
//! is left to it: blocks with definitions, options that look at lines, and all lines of events that
//! need more than their time, a number or a link's value, and a key. Of windows, which are sound, lines of lanes whose rows nobody wants
//! are left out.

use paje_pack::{Asked, ColumnLine, Content, Hole, HoleKind, Lines, Wanted};
use paje_parser::token::{self, is_white};
use paje_parser::{DefTable, Fault, Span, TypeNature};
use splitter::{Block, ReadError, Segment};

use crate::decode::Decoder;
use crate::decode::contents::{Begun, Contents, Step, StepKind};
use crate::decode::context::{value_context, value_type};
use crate::decode::decoded::{Decoded, LaneEvent, Op, StrandSymbol};
use crate::decode::plan::{Action, Plan, Plans};
use crate::decode::quotients::POWERS;
use crate::decode::spread::{Alike, Spread};

/// The lines of a segment, and what is known of its steps.
#[derive(Debug, Default)]
pub(super) struct Columns {
    lines: Lines,
    /// They are those of the block that is decoded next.
    is_next: bool,
    steps: Vec<Step>,
    spread: Spread,
    begun: Begun,
}

/// Returns whether the rows of a lane are wanted, by the names of its type and container; `None` if it is not known.
pub(crate) type WantsRows<'a> = &'a dyn Fn(&[u8], &[u8]) -> Option<bool>;

impl Decoder {
    /// Takes a segment, as columns if possible: then it must be decoded next, with these definitions. Leaves out the lines of
    /// lanes that are known and not wanted, if that is asked.
    ///
    /// # Errors
    /// The segment is damaged.
    pub(crate) fn unpack(
        &mut self,
        segment: Segment,
        block: &mut Block,
        defs: &DefTable,
        wants_rows: Option<WantsRows<'_>>,
    ) -> Result<(), ReadError> {
        let config = &self.config;
        let looks_at_lines =
            config.keeps_lines || config.follows || config.recovers || config.notes_usage;
        let unique_values = self.symbols.unique_values;
        if looks_at_lines || config.stop_at.is_finite() || defs.is_open() || unique_values {
            return block.unpack(&segment);
        }
        self.plan(defs);
        let (plans, mut words) = (&self.plans, Vec::new());
        let Columns { lines, .. } = &mut self.columns;
        lines.leaves_out = wants_rows.is_some();
        let mut judge = |line: &[u8], holes: &[Hole]| {
            words.clear();
            token::fields(line, 0, &mut words);
            let Some((form, plan)) = wanted(plans, defs, line, &words, holes) else {
                return Wanted::Text;
            };
            let text = |word: usize| words[word].of(line).bare();
            let is_wanted =
                wants_rows.and_then(|wants| wants(text(plan.type_), text(plan.container)));
            if is_wanted == Some(false) { Wanted::Nothing } else { form }
        };
        block.unpack_columns(segment, lines, &mut judge)?;
        self.columns.is_next = block.is_of_columns();
        Ok(())
    }

    /// Tells whether the lines of the block at hand are there, once.
    pub(super) fn takes_columns(&mut self) -> bool {
        std::mem::take(&mut self.columns.is_next)
    }

    /// Decodes the lines that were taken last, which are those of this block.
    #[inline(never)]
    pub(super) fn decode_columns(&mut self, block: &Block, defs: &DefTable, decoded: &mut Decoded) {
        let Columns { lines, steps, spread, begun, .. } = &mut self.columns;
        let (mut lines, mut steps) = (std::mem::take(lines), std::mem::take(steps));
        let (mut spread, mut begun) = (std::mem::take(spread), std::mem::take(begun));
        begun.clear();
        steps.clear();
        steps.resize(lines.counts.len(), Step::default());
        spread.begin(&lines.counts);
        let text = block.at_hand();
        decoded.lines = lines.lines.len() as u64 + lines.left_out;
        decoded.newlines.extend(lines.lines.windows(2).map(|lines| lines[1].start - 1));
        decoded.newlines.push(block.text_len() as u32 - 1);
        let Lines { lines: all, contents, .. } = &mut lines;
        let (mut count, mut texts, mut rest) = (all.len(), 0, &contents[..]);
        loop {
            let taken = Contents {
                steps: &mut steps,
                begun: &mut begun,
                spread: &mut spread,
                links: &mut decoded.links,
                parts: self.known.partitioning,
                precision: self.config.precision,
                text,
            }
            .take(rest, all);
            let Some((content, behind)) = rest.get(taken..).and_then(<[_]>::split_first) else {
                break;
            };
            rest = behind;
            let line = &mut all[content.line as usize];
            let told = match line.has_text() {
                true => {
                    texts += 1;
                    let known = (&mut steps[..], &mut begun, &mut spread);
                    self.line_with_text(line, content, defs, text, known, decoded)
                }
                false => match &mut steps[line.step as usize] {
                    // There is nothing to be told of its lines.
                    Step { kind: StepKind::Plain, .. } => Ok(()),
                    Step { kind: StepKind::Number, .. } => {
                        let (start, end) = content.value_at;
                        let number = self.parse_value(text, Span { start, end });
                        number.map(|number| spread.put_argument(line.step, number.to_bits()))
                    }
                    step => {
                        self.link_value(line.start, content, step, text, decoded);
                        // It goes on with this link.
                        rest = &contents[contents.len() - rest.len() - 1..];
                        Ok(())
                    }
                },
            };
            if let Err(fault) = told {
                decoded.fault = Some((line.start, fault));
                (count, texts) = (content.line as usize, texts - usize::from(line.has_text()));
                spread.keep(&all[..count]);
                break;
            }
        }
        decoded.has_pairs = !begun.is_empty();
        decoded.event_count += (count - texts) as u64 + lines.left_out;
        let power = POWERS[usize::from(lines.digits)];
        if lines.left_out > 0 {
            decoded.last_time = decoded.last_time.max(lines.latest as f64 / power);
        }
        self.spread(&lines.lines[..count], power, &mut spread, decoded);
        (self.columns.lines, self.columns.steps) = (lines, steps);
        (self.columns.spread, self.columns.begun) = (spread, begun);
    }

    /// Looks up a link's value, which is not where that of the line before is.
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

    /// Decodes a line with text, from which its step is learnt if it is the first; notes what is alike of it and others, which may be
    /// nothing.
    #[cold]
    fn line_with_text(
        &mut self,
        line: &mut ColumnLine,
        content: &Content,
        defs: &DefTable,
        text: &[u8],
        (steps, begun, spread): (&mut [Step], &mut Begun, &mut Spread),
        decoded: &mut Decoded,
    ) -> Result<(), Fault> {
        let start = line.start as usize;
        self.lexing.spans.read(text, start);
        if self.lexing.spans.as_slice().is_empty() {
            line.step = spread.put(Alike::NOTHING);
            return Ok(());
        }
        let (strand, event) = self.line(text, start, defs, decoded)?;
        if event.op().is_link() {
            let is_end = event.is(Op::EndLink);
            begun.note_last(&content.linked, is_end, &mut decoded.links, self.known.partitioning);
        }
        if let Some(step) = steps.get_mut(content.step as usize) {
            *step = self.step(content.step, strand, &event, spread, decoded);
        }
        line.time = event.time.to_bits() as i64;
        line.step = spread.put(Alike::of(strand, &event).alone());
        Ok(())
    }

    /// Notes what is alike of the lines of a step, whose first one was decoded just now; all that is known of it, if they tell more
    /// than their times.
    fn step(
        &self,
        number: u32,
        strand: StrandSymbol,
        event: &LaneEvent,
        spread: &mut Spread,
        decoded: &Decoded,
    ) -> Step {
        let alike = Alike::of(strand, event);
        spread.set(number, alike);
        let kind = match event.op() {
            Op::StartLink => StepKind::StartLink,
            Op::EndLink => StepKind::EndLink,
            op if op.nature() == TypeNature::Variable => StepKind::Number,
            _ => StepKind::Plain,
        };
        let Some(link) = decoded.links.last().filter(|_| event.op().is_link()) else {
            return Step { kind, ..Step::default() };
        };
        let parts = self.known.partitioning;
        let first = strand.wrapping_sub(parts.part(link.key_hash));
        let number = spread.alike.len() as u32;
        if parts.per_link_lane > 1 {
            for part in 0..parts.per_link_lane {
                spread.put(Alike::of(first.wrapping_add(part), event).with_arguments());
            }
        }
        let type_ = value_type(self.symbols.values.context(link.value));
        let (value, end) = (link.value, link.end);
        Step { kind, alike: number, end, value, value_at: (0, 0), type_ }
    }
}

/// Form that is wanted of the lines of a step, whose first one has these words and holes, and where these are; none if it is their texts.
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
            // Of a field that the replay does not ask for.
            HoleKind::Value if nature != TypeNature::Link || word != plan.key => {}
            _ => return None,
        }
    }
    let is_complete = times == 1 && keys == usize::from(nature == TypeNature::Link);
    is_complete.then_some((Wanted::Columns(asked), plan))
}
