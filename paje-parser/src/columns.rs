//! Lines as columns: the form in which binary formats give the lines of a trace.
//!
//! All lines of a step have the same words, except in their holes. A reader that has decoded the
//! first line of a step knows what the other lines mean, and only needs their numbers.

use std::ops::Range;

/// A line as the number of its step and what differs within the step.
#[derive(Clone, Copy, Debug)]
pub struct ColumnLine {
    /// Time in the units of [`Lines::digits`]. A line with text has none.
    pub time: i64,
    /// Byte of the segment's text where the line begins.
    pub start: u32,
    /// Index into [`Lines::counts`], or [`OTHER`](ColumnLine::OTHER). Readers may overwrite it.
    pub step: u32,
}

impl ColumnLine {
    /// Step of a line with text. Its [`Content`] then names the step, if any.
    pub const OTHER: u32 = u32::MAX;

    /// A line that is still to be filled in.
    pub const NOTHING: ColumnLine = ColumnLine { time: 0, start: 0, step: 0 };

    /// Returns whether the segment gives the text of the line.
    #[must_use]
    #[inline]
    pub const fn has_text(&self) -> bool {
        self.step == ColumnLine::OTHER
    }
}

/// The key of the link that a line starts or ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linked {
    /// Start and end of the key in the segment's text. For the end of a link, this may be the key
    /// in the line that starts it.
    pub key_at: (u32, u32),
    /// Where the key begins in this line.
    pub at: u32,
}

/// Content of a line that has more than a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Content {
    /// Index of the line in [`Lines::lines`].
    pub line: u32,
    /// Step whose first line this is, or [`ColumnLine::OTHER`]. Only for a line with text.
    pub step: u32,
    /// Content of the requested hole: a number without its decimal point, or a code for a text.
    pub value: u64,
    /// [`NUMBER`](Content::NUMBER) and the count of decimals, for a number. Otherwise start and end
    /// of the value in the segment's text.
    pub value_at: (u32, u32),
    /// The line's link, if it starts or ends one.
    pub linked: Linked,
}

impl Content {
    /// Marks a number. It then takes the place of the start in [`Content::value_at`].
    pub const NUMBER: u32 = u32::MAX;
}

/// Lines of a segment. The memory is reused for the next one.
#[derive(Debug, Default)]
pub struct Lines {
    /// The requested lines in their order. After lines that were left out, a line may begin before
    /// its place in the text.
    pub lines: Vec<ColumnLine>,
    /// Contents of the lines that have a text, a key or a requested value, in the same order.
    pub contents: Vec<Content>,
    /// Number of lines without text, for each step.
    pub counts: Vec<u32>,
    /// Number of decimals of the times. A time counts units of 10^-`digits` seconds.
    pub digits: u8,
    /// Whether steps may be [left out](Wanted::Nothing). The reader sets it.
    pub leaves_out: bool,
    /// Number of lines that were left out.
    pub left_out: u64,
    /// Latest time of the lines that were left out.
    pub latest: i64,
}

impl Lines {
    /// Removes all lines, before a segment whose times have this many decimals.
    pub fn clear(&mut self, digits: u8) {
        self.lines.clear();
        self.contents.clear();
        self.counts.clear();
        (self.digits, self.left_out, self.latest) = (digits, 0, i64::MIN);
    }

    /// Counts a line that is left out.
    #[inline(always)]
    pub fn leave_out(&mut self, time: i64) {
        self.left_out += 1;
        self.latest = self.latest.max(time);
    }
}

/// Kind of the content of a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoleKind {
    /// The time.
    Time,
    /// A link's key.
    Key,
    /// Anything else.
    Value,
}

/// Part of a line that differs between the lines of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    /// Kind of the hole's content.
    pub kind: HoleKind,
    /// Place of the hole in the line, in bytes.
    pub range: Range<usize>,
}

/// The form in which the lines of a step are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Every line of the step with its text.
    Text,
    /// No line of the step, not even the first. This is only possible if [`Lines::leaves_out`] is
    /// set.
    Nothing,
    /// Each line as its time, its key if it has one, and the content of this hole.
    Columns(Option<Asked>),
}

/// A hole whose content is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Index among the line's holes.
    pub hole: usize,
    /// Whether numbers are requested as such, without their text.
    pub numbers: bool,
}
