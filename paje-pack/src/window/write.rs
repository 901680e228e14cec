//! Encodes the pages that windows need.

use std::sync::Arc;

use crate::format::put_number;

/// A line: its start in the text of the trace, and its bytes without the newline. A line that sets a variable may not be a line of the trace.
pub type TextLine = (u64, Arc<[u8]>);

/// Lines that make a sound trace of some segments.
#[derive(Debug, Default)]
pub struct WindowIndex {
    /// Earliest and latest time of each segment in seconds; infinite and swapped if it has none.
    pub times: Vec<(f64, f64)>,
    /// Lines that every window has: definitions, creations and destructions of containers, and links that never end.
    pub fixed: Vec<TextLine>,
    /// A line with the latest time of the trace, and the line that it depends on.
    pub latest: Vec<TextLine>,
    /// Lines of the rows that cross the boundary between each segment and the next.
    pub borders: Vec<Border>,
}

/// Lines of rows that begin before a boundary between segments, and end behind it.
#[derive(Clone, Debug, Default)]
pub struct Border {
    /// Lines before the boundary that the rows depend on.
    pub openers: Vec<TextLine>,
    /// Lines behind the boundary that end the rows.
    pub closers: Vec<TextLine>,
}

impl WindowIndex {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut page = Vec::new();
        put_number(self.times.len() as u64, &mut page);
        for (first, last) in &self.times {
            page.extend_from_slice(&first.to_le_bytes());
            page.extend_from_slice(&last.to_le_bytes());
        }
        put_lines(&self.fixed, &mut page);
        put_lines(&self.latest, &mut page);
        page
    }
}

impl Border {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut page = Vec::new();
        put_lines(&self.openers, &mut page);
        put_lines(&self.closers, &mut page);
        page
    }
}

/// Encodes lines in order, each once: their places, and their texts.
fn put_lines(lines: &[TextLine], out: &mut Vec<u8>) {
    let mut lines: Vec<_> = lines.iter().collect();
    lines.sort_unstable_by_key(|(start, _)| *start);
    lines.dedup_by_key(|(start, _)| *start);
    let (mut places, mut texts, mut next) = (Vec::new(), Vec::new(), 0);
    for (start, text) in lines {
        put_number(start - next, &mut places);
        next = start + 1;
        texts.extend_from_slice(text);
        texts.push(b'\n');
    }
    for part in [places, texts] {
        put_number(part.len() as u64, out);
        out.extend_from_slice(&part);
    }
}
