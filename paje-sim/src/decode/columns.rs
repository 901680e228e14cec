//! Segments of packed traces, decoded without their text.
//!
//! A packed trace says of each line which one before it had the same words ([`paje_pack::Lines`]). The first of these is decoded by
//! [`Decoder::line`], as any other; then the others are its event at other times, with other numbers and keys. Whatever only the text tells
//! is left to it: blocks with definitions, options that look at lines, and all lines of events that
//! need more than their time, a number or a link's value, and a key. Of windows, which are sound, lines of lanes whose rows nobody wants
//! are left out.

use paje_pack::{Asked, ColumnLine, Hole, HoleKind, Lines, Wanted};
use paje_parser::token::{self, is_white};
use paje_parser::{DefTable, Fault, Span, TypeNature};
use splitter::{Block, ReadError, Segment};

use crate::decode::Decoder;
use crate::decode::decoded::{Decoded, LaneEvent, LinkEvent, NOTHING, Op, StrandSymbol};
use crate::decode::plan::{Action, Plan, Plans};
use crate::decode::quotients::{POWERS, number};
use crate::decode::symbols::Symbol;
use crate::decode::values::{value_context, value_type};
use crate::model::Model;
use crate::names::hash::{ShortText, bare};
use crate::trace::selected::Selected;

/// The lines of a segment, and what is known of its steps.
#[derive(Debug, Default)]
pub(super) struct Columns {
    lines: Lines,
    /// They are those of the block that is decoded next.
    is_next: bool,
    steps: Vec<Step>,
    /// Rows that are wanted, if not all are.
    selected: Option<Selected>,
}

impl Columns {
    pub(super) fn new(selected: Option<Selected>) -> Self {
        Columns { selected, ..Columns::default() }
    }
}

/// The event of all lines of a step, but for their times, numbers, links' values and keys.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Nothing but the time differs.
    is_plain: bool,
    op: Op,
    /// Of links, the first one.
    strand: StrandSymbol,
    argument: u64,
    link: LinkStep,
}

/// Fields that lines of links have besides.
#[derive(Clone, Copy, Debug, Default)]
struct LinkStep {
    type_: Symbol,
    end: Symbol,
    /// The last value, and where its text is.
    value: Symbol,
    value_at: (u32, u32),
}

impl Decoder {
    /// Takes a segment, as columns if it can: then it is to be decoded next, with these definitions. With a model of the trace before it,
    /// without the lines of lanes that are known and not wanted.
    ///
    /// # Errors
    /// It is damaged.
    pub(crate) fn unpack(
        &mut self,
        segment: Segment,
        block: &mut Block,
        defs: &DefTable,
        sound: Option<&Model>,
    ) -> Result<(), ReadError> {
        let asked = &self.asked;
        let looks_at_lines = asked.keeps_lines || asked.follows || asked.recovers || asked.watches;
        if looks_at_lines
            || asked.stop_at.is_finite()
            || defs.is_open()
            || self.symbols.values.are_fleeting()
        {
            return block.unpack(&segment);
        }
        self.plan(defs);
        let (plans, mut words) = (&self.plans, Vec::new());
        let Columns { lines, selected, .. } = &mut self.columns;
        let selected = selected.as_mut().zip(sound).map(|(selected, model)| {
            selected.extend_by(&model.types, &model.containers);
            (&*selected, model)
        });
        lines.leaves_out = selected.is_some();
        let mut judge = |line: &[u8], holes: &[Hole]| {
            words.clear();
            token::fields(line, 0, &mut words);
            let Some((form, plan)) = wanted(plans, defs, line, &words, holes) else {
                return Wanted::Text;
            };
            let text = |word: usize| words[word].of(line).bare();
            let lane = selected.and_then(|(selected, model)| {
                let container = model.containers.find(text(plan.container))?;
                let type_ = model.types.find(text(plan.type_))?;
                Some(selected.wants_rows(container, type_))
            });
            if lane == Some(false) { Wanted::Nothing } else { form }
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
        let Columns { lines, steps, .. } = &mut self.columns;
        let (lines, mut steps) = (std::mem::take(lines), std::mem::take(steps));
        steps.clear();
        let text = block.at_hand();
        decoded.lines = lines.lines.len() as u64 + lines.left_out;
        decoded.newlines.extend(lines.lines.windows(2).map(|lines| lines[1].start - 1));
        decoded.newlines.push(block.text_len() as u32 - 1);
        let mut unsorted = std::mem::take(&mut self.grouping.unsorted);
        if unsorted.len() < lines.lines.len() {
            unsorted.resize(lines.lines.len(), NOTHING);
        }
        let power = POWERS[usize::from(lines.digits)];
        let (mut ordinal, mut last_time, mut count) = (0, decoded.last_time, lines.left_out);
        if lines.left_out > 0 {
            last_time = last_time.max(lines.latest as f64 / power);
        }
        for line in &lines.lines {
            let step = line.step_alone().and_then(|step| steps.get_mut(step as usize));
            let event = match step {
                Some(step) => {
                    let time = line.time as f64 / power;
                    if time > last_time {
                        last_time = time;
                    }
                    count += 1;
                    if step.is_plain {
                        let (to, event) = &mut unsorted[ordinal];
                        *to = step.strand;
                        *event = LaneEvent::new(time, step.argument, line.start, step.op, 0);
                        ordinal += 1;
                        continue;
                    }
                    self.line_of_step(line, time, step, text, decoded)
                }
                None => match self.line_with_text(line, defs, text, &mut steps, decoded) {
                    Ok(Some(event)) => Ok(event),
                    Ok(None) => continue,
                    Err(fault) => Err(fault),
                },
            };
            match event {
                Ok(event) => {
                    unsorted[ordinal] = event;
                    ordinal += 1;
                }
                Err(fault) => {
                    decoded.fault = Some((line.start, fault));
                    break;
                }
            }
        }
        decoded.last_time = decoded.last_time.max(last_time);
        decoded.event_count += count;
        self.waiting.lines = ordinal as u32;
        self.grouping.unsorted = unsorted;
        (self.columns.lines, self.columns.steps) = (lines, steps);
    }

    /// The event of a line without text.
    #[inline(always)]
    fn line_of_step(
        &mut self,
        line: &ColumnLine,
        time: f64,
        step: &mut Step,
        text: &[u8],
        decoded: &mut Decoded,
    ) -> Result<(StrandSymbol, LaneEvent), Fault> {
        let (mut strand, mut argument) = (step.strand, step.argument);
        match step.op {
            Op::StartLink | Op::EndLink => {
                if line.value_at != (0, 0) {
                    self.link_value(line, &mut step.link, text, decoded);
                }
                let LinkStep { value, end, .. } = step.link;
                let raw_key = Span { start: line.key_at.0, end: line.key_at.1 };
                let (start, stop) = bare(text, raw_key);
                let (key, key_hash) = ShortText::hashed(text, start, stop);
                strand += self.known.spread.part(key_hash);
                argument = decoded.links.len() as u64;
                decoded.links.push(LinkEvent { value, end, raw_key, key, key_hash });
            }
            Op::SetVariable | Op::AddVariable | Op::SubVariable => {
                let number = match line.value_at {
                    (0, 0) => f64::from_bits(argument),
                    (ColumnLine::NUMBER, digits) => {
                        number(line.value as i64, digits, self.asked.precision)
                    }
                    (start, end) => self.parse_value(text, Span { start, end })?,
                };
                argument = number.to_bits();
            }
            _ => {}
        }
        Ok((strand, LaneEvent::new(time, argument, line.start, step.op, 0)))
    }

    /// Looks up a link's value, unless it is that of the line before.
    #[inline(always)]
    fn link_value(
        &mut self,
        line: &ColumnLine,
        step: &mut LinkStep,
        text: &[u8],
        decoded: &mut Decoded,
    ) {
        let of = |(start, end): (u32, u32)| &text[start as usize..end as usize];
        if line.value_at == step.value_at {
            return;
        }
        if of(line.value_at) != of(step.value_at) {
            let span = Span { start: line.value_at.0, end: line.value_at.1 };
            let context = value_context(step.type_, self.told_apart(text, span));
            let values = &mut self.symbols.values;
            step.value = values.symbol(text, span, context, line.start, decoded);
        }
        step.value_at = line.value_at;
    }

    /// The event of a line with text, from which its step is learnt if it is the first; none of a line without words.
    #[cold]
    fn line_with_text(
        &mut self,
        line: &ColumnLine,
        defs: &DefTable,
        text: &[u8],
        steps: &mut Vec<Step>,
        decoded: &mut Decoded,
    ) -> Result<Option<(StrandSymbol, LaneEvent)>, Fault> {
        self.lexing.spans.read(text, line.start as usize);
        if self.lexing.spans.as_slice().is_empty() {
            return Ok(None);
        }
        let (strand, event) = self.line(text, line.start as usize, defs, decoded)?;
        if let Some(step) = line.step().map(|step| step as usize)
            && step >= steps.len()
        {
            // Steps between were left out, and have no lines.
            let new = self.step(strand, &event, decoded);
            steps.resize(step + 1, new);
        }
        Ok(Some((strand, event)))
    }

    /// The step of a line that was decoded just now.
    fn step(&self, strand: StrandSymbol, event: &LaneEvent, decoded: &Decoded) -> Step {
        let (op, argument) = (event.op(), event.argument);
        let is_plain = !matches!(op.nature(), TypeNature::Variable | TypeNature::Link);
        let mut step = Step { is_plain, op, strand, argument, link: LinkStep::default() };
        if op.nature() == TypeNature::Link
            && let Some(link) = decoded.links.last()
        {
            step.strand = strand.wrapping_sub(self.known.spread.part(link.key_hash));
            let type_ = value_type(self.symbols.values.context(link.value));
            step.link = LinkStep { type_, end: link.end, value: link.value, value_at: (0, 0) };
        }
        step
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
