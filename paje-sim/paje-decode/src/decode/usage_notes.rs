use paje_parser::scan::Spans;
use paje_parser::{Quoting, Span};

use paje_model::names::text::Name;

/// Notes on a block's lines: which definitions they use, and how they spell names.
#[derive(Debug)]
pub struct UsageNotes {
    pub used: Vec<u32>,
    /// Offset of the block's last `%` line plus one, or 0 without such a line.
    pub header_to: u32,
    pub first_time: f64,
    /// Whether a name is spelled differently than at its first use, or a line ends inside quotes.
    pub is_doubtful: bool,
}

impl Default for UsageNotes {
    fn default() -> Self {
        UsageNotes { used: Vec::new(), header_to: 0, first_time: f64::INFINITY, is_doubtful: false }
    }
}

impl UsageNotes {
    pub(super) fn clear(&mut self) {
        self.used.clear();
        (self.header_to, self.first_time, self.is_doubtful) = (0, f64::INFINITY, false);
    }

    pub(super) fn note_times(&mut self, times: impl Iterator<Item = f64>) {
        self.first_time = times.min_by(f64::total_cmp).unwrap_or(f64::INFINITY);
    }

    pub(super) fn note_end(&mut self, padded: &[u8], words: &[Span]) {
        let last = words.last().map(|word| word.of(padded).quoting());
        self.is_doubtful |= last == Some(Quoting::Unclosed);
    }

    pub(super) fn note_names(
        &mut self,
        padded: &[u8],
        known: [Name<'_>; 2],
        words: [usize; 2],
        spans: &Spans,
    ) {
        for (known, word) in known.iter().zip(words) {
            let here = spans.as_slice()[word].of(padded).quoting();
            self.is_doubtful |= is_quoted(here) != is_quoted(known.quoting);
        }
    }
}

pub fn is_quoted(quoting: Quoting) -> bool {
    quoting != Quoting::Bare
}
