//! The part of a line around an error, for a terminal.
//!
//! A line may have gigabytes of any bytes. An excerpt has a bounded length, and control characters
//! are escaped, so that a trace cannot control the terminal.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use paje_parser::{Fault, Position, token};
use unicode_width::UnicodeWidthChar;

use super::error::{ErrorKind, Place, Problem};

/// Number of bytes that are kept before and after the first byte of the offending text.
const REACH: usize = 160;
/// Number of columns shown of a line. At most `BEFORE` of them are before the offending text.
const COLUMNS: usize = 100;
const BEFORE: usize = 60;

/// A piece of one line of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The bytes of the trace, without a newline.
    pub text: Vec<u8>,
    /// Number of bytes of the line before the excerpt.
    pub skipped: u64,
    /// Whether the line continues after the excerpt.
    pub cut: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The text. Tabs are replaced by blanks, unprintable bytes are escaped, and `…` marks a cut.
    pub text: String,
    /// Number of columns before the offending text.
    pub indent: usize,
    /// Number of columns of the offending text, at least 1.
    pub width: usize,
}

impl Excerpt {
    /// Returns the excerpt around byte `at` of `line`.
    #[must_use]
    pub fn of(line: &[u8], at: usize) -> Self {
        let at = at.min(line.len());
        let start = at.saturating_sub(REACH);
        let end = line.len().min(at + REACH);
        Excerpt { text: line[start..end].to_vec(), skipped: start as u64, cut: end < line.len() }
    }

    /// Returns the range of bytes that [`Excerpt::read`] reads for `position`.
    #[must_use]
    pub fn range(position: Position) -> Range<u64> {
        let before = (position.column - 1).min(REACH as u64);
        position.byte.0.saturating_sub(before)..position.byte.0 + REACH as u64 + 1
    }

    /// Reads the excerpt around `position` from the trace.
    ///
    /// # Errors
    /// The trace cannot be read, or has become too short.
    pub fn read(trace: &mut (impl Read + Seek), position: Position) -> io::Result<Self> {
        let column = position.column - 1;
        let before = column.min(REACH as u64);
        let range = Excerpt::range(position);
        trace.seek(SeekFrom::Start(range.start))?;
        let mut text = Vec::new();
        trace.take(range.end - range.start).read_to_end(&mut text)?;
        if (text.len() as u64) < before {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let newline = memchr::memchr(b'\n', &text);
        let end = newline.unwrap_or(text.len()).min(before as usize + REACH);
        let cut = newline.is_none() && end < text.len();
        text.truncate(end);
        Ok(Excerpt { text, skipped: column - before, cut })
    }

    /// Formats the excerpt for a terminal. `column` is the 1-based column in bytes of the offending
    /// text in its line, `width` its length in bytes.
    #[must_use]
    pub fn shown(&self, column: u64, width: u64) -> Shown {
        let at = (column - 1).saturating_sub(self.skipped) as usize;
        let at = at.min(self.text.len());
        let stop = at.saturating_add(width as usize).min(self.text.len());
        let mut before = cells(&self.text[..at]);
        let mut marked = cells(&self.text[at..stop]);
        let mut after = cells(self.text[stop..].trim_ascii_end());

        let mut text = String::new();
        let dropped = keep_last(&mut before, BEFORE) || self.skipped > 0;
        if dropped {
            before.insert(0, Cell::ellipsis());
        }
        let indent = columns(&before);
        let room = COLUMNS.saturating_sub(indent).max(COLUMNS - BEFORE - 1);
        let mut cut = keep_first(&mut marked, room);
        let width = columns(&marked);
        if cut {
            after.clear();
        } else {
            cut = keep_first(&mut after, room.saturating_sub(width)) || self.cut;
        }
        for cell in before.iter().chain(&marked).chain(&after) {
            text.push_str(&cell.text);
        }
        if cut {
            text.push('…');
        }
        Shown { text, indent, width: width.max(1) }
    }
}

struct Cell {
    text: String,
    columns: usize,
}

impl Cell {
    fn new(text: String) -> Self {
        let columns = text.chars().filter_map(UnicodeWidthChar::width).sum();
        Cell { text, columns }
    }

    fn ellipsis() -> Self {
        Cell::new("…".into())
    }
}

fn cells(bytes: &[u8]) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        cells.extend(chunk.valid().chars().map(|c| {
            Cell::new(match c {
                '\t' => "    ".into(),
                c if c.is_control() || is_invisible(c) => c.escape_default().collect(),
                c => c.into(),
            })
        }));
        let invalid = chunk.invalid().iter();
        cells.extend(invalid.map(|byte| Cell::new(format!("\\x{byte:02x}"))));
    }
    cells
}

/// Returns whether a character is invisible or changes the direction of text.
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn columns(cells: &[Cell]) -> usize {
    cells.iter().map(|cell| cell.columns).sum()
}

fn keep_first(cells: &mut Vec<Cell>, room: usize) -> bool {
    let mut used = 0;
    let fit = cells.iter().take_while(|cell| {
        used += cell.columns;
        used <= room
    });
    let fit = fit.count();
    let dropped = fit < cells.len();
    cells.truncate(fit);
    dropped
}

fn keep_last(cells: &mut Vec<Cell>, room: usize) -> bool {
    cells.reverse();
    let dropped = keep_first(cells, room);
    cells.reverse();
    dropped
}

/// Returns the offending line and carets below the offending text. Returns an empty text if the line is too long.
#[must_use]
pub fn lines_below(place: &Place, kind: &ErrorKind) -> String {
    let problem = match kind {
        ErrorKind::Invalid(problem) => Some(problem),
        _ => None,
    };
    line_with_carets(&place.text, place.position, problem)
}

/// Returns the line and carets below the text at `position`. Returns an empty text if the line is empty.
#[must_use]
pub fn line_with_carets(line: &[u8], position: Position, problem: Option<&Problem>) -> String {
    if line.is_empty() {
        return String::new();
    }
    let at = ((position.column - 1) as usize).min(line.len());
    let width = match problem {
        Some(Problem::Line { fault, .. }) => {
            let word = Fault { at: at as u32, kind: *fault }.word(line);
            u64::from(word.end - word.start)
        }
        _ => {
            let mut words = Vec::new();
            token::fields(&line[at..], 0, &mut words);
            words.first().filter(|word| word.start == 0).map_or(0, |word| u64::from(word.end))
        }
    };
    let shown = Excerpt::of(line, at).shown(position.column, width);
    let number = position.line.to_string();
    let margin = " ".repeat(number.len());
    let (indent, carets) = (" ".repeat(shown.indent), "^".repeat(shown.width));
    format!("\n {number} | {}\n {margin} | {indent}{carets}", shown.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use paje_parser::ByteOffset;
    use std::io::Cursor;

    fn lines(line: &[u8], at: usize, width: u64) -> (String, String) {
        let shown = Excerpt::of(line, at).shown(at as u64 + 1, width);
        let caret = format!("{}{}", " ".repeat(shown.indent), "^".repeat(shown.width));
        (shown.text, caret)
    }

    #[test]
    fn the_caret_is_below_the_text() {
        let (text, caret) = lines(b"5 1.0 S c1", 6, 1);
        assert_eq!(text, "5 1.0 S c1");
        assert_eq!(caret, "      ^");
    }

    #[test]
    fn tabs_and_wide_characters_take_their_columns() {
        let (text, caret) = lines("\t日本 x".as_bytes(), 8, 1);
        assert_eq!(text, "    日本 x");
        assert_eq!(caret, "         ^");
    }

    #[test]
    fn unprintable_bytes_are_escaped() {
        let (text, caret) = lines(b"\x89PNG\r\x1b[2J\x00 \xff", 0, 4);
        assert_eq!(text, "\\x89PNG\\r\\u{1b}[2J\\u{0} \\xff");
        assert_eq!(caret, "^^^^^^^");
        let (text, _) = lines("a\u{202e}b".as_bytes(), 0, 1);
        assert_eq!(text, "a\\u{202e}b");
    }

    #[test]
    fn long_lines_are_cut_around_the_text() {
        let line = [vec![b'a'; 500], b" here ".to_vec(), vec![b'b'; 500]].concat();
        let (text, caret) = lines(&line, 501, 4);
        assert!(text.starts_with("…aaa") && text.ends_with("bbb…"), "{text}");
        assert_eq!(text.chars().count(), COLUMNS + 1);
        assert_eq!(text.find("here").map(|at| at - "…".len() + 1), caret.find('^'));
        let (text, caret) = lines(&line, 0, 500);
        assert!(text.ends_with("a…"));
        assert_eq!(caret.len(), COLUMNS);
    }

    #[test]
    fn the_end_of_a_line_has_a_caret_too() {
        let (text, caret) = lines(b"5 1.0", 5, 0);
        assert_eq!((text.as_str(), caret.as_str()), ("5 1.0", "     ^"));
        let (_, caret) = lines(b"", 7, 3);
        assert_eq!(caret, "^");
    }

    #[test]
    fn reading_again_gives_the_same() {
        let long = [vec![b'a'; 500], b" here ".to_vec(), vec![b'b'; 500]].concat();
        let trace = [b"first\n".to_vec(), long.clone(), b"\nlast".to_vec()].concat();
        for at in [0, 100, 501, 900, 1006] {
            let position = Position { byte: ByteOffset(6 + at), line: 2, column: at + 1 };
            let read = Excerpt::read(&mut Cursor::new(&trace), position).unwrap();
            assert_eq!(read, Excerpt::of(&long, at as usize), "{at}");
        }
        let beyond = Position { byte: ByteOffset(9000), line: 9, column: 5 };
        assert!(Excerpt::read(&mut Cursor::new(&trace), beyond).is_err());
    }
}
