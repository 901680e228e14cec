//! Reader of times.

use std::ops::Range;

use super::{ODD, Scale, column};
use crate::digits::decimal_len;
use crate::fields::{FieldsIn, unzigzag};
use crate::lines::Line;
use crate::out::Out;
use crate::stream::StreamReader;
use crate::table::{Group, Table};

pub(crate) struct TimesIn {
    scale: Scale,
    /// Time of the previous line.
    last: i64,
    pub(crate) table: Table,
    odd: FieldsIn,
}

impl TimesIn {
    /// Creates a reader for a segment with `length` bytes of text.
    pub(crate) fn new(side: &mut StreamReader<'_>, scale: Scale, length: usize) -> TimesIn {
        let table = Table::read(side, column::NUMBERS, [length.saturating_add(1), length]);
        let odd = FieldsIn::new(side, column::ODD, length);
        TimesIn { scale, last: 0, table, odd }
    }

    /// Returns the groups and the codes of the table, the last time, and the scale.
    pub(crate) fn parts(&mut self) -> (&mut [Group], &[u64], &mut i64, Scale) {
        let (groups, codes) = self.table.parts();
        (groups, codes, &mut self.last, self.scale)
    }

    #[inline]
    pub(crate) fn next(&mut self, side: &mut StreamReader<'_>, line: Line, out: &mut Out) {
        let code = match self.table.next(line.action) {
            Some(0) => {
                self.odd.value(side, ODD, out);
                return;
            }
            Some(code) => code - 1,
            None => return side.fail(),
        };
        self.last = self.last.wrapping_add(unzigzag(code));
        out.put_decimal(self.last.wrapping_mul(self.scale.unit()), self.scale.after);
    }
}

impl Scale {
    /// Returns the size of a unit, in units of the last decimal.
    const fn unit(self) -> i64 {
        10_i64.pow(self.zeros as u32)
    }

    /// Returns a range that includes `units`. The texts of all its numbers have the same length,
    /// and doubles represent the numbers exactly. Returns `None` if there is no such range.
    #[cold]
    pub(crate) fn lengths(self, units: i64) -> Option<(Range<i64>, usize)> {
        let unit = self.unit();
        // `end` is the smallest number with one more digit before the point.
        let mut end = 10_i64.checked_pow(u32::from(self.after - self.zeros) + 1)?;
        let mut start = 0;
        while end <= units {
            start = end;
            end = end.saturating_mul(10);
        }
        let range = start..end.min((1 << 53).min(i64::MAX / unit));
        range.contains(&units).then(|| (range, decimal_len(units * unit, self.after)))
    }
}
