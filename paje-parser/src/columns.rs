//! Lines as columns: the form in which binary formats provide the lines of a trace.
//!
//! All lines of a step have the same words, except in their holes. A hole is a part that differs
//! between the lines. A reader that has decoded the first line of a step knows what the other lines
//! mean, and only needs the contents of their holes.

use std::ops::Range;

/// A line, given by the number of its step and the parts that differ between the lines of the step.
#[derive(Clone, Copy, Debug)]
pub struct ColumnLine {
    /// Time in the units of [`Lines::digits`]. Unused if the line has text.
    pub time: i64,
    /// Offset in the segment's text where the line begins.
    pub start: u32,
    /// Index into [`Lines::counts`], or [`OTHER`](ColumnLine::OTHER). Readers may overwrite the
    /// index.
    pub step: u32,
}

impl ColumnLine {
    /// Marks a line with text instead of a step. If the line belongs to a step, its [`Content`]
    /// names the step.
    pub const OTHER: u32 = u32::MAX;

    /// A placeholder, to be overwritten by a line.
    pub const NOTHING: ColumnLine = ColumnLine { time: 0, start: 0, step: 0 };

    /// Returns whether the segment provides the text of the line.
    #[must_use]
    #[inline]
    pub const fn has_text(&self) -> bool {
        self.step == ColumnLine::OTHER
    }
}

/// The key of the link that a line starts or ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linked {
    /// Start and end of the key in the segment's text. For the end of a link, this may refer to the
    /// key in the line that starts the link.
    pub key_at: (u32, u32),
    /// Offset of the key in this line.
    pub at: u32,
}

/// Content of a line that has more than a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Content {
    /// Index of the line in [`Lines::lines`].
    pub line: u32,
    /// For a line with text: the step whose first line this is, or [`ColumnLine::OTHER`].
    pub step: u32,
    /// Content of the requested hole: a number without its decimal point, or a code for a text.
    pub value: u64,
    /// For a number, [`NUMBER`](Content::NUMBER) and the count of decimals. For a text, its start
    /// and end in the segment's text.
    pub value_at: (u32, u32),
    /// The line's link, if it starts or ends one.
    pub linked: Linked,
}

impl Content {
    /// Marks a number. It replaces the start of a text in [`Content::value_at`].
    pub const NUMBER: u32 = u32::MAX;
}

/// The lines of a segment. The memory is reused for the next segment.
#[derive(Debug, Default)]
pub struct Lines {
    /// The requested lines in their order. After lines that were left out, a line may begin before
    /// its offset in the text.
    pub lines: Vec<ColumnLine>,
    /// Contents of the lines that have a text, a key or a requested value, in the same order.
    pub contents: Vec<Content>,
    /// Number of lines without text, for each step.
    pub counts: Vec<u32>,
    /// Number of decimals of the times. A time counts units of 10^-`digits` seconds.
    pub digits: u8,
    /// Whether steps may be [left out](Wanted::Nothing). The reader sets this.
    pub leaves_out: bool,
    /// Number of lines that were left out.
    pub left_out: u64,
    /// Latest time of the lines that were left out.
    pub latest: i64,
}

impl Lines {
    /// Removes all lines. The times of the next segment have `digits` decimals.
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
    /// Position of the hole in the line, in bytes.
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
    /// Each line as its time, its key, if any, and the content of this hole.
    Columns(Option<Asked>),
}

/// A hole whose content is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Index of the hole among the holes of the line.
    pub hole: usize,
    /// Whether numbers are requested as integers with a count of decimals, without their text.
    pub numbers: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_left_out_are_counted() {
        let mut lines = Lines { leaves_out: true, ..Lines::default() };
        lines.clear(3);
        assert_eq!((lines.left_out, lines.latest), (0, i64::MIN));
        [-7, -5, -6].into_iter().for_each(|time| lines.leave_out(time));
        assert_eq!((lines.left_out, lines.latest), (3, -5));
    }

    #[test]
    fn the_next_segment_keeps_only_the_setting() {
        let mut lines = Lines { leaves_out: true, ..Lines::default() };
        lines.lines.push(ColumnLine::NOTHING);
        lines.contents.push(Content::default());
        lines.counts.push(1);
        lines.leave_out(5);
        lines.clear(9);
        assert!(lines.lines.is_empty() && lines.contents.is_empty() && lines.counts.is_empty());
        assert_eq!((lines.digits, lines.leaves_out), (9, true));
        assert_eq!((lines.left_out, lines.latest), (0, i64::MIN));
    }

    #[test]
    fn lines_with_text_have_no_step() {
        let other = ColumnLine { step: ColumnLine::OTHER, ..ColumnLine::NOTHING };
        assert!(other.has_text() && !ColumnLine::NOTHING.has_text());
    }
}
