//! Formats of the times of lines in the text, and their encoding.

use std::ops::Range;

use crate::fields::{FieldsOut, Place, zigzag};
use crate::lines::Line;
use crate::stream::StreamWriter;
use crate::table::{Rows, TABLE};
use crate::template::{Definitions, sample};
use crate::value::{Kind, Value, with_point};

mod read;

pub(crate) use read::TimesIn;

/// Format of times in the text: the number of decimals, and how many of the last decimals are
/// always zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scale {
    pub(crate) after: u8,
    pub(crate) zeros: u8,
}

impl Scale {
    /// Finds the format of most times in a text, from a few lines at each of several offsets.
    pub(crate) fn of(text: &[u8], roles: &Definitions) -> Scale {
        // Counts the times by their number of decimals and their number of zeros at the end.
        let mut counts = [[0_usize; 20]; 20];
        for line in sample(text) {
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
        let Value { kind: Kind::Decimal(after), bits } = Value::decimal(text)? else { return None };
        let power = 10_i64.pow(self.zeros.into());
        (after == self.after && bits as i64 % power == 0).then(|| bits as i64 / power)
    }
}

/// Columns of times: a table of differences by action, and the fields of odd times. Odd times are
/// times that do not fit the scale.
mod column {
    pub(super) const NUMBERS: usize = 0;
    pub(super) const ODD: usize = super::TABLE;
}

/// All odd times belong to the same slot and field.
const ODD: Place = Place { slot: 0, field: 0 };

pub(crate) struct TimesOut {
    scale: Scale,
    /// Time of the previous line.
    last: i64,
    /// Encoded differences plus one, or 0 for odd times.
    table: Rows,
    odd: FieldsOut,
}

impl TimesOut {
    pub(crate) fn new(scale: Scale, lines: usize) -> TimesOut {
        TimesOut { scale, last: 0, table: Rows::with_room(lines), odd: FieldsOut::default() }
    }

    /// Writes the time of the next line, which is `text[range]`.
    #[inline(always)]
    pub(crate) fn put(&mut self, line: Line, text: &[u8], range: Range<usize>) {
        if let Some(units) = self.scale.units(&text[range.clone()]) {
            // Units have at most 18 digits, so this does not overflow.
            let difference = units - std::mem::replace(&mut self.last, units);
            self.table.push(line.action, zigzag(difference) + 1);
        } else {
            self.table.push(line.action, 0);
            self.odd.value(ODD, text, range);
        }
    }

    /// Writes all times. `text` is the text that contains them.
    pub(crate) fn write(&mut self, side: &mut StreamWriter, text: &[u8]) {
        self.table.write(side, column::NUMBERS);
        self.odd.write(side, column::ODD, text);
    }
}
