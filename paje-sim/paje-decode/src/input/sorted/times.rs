use std::ops::Range;

use memchr::{memchr, memchr_iter};
use paje_parser::token::{is_white, next_field};
use paje_parser::{DefTable, EventKind, Field, FieldName, number};
use paje_workers::Workers;

use crate::input::sorted::Line;

#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    /// Sorting key. Keys are ordered like the times, and equal times have equal keys.
    pub(super) key: u64,
    pub(super) line: Line,
}

#[derive(Debug, Default)]
pub(super) struct Found {
    /// Lines that need no time, in file order.
    pub(super) untimed: Vec<Line>,
    /// Lines whose time is missing or cannot be read, in file order.
    pub(super) unreadable: Vec<Line>,
    /// Lines with a time, sorted by time and then by file order.
    pub(super) timed: Vec<Timed>,
    /// Lines that name files for containers, in file order. Any earlier line may create the containers.
    pub(super) naming: Vec<Line>,
    pub(super) lines: u64,
    /// Offset of a line that is too long. The lists end before this line.
    pub(super) too_long: Option<usize>,
}

pub(super) struct Clocks {
    defs: DefTable,
    /// For each definition, the index of the word with the time.
    words: Vec<Option<usize>>,
    /// For each definition, whether it defines PajeTraceFile.
    naming: Vec<bool>,
}

enum Time {
    None,
    Unreadable,
    At(f64),
    /// The line names a file. Such lines come last, as their files are read last.
    Last,
}

impl Clocks {
    /// Reads the definitions of a text, which apply to all its lines, even to earlier lines. If the text has no
    /// definitions, the given definitions apply.
    pub(super) fn new(
        text: &[u8],
        pieces: &[Range<usize>],
        mut defs: DefTable,
        recovers: bool,
        workers: &Workers,
    ) -> Self {
        let headers = workers.map(pieces.len(), |piece| headers(text, pieces[piece].clone()));
        for line in headers.into_iter().flatten() {
            if recovers {
                // Recovery continues after a problem.
                let _ = defs.mend_line(&text[line]);
                continue;
            }
            // The replay reads this line before any line with a time, and fails there.
            if defs.header_line(&text[line]).is_err() {
                break;
            }
        }
        let words = defs.defs().iter().map(|def| {
            // Events that define types or values have no time, even if their definition has a field for it.
            let timed = def.kind().obligatory().contains(&FieldName::Time);
            if timed { def.word_of(FieldName::Time) } else { None }
        });
        let naming = defs.defs().iter().map(|def| def.kind() == EventKind::TraceFile);
        Clocks { words: words.collect(), naming: naming.collect(), defs }
    }

    /// Returns whether creations of containers may name files. [`Found::naming`] does not include creations.
    pub(super) fn creations_name_files(&self) -> bool {
        let numbered = self.defs.numbered().iter().map(|index| &self.defs.defs()[*index as usize]);
        let mut creations = numbered.filter(|def| def.kind() == EventKind::CreateContainer);
        creations.any(|def| def.word_of(FieldName::Filename).is_some())
    }

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

    #[inline]
    fn time(&self, text: &[u8], start: usize, end: usize) -> Time {
        let line = &text[..end];
        // Blank lines, definitions, and events without a definition have no time.
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

/// Returns a number that is ordered like the time. -0 equals 0.
#[inline]
fn key(time: f64) -> u64 {
    let bits = (time + 0.0).to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// Returns the `%` lines of a piece, without their newlines.
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
    fn keys_have_the_order_of_times() {
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
