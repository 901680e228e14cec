//! Lines of events and links as columns, whose text is needed only for the first line of each step.

use paje_parser::columns::{ColumnLine, Content, Hole, HoleKind, Lines as All, Linked, Wanted};
use rustc_hash::FxHashMap;

use crate::events::{Event, event};
use crate::lines::Lines;
use crate::messages::LinkEnd;
use crate::record::{Entry, Values};
use crate::text::{Count, EXACT, Sink};
use crate::trace::Next;

/// Maximum number of decimals of a time.
const MOST_DIGITS: u32 = 18;

/// Words that the lines of a step share, given as the numbers that they are made of.
type Key = (u64, u64, u64);

/// A step.
#[derive(Clone, Copy)]
struct Step {
    number: u32,
    form: Form,
    /// Total size of the words that its lines share, in bytes.
    bytes: u64,
    /// Number of bytes before the key of a link, without the time.
    key_at: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Nothing,
    /// Whether the value is requested.
    Columns(bool),
}

/// Positions of the words that differ between the lines of a step.
type Words = &'static [(usize, HoleKind)];

const STATE: Words = &[(1, HoleKind::Time)];
const VARIABLE: Words = &[(1, HoleKind::Time), (4, HoleKind::Value)];
const EVENT: Words = &[(1, HoleKind::Time), (5, HoleKind::Value)];
const LINK: Words =
    &[(1, HoleKind::Time), (6, HoleKind::Key), (7, HoleKind::Value), (8, HoleKind::Value)];
const LINK_MORE: Words = &[LINK[0], LINK[1], LINK[2], LINK[3], (9, HoleKind::Value)];

/// Collects the lines of a piece as columns.
pub(crate) struct Table<'t, 'j> {
    text: &'t mut Vec<u8>,
    lines: &'t mut All,
    judge: &'t mut (dyn FnMut(&[u8], &[Hole]) -> Wanted + 'j),
    steps: FxHashMap<Key, Step>,
    /// The steps of lines that enter each region, and that leave a region.
    pushes: FxHashMap<u64, Step>,
    pop: Option<Step>,
    /// The steps of records of each kind.
    records: Vec<Step>,
    /// For each kind, the index of its step plus 1, or 0 if it has none.
    numbers: [u8; 256],
    /// Offset of the next line.
    at: usize,
    bytes: usize,
    /// Text of the current line.
    line: Vec<u8>,
}

impl<'t, 'j> Table<'t, 'j> {
    /// Creates a table for lines of this many bytes, whose times have this many decimals.
    pub(crate) fn new(
        text: &'t mut Vec<u8>,
        lines: &'t mut All,
        judge: &'t mut (dyn FnMut(&[u8], &[Hole]) -> Wanted + 'j),
        (bytes, digits): (u64, u32),
    ) -> Option<Self> {
        if digits > MOST_DIGITS {
            return None;
        }
        lines.clear(digits as u8);
        let bytes = usize::try_from(bytes).ok()?;
        text.resize(text.len().max(bytes), 0);
        Some(Table {
            text,
            lines,
            judge,
            steps: FxHashMap::default(),
            pushes: FxHashMap::default(),
            pop: None,
            records: Vec::new(),
            numbers: [0; 256],
            at: 0,
            bytes,
            line: Vec::new(),
        })
    }

    /// Returns whether all lines have been added.
    pub(crate) fn is_complete(&self) -> bool {
        self.at == self.bytes
    }

    /// Adds the lines of an event, which have this many `bytes` unless the event is a
    /// [state](Lines::is_state). [`Next::Nothing`] means that the piece must be read as text.
    #[inline(always)]
    pub(crate) fn event(
        &mut self,
        event: Event,
        values: &Values,
        bytes: Option<u32>,
        lines: &mut Lines<'_>,
    ) -> Next {
        let Some(time) = lines.exact_units(event.time) else { return Next::Nothing };
        let added = match bytes {
            None => self.state(event, time, values, lines).map(|()| Next::Event),
            Some(bytes) => match self.known_record(event.kind) {
                Some(step) if values.attributes.is_empty() => {
                    self.add_known(step, time, bytes.into()).map(|()| Next::NoFields)
                }
                _ => self.other(event, time, values, bytes.into(), lines),
            },
        };
        added.unwrap_or(Next::Nothing)
    }

    #[inline(always)]
    fn state(
        &mut self,
        event: Event,
        time: i64,
        values: &Values,
        lines: &mut Lines<'_>,
    ) -> Option<()> {
        let depth = lines.depth;
        let is_push = event.kind == event::ENTER;
        let region = values.fields[0];
        let rest = lines.time_bytes(event.time);
        let known = if is_push { self.pushes.get(&region).copied() } else { self.pop };
        lines.depth = if is_push { depth + 1 } else { depth - 1 };
        if let Some(step) = known {
            return self.add_known(step, time, rest);
        }
        let key = (event.kind.into(), if is_push { region } else { 0 }, 0);
        self.add(Some(key), time, STATE, rest, &Entry::default(), |text| {
            lines.depth = depth;
            lines.write(event, values, text);
        })?;
        let step = self.known(key);
        if is_push {
            self.pushes.extend(step.map(|step| (region, step)));
        } else {
            self.pop = step;
        }
        Some(())
    }

    #[inline(never)]
    fn other(
        &mut self,
        event: Event,
        time: i64,
        values: &Values,
        bytes: u64,
        lines: &mut Lines<'_>,
    ) -> Option<Next> {
        let has_attributes = !values.attributes.is_empty();
        let none = Entry::default();
        if event.kind == event::METRIC {
            let time_bytes = lines.time_bytes(event.time);
            let mut count = 0;
            lines.turn_to(event.time);
            for (member, entry) in lines.members(values).zip(&values.list) {
                let key = Some((event.kind.into(), values.fields[0], count));
                let mut bytes = Count::default();
                lines.fields.value(entry, &mut bytes);
                let write = |text: &mut Vec<u8>| lines.variable(member, entry, values, text);
                let (key, rest) = (key.filter(|_| !has_attributes), time_bytes + bytes.0);
                self.add(key, time, VARIABLE, rest, entry, write)?;
                count += 1;
            }
            if count == values.list.len() as u64 {
                return Some(Next::Event);
            }
            let write = |text: &mut Vec<u8>| lines.record(event, values, text);
            self.add(None, time, EVENT, 0, &none, write)?;
            return Some(Next::Event);
        }
        let depth = lines.depth;
        let is_pop = matches!(event.kind, event::LEAVE | event::CALLING_CONTEXT_LEAVE) && depth > 0;
        let is_push = matches!(event.kind, event::ENTER | event::CALLING_CONTEXT_ENTER);
        let is_value = lines.is_value(event, values);
        let is_state = is_push || is_pop;
        let context = if is_push || is_value { values.fields[0] } else { 0 };
        // A record of this kind may be a pop or an event.
        let last = if is_value { values.fields[1] } else { u64::from(!is_state) };
        let key = (event.kind.into(), context, last);
        let words = if is_state || is_value { STATE } else { EVENT };
        self.add(Some(key).filter(|_| !has_attributes), time, words, bytes, &none, |text| {
            lines.depth = depth;
            lines.write(event, values, text);
        })?;
        lines.depth = match () {
            () if is_push => depth + 1,
            () if is_pop => depth - 1,
            () => depth,
        };
        // Exits from calling contexts may be states later.
        let is_record = !is_state && !is_value && !has_attributes;
        let is_record = is_record && event.kind != event::CALLING_CONTEXT_LEAVE;
        if let Some(step) = self.known(key).filter(|_| is_record) {
            self.records.push(step);
            self.numbers[usize::from(event.kind)] = self.records.len() as u8;
        }
        Some(Next::Event)
    }

    /// Returns the step of a kind of record, if its lines differ only in their time.
    #[inline(always)]
    fn known_record(&self, kind: u8) -> Option<Step> {
        self.records.get(usize::from(self.numbers[usize::from(kind)]).wrapping_sub(1)).copied()
    }

    /// Returns a step whose lines differ only in their time.
    fn known(&self, key: Key) -> Option<Step> {
        self.steps
            .get(&key)
            .copied()
            .filter(|it| !matches!(it.form, Form::Text | Form::Columns(true)))
    }

    /// Adds a line of a step whose lines differ only in their time.
    #[inline(always)]
    fn add_known(&mut self, step: Step, time: i64, rest: u64) -> Option<()> {
        let start = self.at as u32;
        self.pass(step.bytes + rest)?;
        if step.form == Form::Nothing {
            self.lines.leave_out(time);
        } else {
            self.add_column(ColumnLine { time, start, step: step.number });
        }
        Some(())
    }

    /// Adds the line of one end of a link.
    pub(crate) fn link(&mut self, end: LinkEnd, write: impl Fn(&mut Vec<u8>)) -> Option<()> {
        let LinkEnd { is_start, location, types: (from, to), comm, key, time, .. } = end;
        let LinkEnd { rest, time_bytes, has_request, .. } = end;
        let place = u64::from(location) << 2 | u64::from(has_request) << 1 | u64::from(is_start);
        let words = if has_request { LINK_MORE } else { LINK };
        let step = (place, u64::from(from) << 32 | u64::from(to), comm);
        let (start, count) = (self.at, self.lines.contents.len());
        self.add(Some(step), time, words, rest, &Entry::default(), write)?;
        let is_column = self.lines.lines.last().is_some_and(|line| !line.has_text());
        if is_column && self.lines.contents.len() == count {
            let Step { number, key_at, .. } = *self.steps.get(&step)?;
            self.line.clear();
            self.line.number(key);
            let from = start + (time_bytes + key_at) as usize;
            let to = from + self.line.len();
            self.text[from..to].copy_from_slice(&self.line);
            let linked = Linked { key_at: (from as u32, to as u32), at: from as u32 };
            let line = self.lines.lines.len() as u32 - 1;
            self.lines.contents.push(Content { line, step: number, linked, ..Content::default() });
        }
        Some(())
    }

    /// Adds a line. It has `rest` bytes in addition to the words of its step. `write` writes its
    /// text.
    #[inline]
    fn add(
        &mut self,
        key: Option<Key>,
        time: i64,
        words: Words,
        rest: u64,
        value: &Entry,
        mut write: impl FnMut(&mut Vec<u8>),
    ) -> Option<()> {
        let start = self.at;
        let step = key.and_then(|key| self.steps.get(&key).copied());
        let Some(Step { number, form, bytes, .. }) = step else {
            self.line.clear();
            write(&mut self.line);
            self.pass(self.line.len() as u64)?;
            let step = match key {
                Some(key) => Some(self.learn(key, words, rest)?),
                None => None,
            };
            if step.is_some_and(|step| step.form == Form::Nothing) {
                self.lines.leave_out(time);
            } else {
                self.add_text(start, step.map_or(ColumnLine::OTHER, |step| step.number));
            }
            return Some(());
        };
        self.pass(bytes + rest)?;
        match form {
            Form::Text => {
                self.line.clear();
                write(&mut self.line);
                self.add_text(start, ColumnLine::OTHER);
            }
            Form::Nothing => self.lines.leave_out(time),
            Form::Columns(has_value) => {
                let line = self.lines.lines.len() as u32;
                self.add_column(ColumnLine { time, start: start as u32, step: number });
                if has_value {
                    let mut content = Content { line, step: number, ..Content::default() };
                    (content.value, content.value_at) = match integer(value) {
                        Some(integer) => (integer.cast_unsigned(), (Content::NUMBER, 0)),
                        None => {
                            self.line.clear();
                            write(&mut self.line);
                            let word = word(&self.line, 4)?;
                            let (from, to) = (start + word.start, start + word.end);
                            self.text[from..to].copy_from_slice(&self.line[word]);
                            (0, (from as u32, to as u32))
                        }
                    };
                    self.lines.contents.push(content);
                }
            }
        }
        Some(())
    }

    #[inline(always)]
    fn add_column(&mut self, line: ColumnLine) {
        self.lines.lines.push(line);
        self.lines.counts[line.step as usize] += 1;
    }

    /// Advances past the bytes of a line, unless the piece ends before.
    #[inline]
    fn pass(&mut self, bytes: u64) -> Option<()> {
        self.at = usize::try_from(bytes).ok().and_then(|bytes| self.at.checked_add(bytes))?;
        (self.at <= self.bytes).then_some(())
    }

    /// Learns a step from its first line.
    #[cold]
    fn learn(&mut self, key: Key, words: Words, rest: u64) -> Option<Step> {
        let hole = |(number, kind): &(usize, HoleKind)| {
            Some(Hole { kind: *kind, range: word(&self.line, *number)? })
        };
        let holes: Vec<Hole> = words.iter().map(hole).collect::<Option<_>>()?;
        let form = match (self.judge)(self.line.strip_suffix(b"\n")?, &holes) {
            Wanted::Text => Form::Text,
            Wanted::Nothing => Form::Nothing,
            Wanted::Columns(asked) => {
                // Only the value of a variable may be a number.
                if asked.is_some_and(|asked| asked.hole != 1 || !asked.numbers) {
                    return None;
                }
                Form::Columns(asked.is_some())
            }
        };
        let number = self.lines.counts.len() as u32;
        self.lines.counts.push(0);
        let bytes = (self.line.len() as u64).checked_sub(rest)?;
        let mut step = Step { number, form, bytes, key_at: 0 };
        if let Some(key) = holes.iter().find(|hole| hole.kind == HoleKind::Key) {
            step.key_at = (key.range.start - word(&self.line, 1)?.len()) as u64;
        }
        self.steps.insert(key, step);
        Some(step)
    }

    /// Adds the current line with its text. If `step` is given, the line is its first one.
    fn add_text(&mut self, start: usize, step: u32) {
        self.text[start..start + self.line.len()].copy_from_slice(&self.line);
        let line = self.lines.lines.len() as u32;
        let (time, start) = (0, start as u32);
        self.lines.lines.push(ColumnLine { time, start, step: ColumnLine::OTHER });
        self.lines.contents.push(Content { line, step, ..Content::default() });
    }
}

/// Returns an integral value, if it is exact as a double.
fn integer(value: &Entry) -> Option<i64> {
    let integer = match value.type_ {
        5..=8 => value.value.cast_signed(),
        1..=4 => i64::try_from(value.value).ok()?,
        _ => return None,
    };
    (integer.unsigned_abs() < EXACT).then_some(integer)
}

/// Returns the position of a word in a line. The last word may contain blanks between quotes.
fn word(line: &[u8], number: usize) -> Option<std::ops::Range<usize>> {
    let line = line.strip_suffix(b"\n")?;
    let mut start = 0;
    for _ in 0..number {
        start += memchr::memchr(b' ', &line[start..])? + 1;
    }
    let is_quoted = line.get(start) == Some(&b'"');
    let end = if is_quoted { None } else { memchr::memchr(b' ', &line[start..]) };
    Some(start..end.map_or(line.len(), |end| start + end))
}
