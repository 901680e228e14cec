//! Encodes the pages that windows need.

use std::sync::Arc;

use crate::format::put_number;

/// Offset of a line in the text of the trace, and the bytes of the line without its newline. Only
/// lines that set a variable may differ from the trace.
pub type TextLine = (u64, Arc<[u8]>);

/// Lines that turn some segments of a trace into a valid trace.
#[derive(Debug)]
pub struct WindowIndex {
    /// Only the boundaries after each `step` segments have lines. If this is not 1, windows consist
    /// of more segments.
    pub step: usize,
    /// Earliest and latest time of each segment in seconds. For a segment without times, these are
    /// positive and negative infinity.
    pub times: Vec<(f64, f64)>,
    /// Lines that every window has: definitions, creations and destructions of containers, and
    /// links that never end.
    pub fixed: Vec<TextLine>,
    /// A line with the latest time of the trace, and the line on which that line depends.
    pub latest: Vec<TextLine>,
    /// Lines of the rows that cross the boundary between each segment and the next.
    pub borders: Vec<Border>,
}

impl Default for WindowIndex {
    fn default() -> Self {
        let (times, fixed, latest, borders) = Default::default();
        WindowIndex { step: 1, times, fixed, latest, borders }
    }
}

/// Lines of rows that begin before a boundary between segments and end after it.
#[derive(Clone, Debug, Default)]
pub struct Border {
    /// Lines before the boundary on which the rows depend.
    pub openers: Vec<TextLine>,
    /// Lines after the boundary that end the rows.
    pub closers: Vec<TextLine>,
}

impl WindowIndex {
    /// Encodes the index for boundaries after each `step` segments.
    pub(crate) fn to_bytes(&self, step: usize) -> Vec<u8> {
        let mut page = Vec::new();
        put_number(self.times.len() as u64, &mut page);
        put_number(step as u64, &mut page);
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

/// Encodes the offsets and the texts of lines in order, without duplicates.
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
