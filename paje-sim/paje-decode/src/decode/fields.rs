//! Positions of the fields of short lines, and the numbers in them.

use paje_parser::number;
use paje_parser::number::{LINE_START, LineWindow};

use crate::decode::decoded::Op;
use crate::decode::plan::{Plan, WORDS};
use crate::decode::times::Times;
use crate::decode::usual::Waiting;
use paje_model::names::options::Precision;

pub(super) trait Text<'t>: Copy {
    /// Whether fields are in the usual order, one byte apart.
    const IS_USUAL: bool;

    /// Reads a line's bytes, its time and the positions of its other fields. Returns `None` if the time or the number
    /// of fields is invalid.
    fn read(
        padded: &'t [u8],
        line: &Waiting,
        plan: &Plan,
        op: Op,
        times: &mut Times,
    ) -> Option<(Self, f64, Fields)>;

    fn fields(padded: &'t [u8], line: &Waiting, plan: &Plan, op: Op) -> Option<(Self, Fields)>;

    fn bytes(&self) -> &[u8];

    /// Returns the offset in the block of the first of the bytes, modulo 2^32.
    fn base(&self, start_of_line: u32) -> u32;

    fn number(&self, precision: Precision, place: (usize, usize)) -> Option<f64>;
}

/// A line whose fields are in the usual order, and the bytes around the line.
#[derive(Clone, Copy)]
pub(super) struct InWindow<'t>(&'t LineWindow);

#[derive(Clone, Copy)]
pub(super) struct InBlock<'t>(&'t [u8]);

#[inline(always)]
fn window(padded: &[u8], start: u32) -> Option<&LineWindow> {
    // Without enough bytes before the line, the start wraps around and no bytes are found.
    padded.get((start as usize).wrapping_sub(LINE_START)..)?.first_chunk()
}

impl<'t> Text<'t> for InWindow<'t> {
    const IS_USUAL: bool = true;

    #[inline(always)]
    fn read(
        padded: &'t [u8],
        line: &Waiting,
        _: &Plan,
        op: Op,
        times: &mut Times,
    ) -> Option<(Self, f64, Fields)> {
        let window = window(padded, line.start)?;
        let ((start, end), fields) = Fields::usual(op, line.fields)?;
        Some((InWindow(window), times.read(window, start, end)?, fields))
    }

    #[inline(always)]
    fn fields(padded: &'t [u8], line: &Waiting, _: &Plan, op: Op) -> Option<(Self, Fields)> {
        let (_, fields) = Fields::usual(op, line.fields)?;
        Some((InWindow(window(padded, line.start)?), fields))
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        self.0
    }

    #[inline(always)]
    fn base(&self, start_of_line: u32) -> u32 {
        start_of_line.wrapping_sub(LINE_START as u32)
    }

    #[inline(always)]
    fn number(&self, precision: Precision, (start, end): (usize, usize)) -> Option<f64> {
        let (from, to) = (start - LINE_START, end - LINE_START);
        let plain = match precision {
            Precision::Single => number::plain_f32(self.0, from, to).map(f64::from),
            Precision::Double => number::plain_f64(self.0, from, to),
        };
        match plain {
            Some(value) => Some(value),
            None => any_number(self.0, precision, (start, end)),
        }
    }
}

impl<'t> Text<'t> for InBlock<'t> {
    const IS_USUAL: bool = false;

    #[inline(always)]
    fn read(
        padded: &'t [u8],
        line: &Waiting,
        plan: &Plan,
        _: Op,
        _: &mut Times,
    ) -> Option<(Self, f64, Fields)> {
        let words = Words::read(line, plan.expected)?;
        let time = any_time(padded, words.get(plan.time))?;
        Some((InBlock(padded), time, Fields::by_plan(&words, plan)?))
    }

    #[inline(always)]
    fn fields(padded: &'t [u8], line: &Waiting, plan: &Plan, _: Op) -> Option<(Self, Fields)> {
        let words = Words::read(line, plan.expected)?;
        Some((InBlock(padded), Fields::by_plan(&words, plan)?))
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        self.0
    }

    #[inline(always)]
    fn base(&self, _: u32) -> u32 {
        0
    }

    #[inline(always)]
    fn number(&self, precision: Precision, place: (usize, usize)) -> Option<f64> {
        any_number(self.0, precision, place)
    }
}

#[inline(never)]
fn any_time(text: &[u8], (start, end): (usize, usize)) -> Option<f64> {
    number::parse_time_at(text, start, end)
}

#[derive(Clone, Copy)]
pub(super) struct Fields {
    pub(super) pair: (usize, usize),
    pub(super) value: (usize, usize),
    pub(super) end: (usize, usize),
    pub(super) key: (usize, usize),
}

impl Fields {
    /// Returns the range of a line's time, counted from the start of the line, and the positions of its other fields in
    /// its [`LineWindow`]. Returns `None` unless the line has the event's number of fields.
    #[inline(always)]
    fn usual(op: Op, mut ends: u64) -> Option<((usize, usize), Fields)> {
        // If no bit is left, the end is 64 and the line is refused.
        let mut next = || {
            let end = ends.trailing_zeros() as usize;
            ends &= ends.wrapping_sub(1);
            (end, ends)
        };
        let (number, _) = next();
        let (time, _) = next();
        let (_, before) = next();
        let (pair, rest) = next();
        let (value, rest, before) = match op {
            Op::PopState | Op::ResetState => (pair, rest, before),
            _ => {
                let (value, after) = next();
                (value, after, rest)
            }
        };
        let (end, key, rest, before) = match op {
            Op::StartLink | Op::EndLink => {
                let (end, before) = next();
                let (key, rest) = next();
                (end, key, rest, before)
            }
            _ => (value, value, rest, before),
        };
        if before == 0 || rest != 0 {
            return None;
        }
        // No position is beyond the line's 64 bytes.
        let field =
            |before: usize, end: usize| (LINE_START + (before & 63) + 1, LINE_START + (end & 63));
        let fields = Fields {
            pair: field(time, pair),
            value: field(pair, value),
            end: field(value, end),
            key: field(end, key),
        };
        Some(((number + 1, time), fields))
    }

    #[inline(always)]
    fn by_plan(words: &Words, plan: &Plan) -> Option<Fields> {
        let pair = plan.pair?;
        Some(Fields {
            pair: (words.get(pair).0, words.get(pair + 1).1),
            value: words.get(plan.value),
            end: words.get(plan.end),
            key: words.get(plan.key),
        })
    }
}

#[inline(never)]
fn any_number(text: &[u8], precision: Precision, (start, end): (usize, usize)) -> Option<f64> {
    match precision {
        Precision::Single => number::parse_f32_at(text, start, end).map(f64::from),
        Precision::Double => number::parse_f64_at(text, start, end),
    }
}

/// Returns a word without its quotes, which always come in pairs in a short line.
#[inline(always)]
pub(super) fn bare(padded: &[u8], (start, end): (usize, usize)) -> (usize, usize) {
    if padded[start] == b'"' { (start + 1, end - 1) } else { (start, end) }
}

/// Ranges of a line's words in the block. Each range is one integer, because the processor would stall if two integers
/// were stored one by one and loaded as a pair.
struct Words([u64; WORDS]);

impl Words {
    /// Reads the `count` words of a line. Returns `None` if the line has more or fewer words.
    #[inline(always)]
    fn read(line: &Waiting, count: usize) -> Option<Words> {
        let mut edges = line.fields;
        let start = u64::from(line.start);
        let both = start | start << 32;
        let mut words = [both; WORDS];
        let mut before = edges;
        for word in words.iter_mut().take(count) {
            // The top bit is set, so that counting zeros needs no check for a mask without edges. Such a line is
            // refused.
            let first = u64::from((edges | 1 << 63).trailing_zeros());
            edges &= edges.wrapping_sub(1);
            before = edges;
            let end = u64::from((edges | 1 << 63).trailing_zeros());
            edges &= edges.wrapping_sub(1);
            *word = both + (first | end << 32);
        }
        (before != 0 && edges == 0).then_some(Words(words))
    }

    #[inline(always)]
    fn get(&self, word: usize) -> (usize, usize) {
        let both = self.0[word % WORDS];
        ((both & 0xffff_ffff) as usize, (both >> 32) as usize)
    }
}
