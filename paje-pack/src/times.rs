//! Formats of the times of lines in the text, and their encoding.

use std::ops::Range;

use crate::fields::{FieldsOut, Place, zigzag};
use crate::lines::Line;
use crate::stream::StreamWriter;
use crate::table::{Rows, TABLE};
use crate::template::{Roles, is_header};
use crate::units::Units;
use crate::value::{Kind, Value, with_point};

mod read;

pub(crate) use read::{Clock, TimesIn};

/// Format of times in the text: the number of decimals, and how many of the last decimals are
/// always zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scale {
    pub(crate) after: u8,
    pub(crate) zeros: u8,
}

impl Scale {
    /// Finds the format of most times in a text, from a few lines at each of several offsets.
    pub(crate) fn of(text: &[u8], roles: &Roles) -> Scale {
        const PLACES: usize = 16;
        const LINES: usize = 128;
        // Counts the times by their number of decimals and their number of zeros at the end.
        let mut counts = [[0_usize; 20]; 20];
        let places = (0..PLACES).map(|place| &text[text.len() / PLACES * place..]);
        let lines = places.enumerate().flat_map(|(place, text)| {
            // All offsets except the first may be inside a line.
            let lines = text.split(|byte| *byte == b'\n').skip(usize::from(place > 0));
            lines.filter(|line| !is_header(line)).take(LINES)
        });
        for line in lines {
            if let Some(time) = roles.time(line)
                && let Some(Value { kind: Kind::Decimal(after), bits }) = Value::decimal(time)
            {
                let after = usize::from(after);
                let is_zero = |byte: &&u8| **byte == b'0';
                let zeros = time.iter().rev().take_while(is_zero).count();
                counts[after][if bits == 0 { after } else { zeros.min(after) }] += 1;
            }
        }
        let all = |after: &usize| counts[*after].iter().sum::<usize>();
        let after = (0..20).max_by_key(all).unwrap_or(0);
        // If the few times with more digits are stored as texts, all other times take less space.
        let (mut odd, few) = (0, all(&after) / 32);
        let mut zeros = counts[after].iter().take(after);
        let zeros = zeros.position(|count| {
            odd += count;
            odd > few
        });
        if all(&after) == 0 {
            Scale::default()
        } else {
            Scale { after: after as u8, zeros: zeros.unwrap_or(after) as u8 }
        }
    }

    /// Returns the time in units of the scale if the time is written in this format.
    #[inline]
    pub(crate) fn units(self, text: &[u8]) -> Option<i64> {
        let zeros = usize::from(self.zeros);
        if let Some((others, last)) = text.split_at_checked(text.len().wrapping_sub(zeros))
            && last.iter().all(|byte| *byte == b'0')
            && let Some(units) = with_point(others, usize::from(self.after) - zeros)
        {
            return Some(units as i64);
        }
        // Usually, the last decimals are zeros and other decimals precede them.
        if self.zeros < self.after
            && let Some((others, last)) = text.split_at_checked(text.len().wrapping_sub(zeros))
            && last.iter().all(|byte| *byte == b'0')
            && let Some(Value { kind: Kind::Decimal(after), bits }) = Value::decimal(others)
        {
            let same = after + self.zeros == self.after && text.len() <= 19;
            return same.then_some(bits as i64);
        }
        let Value { kind: Kind::Decimal(after), bits } = Value::decimal(text)? else { return None };
        let power = 10_i64.pow(self.zeros.into());
        (after == self.after && bits as i64 % power == 0).then(|| bits as i64 / power)
    }
}

/// Columns of times: the base of the differences, a table of differences by action, and the fields
/// of odd times. Odd times are times that do not fit the scale.
mod column {
    use super::TABLE;

    pub(super) const BASE: usize = 0;
    pub(super) const NUMBERS: usize = 1;
    pub(super) const ODD: usize = NUMBERS + TABLE;
}

/// Base of differences: the previous time, or the previous time of the same lane.
mod base {
    pub(super) const LINE: u8 = 0;
    pub(super) const LANE: u8 = 1;
}

#[derive(Default)]
struct LastOfLanes(Vec<i64>);

impl LastOfLanes {
    #[inline]
    fn of(&mut self, lane: u32) -> &mut i64 {
        let lane = lane as usize;
        if self.0.len() <= lane {
            self.0.resize(lane + 1, 0);
        }
        &mut self.0[lane]
    }
}

/// All odd times belong to the same slot and field.
const ODD: Place = Place { slot: 0, field: 0 };

/// Number of parts of each table that are compressed to choose the base. A single part would not be
/// enough, because segments often begin or end with unusual times.
const PARTS: usize = 8;
const PART: usize = 1 << 11;

pub(crate) struct TimesOut {
    scale: Scale,
    units: Units,
    /// Time of the previous line.
    last: i64,
    lanes: LastOfLanes,
    /// A table of differences for each base. An entry is the encoded difference plus one, or 0 for
    /// an odd time.
    tables: [Rows; 2],
    odd: FieldsOut,
}

impl TimesOut {
    pub(crate) fn new(scale: Scale, lines: usize) -> TimesOut {
        let (last, lanes, odd) = Default::default();
        let tables = [0; 2].map(|_| Rows::with_room(lines));
        TimesOut { scale, units: Units::new(scale), last, lanes, tables, odd }
    }

    /// Writes the time of the next line, which is `text[start..end]`.
    #[inline(always)]
    pub(crate) fn put(&mut self, line: Line, text: &[u8], Range { start, end }: Range<usize>) {
        let units = self.units.read(text, start, end);
        let Some(units) = units.or_else(|| self.other(line, text, start..end)) else { return };
        let lane = std::mem::replace(self.lanes.of(line.lane), units);
        let bases = [std::mem::replace(&mut self.last, units), lane];
        // Units have at most 18 digits, so this does not overflow.
        let code = |base: i64| zigzag(units - base) + 1;
        for (table, base) in self.tables.iter_mut().zip(bases) {
            table.push(line.action, code(base));
        }
    }

    /// Returns the units of a time in another format, if the scale can express the time. Otherwise
    /// writes it as a text.
    #[cold]
    #[inline(never)]
    fn other(&mut self, line: Line, text: &[u8], range: Range<usize>) -> Option<i64> {
        let units = self.scale.units(&text[range.clone()]);
        if units.is_none() {
            self.tables.iter_mut().for_each(|table| table.push(line.action, 0));
            self.odd.value(ODD, text, range);
        }
        units
    }

    /// Returns the base whose table zstd compresses better.
    ///
    /// # Errors
    /// zstd lacks memory.
    #[cold]
    fn shorter(&self) -> std::io::Result<u8> {
        let size = |table: &Rows| {
            let mut side = StreamWriter::default();
            table.sample(PARTS, PART).write(&mut side, 0);
            side.finish(1).map(|[columns, _]| columns.len())
        };
        let [line, lane] = &self.tables;
        Ok(if size(lane)? < size(line)? { base::LANE } else { base::LINE })
    }

    /// Writes all times. `text` is the text that contains them.
    ///
    /// # Errors
    /// zstd lacks memory.
    pub(crate) fn write(&mut self, side: &mut StreamWriter, text: &[u8]) -> std::io::Result<()> {
        if self.tables.iter().all(Rows::is_empty) {
            return Ok(());
        }
        let base = self.shorter()?;
        side.byte(column::BASE, base);
        self.tables[usize::from(base & 1)].write(side, column::NUMBERS);
        self.odd.write(side, column::ODD, text);
        Ok(())
    }
}
