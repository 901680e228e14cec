//! The times of lines.

use std::ops::Range;

use memchr::{memchr, memchr_iter};
use paje_parser::token::{is_white, next_field};
use paje_parser::{DefTable, EventKind, Field, FieldName, number};
use paje_workers::Workers;

use crate::input::sorted::Line;

/// A line that has a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    /// Larger for a later time, the same for the same.
    pub(super) key: u64,
    pub(super) line: Line,
}

/// The lines of a piece.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Those that have no time, in file order.
    pub(super) untimed: Vec<Line>,
    /// Those that should have a time and have none that can be read, in file order.
    pub(super) unreadable: Vec<Line>,
    /// By time, and in file order where it is the same.
    pub(super) timed: Vec<Timed>,
    /// Those that name files for containers that may be created anywhere before, in file order.
    pub(super) naming: Vec<Line>,
    pub(super) lines: u64,
    /// Where a line begins that is too long; what comes after it is not in the lists.
    pub(super) too_long: Option<usize>,
}

/// Tells the times of lines.
pub(super) struct Clocks {
    defs: DefTable,
    /// For each definition, the word of its lines that is their time.
    words: Vec<Option<usize>>,
    /// The definitions of PajeTraceFile.
    naming: Vec<bool>,
}

/// The time of a line.
enum Time {
    None,
    Unreadable,
    At(f64),
    /// The line names a file: it comes last, as the file does.
    Last,
}

impl Clocks {
    /// Learns the definitions of a text, which hold for all its lines: also for those before them. What
    /// it begins with holds if there are none.
    pub(super) fn new(
        text: &[u8],
        pieces: &[Range<usize>],
        mut defs: DefTable,
        (recovers, workers): (bool, &Workers),
    ) -> Self {
        let headers = workers.map(pieces.len(), |piece| headers(text, pieces[piece].clone()));
        for line in headers.into_iter().flatten() {
            if recovers {
                // It goes on, and so do we.
                let _ = defs.mend_line(&text[line]);
                continue;
            }
            // The replay will come to this line before any that has a time, and end there.
            if defs.header_line(&text[line]).is_err() {
                break;
            }
        }
        let words = defs.defs().iter().map(|def| {
            // A column of that name in the definition of a type's event means nothing.
            let timed = def.kind().obligatory().contains(&FieldName::Time);
            if timed { def.word_of(FieldName::Time) } else { None }
        });
        let naming = defs.defs().iter().map(|def| def.kind() == EventKind::TraceFile);
        Clocks { words: words.collect(), naming: naming.collect(), defs }
    }

    /// Tells whether a line may name a file without being one of [`Found::naming`].
    pub(super) fn creations_name_files(&self) -> bool {
        let numbered = self.defs.numbered().iter().map(|index| &self.defs.defs()[*index as usize]);
        let mut creations = numbered.filter(|def| def.kind() == EventKind::CreateContainer);
        creations.any(|def| def.word_of(FieldName::Filename).is_some())
    }

    /// Sorts out the lines of a piece.
    pub(super) fn classify(&self, text: &[u8], piece: Range<usize>, too_long: usize) -> Found {
        let mut found = Found::default();
        let mut start = piece.start;
        for newline in memchr_iter(b'\n', &text[piece.clone()]) {
            let end = piece.start + newline;
            if end - start >= too_long {
                found.too_long = Some(start);
                break;
            }
            found.lines += 1;
            let line = Line::new(start..end + 1);
            match self.time(text, start, end) {
                Time::None => found.untimed.push(line),
                Time::Unreadable => found.unreadable.push(line),
                Time::Last => found.naming.push(line),
                Time::At(time) => found.timed.push(Timed { key: key(time), line }),
            }
            start = end + 1;
        }
        found.timed.sort_by_key(|timed| timed.key);
        found
    }

    /// The time of the line `text[start..end]`.
    #[inline]
    fn time(&self, text: &[u8], start: usize, end: usize) -> Time {
        let line = &text[..end];
        // Blank lines and definitions have none, nor have events that nobody defined.
        let Some(mut word) = next_field(line, start) else { return Time::None };
        let id = Field::new(&text[word.clone()]).bare();
        let Some(def) = self.defs.find(id) else { return Time::None };
        let Some(count) = self.words[def] else {
            return if self.naming[def] { Time::Last } else { Time::None };
        };
        for _ in 0..count {
            match next_field(line, word.end) {
                Some(next) => word = next,
                None => return Time::Unreadable,
            }
        }
        let time = if text[word.start] == b'"' {
            number::parse_time(Field::new(&text[word]).bare())
        } else {
            number::parse_time_at(text, word.start, word.end)
        };
        time.map_or(Time::Unreadable, Time::At)
    }
}

/// A number that orders as the time does; -0 is 0.
#[inline]
fn key(time: f64) -> u64 {
    let bits = (time + 0.0).to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// The lines of a piece that are parts of definitions, without their newlines.
fn headers(text: &[u8], piece: Range<usize>) -> Vec<Range<usize>> {
    let (text, first) = (&text[piece.clone()], piece.start);
    let begins_line = |at: &usize| {
        let before = text[..*at].iter().rev().find(|byte| !is_white(**byte) || **byte == b'\n');
        before.is_none_or(|byte| *byte == b'\n')
    };
    let line = |at: usize| {
        let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
        let end = memchr(b'\n', &text[at..]).map_or(text.len(), |newline| at + newline);
        first + start..first + end
    };
    memchr_iter(b'%', text).filter(begins_line).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ordered_as_times_are() {
        let times = [f64::MIN, -1.5, -1e-300, 0.0, 5e-324, 1.0, 1.0 + f64::EPSILON, f64::MAX];
        assert!(times.map(key).is_sorted_by(|a, b| a < b));
        assert_eq!(key(-0.0), key(0.0));
    }

    #[test]
    fn headers_begin_with_a_percent_sign() {
        let text = b"% a\n 5 %\n\t %% \n\n1 \"%\n  %EventDef b %\n%";
        let lines = headers(text, 0..text.len());
        let lines: Vec<&[u8]> = lines.into_iter().map(|line| &text[line]).collect();
        assert_eq!(lines, [&b"% a"[..], b"\t %% ", b"  %EventDef b %", b"%"]);
        assert_eq!(headers(text, 9..15).first(), Some(&(9..14)));
    }
}
