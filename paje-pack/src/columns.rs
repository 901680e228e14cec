//! A segment as columns: its lines as numbers, and the texts of those that are needed.
//!
//! All lines of a step have the same words but for what is in their holes. Who knows what the first one means knows what the others
//! do, and needs no text of them.

use std::ops::Range;

use paje_parser::token::is_white;

/// A line, by its step.
#[derive(Clone, Copy, Debug)]
pub struct ColumnLine {
    /// Its time, in the units of [`Lines::digits`]; of a line with text, nothing.
    pub time: i64,
    /// Byte of the segment's text where it begins.
    pub start: u32,
    /// Number of its step, of those in [`Lines::counts`]; or [`OTHER`](ColumnLine::OTHER). Readers may put others in its place.
    pub step: u32,
}

impl ColumnLine {
    /// In place of a step: the line has a text, and its [`Content`] says of which step it is, if it is of one.
    pub const OTHER: u32 = u32::MAX;

    /// Nothing is known of it.
    pub(crate) const NOTHING: ColumnLine = ColumnLine { time: 0, start: 0, step: 0 };

    /// The text of the line is there.
    #[must_use]
    #[inline]
    pub const fn has_text(&self) -> bool {
        self.step == ColumnLine::OTHER
    }
}

/// The link that a line begins or ends, and its key.
#[derive(Clone, Copy, Debug)]
pub struct Linked {
    /// Number of the link among those that begin in the segment, [`NONE`](Linked::NONE) if it begins elsewhere. Two lines with one number
    /// have one key.
    pub link: u32,
    /// Where the key begins and ends in the segment's text: of a line without text that ends a link with a number, in that link's first line.
    pub key_at: (u32, u32),
    /// Where it begins in this line.
    pub at: u32,
}

impl Linked {
    /// In place of a number.
    pub const NONE: u32 = u32::MAX;
}

impl Default for Linked {
    fn default() -> Self {
        Linked { link: Linked::NONE, key_at: (0, 0), at: 0 }
    }
}

/// Content of a line that has more than a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Content {
    /// Number of the line among [`Lines::lines`].
    pub line: u32,
    /// Of a line with text, the step that it is the first line of, or [`ColumnLine::OTHER`].
    pub step: u32,
    /// Content of the hole that was asked for: a number without its point, or something that stands for a text.
    pub value: u64,
    /// Of a number, [`NUMBER`](Content::NUMBER) and how many digits it has behind its point. Else where the text begins and ends
    /// in that of the segment.
    pub value_at: (u32, u32),
    /// Its link, if it is one's.
    pub linked: Linked,
}

impl Content {
    /// In place of where a text begins: the value is a number.
    pub const NUMBER: u32 = u32::MAX;
}

/// Lines of a segment; kept and filled again.
#[derive(Debug, Default)]
pub struct Lines {
    /// All of them that are wanted, in their order. Where others were left out, they begin at or before their places in the text.
    pub lines: Vec<ColumnLine>,
    /// Contents of those that have a text, a key, or a value that was asked for, in the same order.
    pub contents: Vec<Content>,
    /// Of each step, the number of lines without text.
    pub counts: Vec<u32>,
    /// Digits behind the point of times: a time is a whole number of units of one tenth to this power.
    pub digits: u8,
    /// Whether steps may be [left out](Wanted::Nothing); set by the caller.
    pub leaves_out: bool,
    /// Number of lines that were left out.
    pub left_out: u64,
    /// The latest time of these.
    pub latest: i64,
}

impl Lines {
    /// There are none so far.
    pub(crate) fn clear(&mut self, digits: u8) {
        self.lines.clear();
        self.contents.clear();
        self.counts.clear();
        (self.digits, self.left_out, self.latest) = (digits, 0, i64::MIN);
    }

    #[inline(always)]
    pub(crate) fn leave_out(&mut self, time: i64) {
        self.left_out += 1;
        self.latest = self.latest.max(time);
    }
}

/// Kind of what is in a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoleKind {
    /// The time.
    Time,
    /// A link's key.
    Key,
    /// Anything else.
    Value,
}

/// Part of a line that lines of its step have otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    /// Kind of what is in it.
    pub kind: HoleKind,
    /// Bytes of the line.
    pub range: Range<usize>,
}

/// What a reader needs of the lines of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All lines of the step are to have their texts.
    Text,
    /// All lines of the step, and this one, are to be left out. Only where [`Lines::leaves_out`] says so.
    Nothing,
    /// A line is its time, its key if it has one, and what is in this hole.
    Columns(Option<Asked>),
}

/// A hole whose values are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Number among the line's holes.
    pub hole: usize,
    /// Numbers are wanted as such, and have no text.
    pub numbers: bool,
}

/// Tells whether a text is one word: it has no white space, quotes or comments, or is in quotes as a whole.
pub(crate) fn is_word(text: &[u8]) -> bool {
    match text {
        [b'"', inner @ .., b'"'] => memchr::memchr(b'"', inner).is_none(),
        _ => is_bare(text) && !text.is_empty(),
    }
}

/// Tells whether a text can be anywhere in a word.
pub(crate) fn is_bare(text: &[u8]) -> bool {
    !text.iter().any(|byte| is_white(*byte) || *byte == b'#' || *byte == b'"')
}
