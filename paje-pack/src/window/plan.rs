//! Chooses the segments for a time window, and the lines that replace the other segments.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::iter::Peekable;
use std::ops::Range;

use paje_parser::{EventKind, FieldName, FieldNames, Line, LineDecoder};

use crate::excerpt::Excerpt;
use crate::format::take_number;

/// Times of the segments, and the lines that every window needs.
pub(super) struct Windows<'p> {
    /// Number of consecutive segments that a window can only select together.
    pub(super) step: usize,
    pub(super) times: Vec<(f64, f64)>,
    pub(super) fixed: Excerpt<'p>,
    latest: Excerpt<'p>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) segments: Range<usize>,
    /// Whether all segments are before the window, or all are after it.
    pub(super) is_outside: bool,
}

impl<'p> Windows<'p> {
    pub(super) fn parse(mut page: &'p [u8], segments: usize) -> Option<Windows<'p>> {
        if take_number(&mut page)? != segments as u64 {
            return None;
        }
        let step = usize::try_from(take_number(&mut page)?).ok().filter(|step| *step > 0)?;
        let mut time = || page.split_off(..8)?.try_into().ok().map(f64::from_le_bytes);
        let mut times = Vec::new();
        for _ in 0..segments {
            times.push((time()?, time()?));
        }
        let (fixed, latest) = (Excerpt::take(&mut page)?, Excerpt::take(&mut page)?);
        page.is_empty().then_some(Windows { step, times, fixed, latest })
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = (u64, &'p [u8])> + use<'p> {
        // The latest line may also be one of the fixed lines.
        merge(self.fixed, self.latest)
    }

    /// Returns the segments between boundaries that have lines, with their earliest and latest time.
    pub(super) fn units(&self) -> impl Iterator<Item = (Range<usize>, f64, f64)> {
        self.times.chunks(self.step).zip(0..).map(|(times, number)| {
            let first = times.iter().map(|(first, _)| *first).fold(f64::INFINITY, f64::min);
            let last = times.iter().map(|(_, last)| *last).fold(f64::NEG_INFINITY, f64::max);
            let start = number * self.step;
            (start..start + times.len(), first, last)
        })
    }

    /// Returns all segments in order. A run outside of the window is entirely before or entirely
    /// after it, so none of its rows spans the window.
    pub(super) fn runs(&self, from: f64, to: f64) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let (mut before, mut behind) = (false, false);
        for (segments, first, last) in self.units() {
            // For a segment without times, the earliest time is positive infinity, and the latest
            // time negative infinity.
            let (is_before, is_behind) = (last < from, first > to);
            let goes_on = before && is_before || behind && is_behind;
            let is_outside = is_before || is_behind;
            match runs.last_mut() {
                Some(run) if goes_on || !is_outside && !run.is_outside => {
                    run.segments.end = segments.end;
                    (before, behind) = (before && is_before, behind && is_behind);
                }
                _ => {
                    runs.push(Run { segments, is_outside });
                    (before, behind) = (is_before, is_behind);
                }
            }
        }
        // Rows that are still open at the end of the trace may be in the window, but no boundary
        // page has them.
        let ends_later = || self.times.iter().any(|(_, last)| *last >= from);
        if let Some(last) = runs.last_mut()
            && last.is_outside
            && !behind
            && ends_later()
        {
            let count = self.times.len();
            let end = (count - 1) / self.step * self.step;
            last.segments.end = end;
            if last.segments.is_empty() {
                runs.pop();
            }
            match runs.last_mut() {
                Some(run) if !run.is_outside => run.segments.end = count,
                _ => runs.push(Run { segments: end..count, is_outside: false }),
            }
        }
        runs
    }
}

/// Lines that open and close the rows that are open at a boundary between two segments.
#[derive(Clone, Copy, Default)]
pub(super) struct OpenRows<'p> {
    pub(super) openers: Excerpt<'p>,
    pub(super) closers: Excerpt<'p>,
}

impl<'p> OpenRows<'p> {
    pub(super) fn parse(mut page: &'p [u8]) -> Option<OpenRows<'p>> {
        if page.is_empty() {
            return Some(OpenRows::default());
        }
        let border =
            OpenRows { openers: Excerpt::take(&mut page)?, closers: Excerpt::take(&mut page)? };
        page.is_empty().then_some(border)
    }
}

/// Lines that replace the segments of a gap. They close the rows that are open at the start of the
/// gap, and open the rows that are open at the end of the gap.
pub(super) struct Gap<'p> {
    pub(super) begin: OpenRows<'p>,
    pub(super) end: OpenRows<'p>,
    pub(super) lines: Range<u64>,
}

impl<'p> Gap<'p> {
    fn closers(&self) -> impl Iterator<Item = (u64, &'p [u8])> + use<'p> {
        let lines = self.lines.clone();
        self.begin.closers.filter(move |(number, _)| lines.contains(number))
    }

    fn openers(&self) -> impl Iterator<Item = (u64, &'p [u8])> + use<'p> {
        let lines = self.lines.clone();
        self.end.openers.filter(move |(number, _)| lines.contains(number))
    }

    /// Returns the text of the closing, opening and other lines of the gap, in order and without
    /// duplicates.
    pub(super) fn text<'o: 'p>(&self, others: impl Iterator<Item = (u64, &'o [u8])>) -> Vec<u8> {
        let mut text = Vec::new();
        let others = others.map(|(number, line)| -> (u64, &'p [u8]) { (number, line) });
        for (_, line) in merge(merge(self.closers(), self.openers()), others) {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        text
    }

    /// Returns whether no state lasts too long. A line that sets a state closes a state and opens
    /// another state. If the gap lacks the line that closes the new state, this state lasts too
    /// long and contains other states, unless a later line of the gap sets a state.
    pub(super) fn is_sound(&self, headers: &mut Headers<'_>) -> Option<bool> {
        // Uses the standard hasher, because the trace chooses the keys.
        let mut set = HashMap::new();
        for (number, line) in merge(self.closers(), self.openers()) {
            if let Some(lane) = headers.lane_set(number, line)? {
                set.insert(lane, number);
            }
        }
        if set.is_empty() {
            return Some(true);
        }
        // In each lane, the last line that sets a state must be one of the openers.
        let mut last: Vec<u64> = set.into_values().collect();
        last.sort_unstable();
        let mut openers = self.openers().map(|(number, _)| number);
        Some(last.into_iter().all(|number| openers.any(|opener| opener == number)))
    }
}

/// Event definitions up to the current line.
pub(super) struct Headers<'p> {
    decoder: LineDecoder,
    lines: Peekable<Excerpt<'p>>,
}

impl<'p> Headers<'p> {
    /// Creates a decoder for lines that follow these fixed lines.
    pub(super) fn new(fixed: Excerpt<'p>) -> Self {
        Headers { decoder: LineDecoder::new(FieldNames::Strict), lines: fixed.peekable() }
    }

    /// Returns the container and the type of the state that a line sets, or `Some(None)` if it sets
    /// no state. Returns `None` if the line is invalid. Must be called in the order of lines.
    fn lane_set<'l>(
        &mut self,
        number: u64,
        line: &'l [u8],
    ) -> Option<Option<(&'l [u8], &'l [u8])>> {
        while let Some((_, header)) = self.lines.next_if(|(header, _)| *header < number) {
            if header.trim_ascii_start().starts_with(b"%") {
                self.decoder.line(header).ok()?;
            }
        }
        let Line::Event(event) = self.decoder.line(line).ok()? else { return None };
        if event.def().kind() != EventKind::SetState {
            return Some(None);
        }
        let text = |field| Some(event.span(field)?.of(line).bare());
        Some(Some((text(FieldName::Container)?, text(FieldName::Type)?)))
    }
}

/// Merges two ordered sequences of lines, without duplicates.
fn merge<'p>(
    one: impl Iterator<Item = (u64, &'p [u8])>,
    other: impl Iterator<Item = (u64, &'p [u8])>,
) -> impl Iterator<Item = (u64, &'p [u8])> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some((left, _)), Some((right, _))) => match left.cmp(right) {
            Ordering::Less => one.next(),
            Ordering::Greater => other.next(),
            Ordering::Equal => {
                one.next();
                other.next()
            }
        },
        (Some(_), None) => one.next(),
        (None, _) => other.next(),
    })
}
