//! Order of the lines.

use std::ops::Range;

use super::definitions::Used;

/// Position of a line in the output, as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SortKey(u128);

impl SortKey {
    /// Creates the key of a line. `not_before` is the time of the line, or the time of another line
    /// that must come first.
    ///
    /// Lines with the same time are sorted by `phase`: creations, rows, destructions, then the same
    /// for containers that were created inside destroyed containers, and so on. `rank` orders lines
    /// of the same phase.
    pub(super) fn new(not_before: f64, phase: u32, rank: u32) -> Self {
        // Minus zero would sort before zero.
        let bits = (not_before + 0.0).to_bits();
        // Makes the bits sort in the order of the numbers, including negative ones.
        let time = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
        SortKey(u128::from(time) << 64 | u128::from(phase) << 32 | u128::from(rank))
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) from: Option<SortKey>,
    pub(super) until: Option<SortKey>,
}

impl Span {
    pub(super) fn has(&self, key: &SortKey) -> bool {
        self.from.is_none_or(|from| from <= *key) && self.until.is_none_or(|until| *key < until)
    }

    pub(super) fn cut(self, bounds: &[SortKey]) -> Vec<Span> {
        let mut parts = Span::between(bounds);
        if let Some(first) = parts.first_mut() {
            first.from = self.from;
        }
        if let Some(last) = parts.last_mut() {
            last.until = self.until;
        }
        parts
    }

    pub(super) fn between(bounds: &[SortKey]) -> Vec<Span> {
        let from = std::iter::once(None).chain(bounds.iter().copied().map(Some));
        let until = bounds.iter().copied().map(Some).chain([None]);
        from.zip(until).map(|(from, until)| Span { from, until }).collect()
    }
}

/// Number of keys per sample. Samples estimate the distribution of keys.
const SAMPLED: usize = 256;

/// Returns keys that cut the lines into spans of about `lines` each, estimated from samples. Lines
/// with the same key stay together.
pub(super) fn bounds(all: &[EncodedLines], lines: u64) -> Vec<SortKey> {
    let mut samples: Vec<SortKey> = all.iter().flat_map(EncodedLines::samples).collect();
    samples.sort_unstable();
    let step = (lines / SAMPLED as u64).max(1) as usize;
    let mut bounds: Vec<SortKey> = samples.into_iter().skip(step).step_by(step).collect();
    bounds.dedup();
    bounds
}

#[derive(Debug, Default)]
pub(super) struct EncodedLines {
    keys: Vec<(SortKey, u64)>,
    /// Encoded lines. Each line starts with four bytes for the number of its definition in `used`,
    /// and the rest is text.
    text: Vec<u8>,
    pub(super) used: Used,
    /// Sampled keys, if lines are only counted.
    samples: Option<Vec<SortKey>>,
    count: usize,
}

const NUMBER: usize = size_of::<u32>();

impl EncodedLines {
    /// Creates a collection that keeps the used definitions and samples of keys, but no lines.
    pub(super) fn sampled() -> Self {
        EncodedLines { samples: Some(Vec::new()), ..EncodedLines::default() }
    }

    /// Begins a line with a definition. Returns the buffer for its text, or `None` if the line is
    /// outside the span.
    pub(super) fn begin(&mut self, key: SortKey, def: u32, span: &Span) -> Option<&mut Vec<u8>> {
        if let Some(samples) = &mut self.samples {
            self.count += 1;
            if self.count.is_multiple_of(SAMPLED) {
                samples.push(key);
            }
            return None;
        }
        if !span.has(&key) {
            return None;
        }
        self.keys.push((key, self.text.len() as u64));
        self.text.extend_from_slice(&def.to_ne_bytes());
        Some(&mut self.text)
    }

    pub(super) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    pub(super) fn sort(&mut self) {
        self.keys.sort_by_key(|(key, _)| *key);
    }

    fn samples(&self) -> impl Iterator<Item = SortKey> + '_ {
        let here = self.keys.iter().skip(SAMPLED - 1).step_by(SAMPLED).map(|(key, _)| *key);
        here.chain(self.samples.iter().flatten().copied())
    }

    fn within(&self, span: &Span) -> Range<usize> {
        let before = |bound: SortKey| self.keys.partition_point(|(key, _)| *key < bound);
        span.from.map_or(0, before)..span.until.map_or(self.keys.len(), before)
    }

    fn line(&self, start: u64) -> (u32, &[u8]) {
        let (number, rest) = self.text[start as usize..].split_at(NUMBER);
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let number = number.try_into().map_or(0, u32::from_ne_bytes);
        (number, &rest[..end])
    }
}

/// Merges the lines of a span. `numbers` has the numbers of definitions in the file, as text.
pub(super) fn merged(all: &[EncodedLines], numbers: &[Vec<Vec<u8>>], span: &Span) -> Vec<u8> {
    let mut lines: Vec<(SortKey, u32, u64)> = Vec::new();
    for (at, written) in all.iter().enumerate() {
        let some = &written.keys[written.within(span)];
        lines.extend(some.iter().map(|(key, start)| (*key, at as u32, *start)));
    }
    // The sort merges the sorted runs.
    lines.sort_by_key(|(key, ..)| *key);
    let mut text = Vec::with_capacity(lines.len() * 48);
    for (_, at, start) in lines {
        let (number, line) = all[at as usize].line(start);
        text.extend_from_slice(&numbers[at as usize][number as usize]);
        text.extend_from_slice(line);
    }
    text
}
