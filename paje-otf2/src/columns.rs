//! Lines of events and links as columns, whose text is needed only for the first line of each step.

use paje_parser::columns::{ColumnLine, Content, Hole, HoleKind, Lines as All, Linked, Wanted};
use rustc_hash::FxHashMap;

use crate::events::{Event, event};
use crate::lines::Lines;
use crate::record::{Entry, Values};
use crate::text::Count;

/// Integers below this are exact as doubles.
const EXACT: i128 = 1 << 53;

/// Most decimals of times.
const MOST_DIGITS: u32 = 18;

/// Words that the lines of a step share, by the numbers that they are made of.
type Key = (u8, u64, u64, u64);

/// A step.
#[derive(Clone, Copy)]
struct Step {
    number: u32,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Nothing,
    /// Whether the value is requested.
    Columns(bool),
}

/// Where the words are that differ between the lines of a step, by number.
type Words = &'static [(usize, HoleKind)];

const STATE: Words = &[(1, HoleKind::Time)];
const VARIABLE: Words = &[(1, HoleKind::Time), (4, HoleKind::Value)];
const EVENT: Words = &[(1, HoleKind::Time), (5, HoleKind::Value)];
const LINK: Words =
    &[(1, HoleKind::Time), (6, HoleKind::Key), (7, HoleKind::Value), (8, HoleKind::Value)];

/// Takes the lines of a piece.
pub(crate) struct Table<'t, 'j> {
    text: &'t mut Vec<u8>,
    lines: &'t mut All,
    judge: &'t mut (dyn FnMut(&[u8], &[Hole]) -> Wanted + 'j),
    steps: FxHashMap<Key, Step>,
    /// Byte where the next line begins.
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
        let (steps, line) = (FxHashMap::default(), Vec::new());
        Some(Table { text, lines, judge, steps, at: 0, bytes, line })
    }

    /// Returns whether all lines have been added.
    pub(crate) fn is_complete(&self) -> bool {
        self.at == self.bytes
    }

    /// Adds the lines of an event. Returns `None` if the piece must be read as text.
    pub(crate) fn event(
        &mut self,
        event: Event,
        values: &Values,
        lines: &mut Lines<'_>,
    ) -> Option<()> {
        let units = lines.turn_to(event.time);
        let has_attributes = !values.attributes.is_empty();
        if event.kind == event::METRIC {
            let mut count = 0;
            for (member, entry) in lines.members(values).zip(&values.list) {
                let key = Some((event.kind, values.fields[0], count, 0));
                let mut bytes = Count::default();
                lines.variable(member, entry, values, &mut bytes);
                let write = |text: &mut Vec<u8>| lines.variable(member, entry, values, text);
                let key = key.filter(|_| !has_attributes);
                self.add(key, units, VARIABLE, bytes, entry, write)?;
                count += 1;
            }
            if count == values.list.len() as u64 {
                return Some(());
            }
            let mut bytes = Count::default();
            lines.record(event, values, &mut bytes);
            let write = |text: &mut Vec<u8>| lines.record(event, values, text);
            return self.add(None, units, EVENT, bytes, &Entry::default(), write);
        }
        let depth = lines.depth;
        let is_pop = matches!(event.kind, event::LEAVE | event::CALLING_CONTEXT_LEAVE) && depth > 0;
        let is_push = matches!(event.kind, event::ENTER | event::CALLING_CONTEXT_ENTER);
        let (key, words) = match () {
            () if is_push => ((event.kind, values.fields[0], 0, 0), STATE),
            () if is_pop => ((event::LEAVE, 0, 0, 0), STATE),
            // A record of this kind may be a pop or an event.
            () => ((event.kind, 0, 1, 0), EVENT),
        };
        let mut count = Count::default();
        lines.write(event, values, &mut count);
        let after = lines.depth;
        let none = Entry::default();
        self.add(Some(key).filter(|_| !has_attributes), units, words, count, &none, |text| {
            lines.depth = depth;
            lines.write(event, values, text);
        })?;
        lines.depth = after;
        Some(())
    }

    /// Adds one end of a link: whether it is the start, the location, the type of the link, and the
    /// communicator.
    pub(crate) fn link(
        &mut self,
        (is_start, location, (from, to), comm): (bool, u32, (u32, u32), u64),
        units: i128,
        write: impl Fn(&mut Vec<u8>),
    ) -> Option<()> {
        let type_ = u64::from(from) << 32 | u64::from(to);
        let key = (u8::from(is_start), location.into(), type_, comm);
        // The text of the key is needed in any case.
        self.line.clear();
        write(&mut self.line);
        let length = Count(self.line.len() as u64);
        let (start, count) = (self.at, self.lines.contents.len());
        let word = word(&self.line, 6)?;
        self.add(Some(key), units, LINK, length, &Entry::default(), write)?;
        let is_column = self.lines.lines.last().is_some_and(|line| !line.has_text());
        if is_column && self.lines.contents.len() == count {
            let line = self.lines.lines.len() as u32 - 1;
            let step = self.lines.lines[line as usize].step;
            let (from, to) = (start + word.start, start + word.end);
            self.text[from..to].copy_from_slice(&self.line[word]);
            let linked = Linked { key_at: (from as u32, to as u32), at: from as u32 };
            self.lines.contents.push(Content { line, step, linked, ..Content::default() });
        }
        Some(())
    }

    /// Adds a line. `write` writes its text, which has `length` bytes.
    #[inline]
    fn add(
        &mut self,
        key: Option<Key>,
        units: i128,
        words: Words,
        length: Count,
        value: &Entry,
        mut write: impl FnMut(&mut Vec<u8>),
    ) -> Option<()> {
        let start = self.at;
        self.at += usize::try_from(length.0).ok()?;
        if self.at > self.bytes || units.abs() >= EXACT {
            return None;
        }
        let time = units as i64;
        let step = key.and_then(|key| self.steps.get(&key).copied());
        let Some(Step { number, form }) = step else {
            self.line.clear();
            write(&mut self.line);
            let number = match key {
                Some(key) => self.learn(key, words)?,
                None => ColumnLine::OTHER,
            };
            if key.is_some_and(|key| self.steps[&key].form == Form::Nothing) {
                self.lines.leave_out(time);
            } else {
                self.add_text(start, number);
            }
            return Some(());
        };
        match form {
            Form::Text => {
                self.line.clear();
                write(&mut self.line);
                self.add_text(start, ColumnLine::OTHER);
            }
            Form::Nothing => self.lines.leave_out(time),
            Form::Columns(has_value) => {
                let line = self.lines.lines.len() as u32;
                self.lines.lines.push(ColumnLine { time, start: start as u32, step: number });
                self.lines.counts[number as usize] += 1;
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

    /// Learns the form of a step from its first line. Returns the number of the step.
    #[cold]
    fn learn(&mut self, key: Key, words: Words) -> Option<u32> {
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
        self.steps.insert(key, Step { number, form });
        Some(number)
    }

    /// Adds the current line with its text. It is the first one of `step`, if that is a step.
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
    (i128::from(integer).abs() < EXACT).then_some(integer)
}

/// Returns the place of a word of a line. The last one may have blanks between quotes.
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
