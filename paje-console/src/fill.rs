//! Lines that fit the width of a terminal.

use std::io::{self, Write};

use unicode_width::UnicodeWidthChar;

use crate::output::columns;

/// Breaks lines that are longer than `width` at blanks. Further lines are indented by two more than
/// the first. Excerpts of traces with their carets stay as they are.
#[must_use]
pub fn fill(text: &str, width: usize) -> String {
    text.split_inclusive('\n').map(|line| fill_line(line, width)).collect()
}

fn fill_line(line: &str, width: usize) -> String {
    let body = line.trim_start_matches([' ', '-']);
    let is_excerpt = body.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(" |");
    if is_excerpt || body.starts_with('|') || wide(line) <= width {
        return line.to_owned();
    }
    let indent = line.len() - body.len();
    let hanging = " ".repeat(if line.starts_with('-') { indent } else { indent + 2 });
    let (mut text, mut taken) = (line[..indent].to_owned(), indent);
    let mut is_first = true;
    for word in body.split_inclusive(' ') {
        let needed = wide(word.trim_end());
        if !is_first && taken + needed > width {
            text.truncate(text.trim_end().len());
            text = text + "\n" + &hanging;
            taken = hanging.len();
        }
        text += word;
        taken += wide(word);
        is_first = false;
    }
    text
}

/// Returns the width of a text in columns. Styles of terminals take none.
fn wide(text: &str) -> usize {
    let mut is_style = false;
    let letters = text.chars().filter(|letter| {
        let was_style = is_style;
        is_style = *letter == '\u{1b}' || is_style && *letter != 'm';
        !was_style && !is_style
    });
    letters.map(|letter| letter.width().unwrap_or(0)).sum()
}

/// Writer that fills lines before it passes them on.
#[derive(Debug)]
pub struct Filled<W: Write> {
    out: W,
    width: Option<usize>,
    line: Vec<u8>,
}

impl<W: Write> Filled<W> {
    /// Creates a writer for the width of standard output, if that is a terminal or `COLUMNS` is set.
    pub fn to_output(out: W) -> Self {
        Filled { out, width: columns(&io::stdout()), line: Vec::new() }
    }
}

impl<W: Write> Write for Filled<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(width) = self.width else { return self.out.write(bytes) };
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                match str::from_utf8(&self.line) {
                    Ok(line) => self.out.write_all(fill_line(line, width).as_bytes())?,
                    Err(_) => self.out.write_all(&self.line)?,
                }
                self.line.clear();
            }
        }
        Ok(bytes.len())
    }

    /// Passes on an unfinished line, too.
    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.line)?;
        self.line.clear();
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks() {
        let text = "pj_x: a: one two three\n  four five six\n- seven eight nine ten\n";
        let wanted = "pj_x: a: one\n  two three\n  four five\n    six\n- seven eight\n  nine ten\n";
        assert_eq!(fill(text, 13), wanted);
        assert_eq!(fill(text, 80), text);
        assert_eq!(fill("12345678901234567890 x\n", 10), "12345678901234567890\n  x\n");
    }

    #[test]
    fn excerpts_stay_and_styles_take_no_room() {
        let excerpt = " 12 | 3 1.5 some long line\n    |     ^^^\n";
        assert_eq!(fill(excerpt, 10), excerpt);
        let styled = "\u{1b}[1mone\u{1b}[0m two three\n";
        assert_eq!(fill(styled, 13), styled);
        assert_eq!(fill(styled, 8), "\u{1b}[1mone\u{1b}[0m two\n  three\n");
    }

    #[test]
    fn a_writer_fills_whole_lines() {
        let mut out = Filled { out: Vec::new(), width: Some(10), line: Vec::new() };
        for part in ["one two ", "three\nfo", "ur"] {
            out.write_all(part.as_bytes()).expect("memory");
        }
        out.flush().expect("memory");
        assert_eq!(out.out, b"one two\n  three\nfour");
    }
}
