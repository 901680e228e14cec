//! Reader of times.

use std::ops::Range;

use super::{LastOfLanes, ODD, Scale, base, column};
use crate::digits::decimal_len;
use crate::fields::{FieldsIn, unzigzag};
use crate::lines::Line;
use crate::out::Out;
use crate::stream::StreamReader;
use crate::table::Table;
use crate::value::Value;
use paje_parser::columns::ColumnLine;

/// Last time of each lane. If the base is the previous time of any lane, all lines count as one
/// lane.
struct Last {
    times: LastOfLanes,
    /// Mask for lane numbers. It is 0 if all lines count as one lane.
    mask: u32,
}

impl Last {
    fn new(base: u8) -> Last {
        let mask = if base == base::LANE { u32::MAX } else { 0 };
        Last { times: LastOfLanes(vec![0]), mask }
    }

    #[inline]
    fn of(&mut self, lane: u32) -> &mut i64 {
        self.times.of(lane & self.mask)
    }
}

pub(crate) struct TimesIn {
    scale: Scale,
    last: Last,
    pub(crate) table: Table,
    odd: FieldsIn,
    /// Odd times of lines that have been read, and how many of them have been written.
    odds: Vec<Value>,
    given: usize,
    /// A range of times, and the length of their texts. All texts of the range have this length.
    lengths: (Range<i64>, usize),
}

/// How to find the times of a step: its lane, and its group in the table.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) lane: u32,
    pub(crate) group: u32,
}

impl Clock {
    /// Group of steps without times.
    pub(crate) const NONE: u32 = u32::MAX;
}

/// Number that stands for an odd time.
const ODD_TIME: i64 = i64::MIN;

impl TimesIn {
    /// Creates a reader for a segment with `length` bytes of text.
    pub(crate) fn new(side: &mut StreamReader<'_>, scale: Scale, length: usize) -> TimesIn {
        let base = if side.is_empty() { base::LINE } else { side.byte(column::BASE) };
        if base > base::LANE {
            side.fail();
        }
        let table = Table::read(side, column::NUMBERS, [length.saturating_add(1), length]);
        let last = Last::new(base);
        let odd = FieldsIn::new(side, column::ODD, length);
        let (odds, given, lengths) = (Vec::new(), 0, (0..0, 0));
        TimesIn { scale, last, table, odd, odds, given, lengths }
    }

    /// Returns the next time of a lane, given the encoded difference.
    #[inline]
    fn take(&mut self, line: Line, code: u64) -> i64 {
        let last = self.last.of(line.lane);
        *last = last.wrapping_add(unzigzag(code));
        *last
    }

    /// Reads the times of lines, given their steps. Returns `None` if a double cannot represent a
    /// time exactly, or if the stream is invalid.
    #[inline(never)]
    pub(crate) fn read(
        &mut self,
        side: &mut StreamReader<'_>,
        clocks: &[Clock],
        lines: &mut [ColumnLine],
    ) -> Option<()> {
        let (lanes, mask) =
            (clocks.iter().map(|clock| clock.lane).max().unwrap_or(0), self.last.mask);
        self.last.of(lanes);
        let lasts = &mut self.last.times.0[..];
        let (groups, numbers) = self.table.parts();
        let most = self.scale.most();
        for line in lines {
            let Some(clock) = clocks.get(line.step as usize) else { continue };
            let Some(group) = groups.get_mut(clock.group as usize) else {
                if clock.group == Clock::NONE {
                    continue;
                } else {
                    return None;
                };
            };
            let code = *numbers.get(group.next_or_other())?;
            group.pass();
            let last = lasts.get_mut((clock.lane & mask) as usize)?;
            let Some(code) = code.checked_sub(1) else {
                line.time = ODD_TIME;
                self.odds.push(self.odd.value_only(side, ODD));
                continue;
            };
            *last = last.wrapping_add(unzigzag(code));
            line.time = *last;
            if *last as u64 >= most {
                return None;
            }
        }
        Some(())
    }

    /// Returns a range of times, and the length of their texts. All texts of the range have this
    /// length.
    pub(crate) fn lengths(&self) -> (Range<i64>, u32) {
        (self.lengths.0.clone(), self.lengths.1 as u32)
    }

    /// Does the same as [`Self::lengths`] for a range that includes the given time. Returns `None`
    /// for an odd time.
    #[cold]
    pub(crate) fn lengths_of(&mut self, time: i64) -> Option<(Range<i64>, u32)> {
        self.lengths = self.scale.lengths(time)?;
        Some(self.lengths())
    }

    pub(crate) fn put(&mut self, time: i64, out: &mut Out) {
        if time == ODD_TIME {
            let odd = self.odds.get(self.given).copied().unwrap_or_default();
            self.given += 1;
            self.odd.put(odd, out);
        } else {
            self.put_units(time, out);
        }
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
        let came = self.take(line, code);
        self.put_units(came, out);
    }

    #[inline]
    fn put_units(&self, units: i64, out: &mut Out) {
        out.put_decimal(units.wrapping_mul(self.scale.unit()), self.scale.after);
    }
}

impl Scale {
    /// Returns the size of a unit, in units of the last decimal.
    const fn unit(self) -> i64 {
        10_i64.pow(self.zeros as u32)
    }

    /// Returns the upper limit of the units that doubles represent exactly.
    fn most(self) -> u64 {
        (1 << 53).min(i64::MAX as u64 / self.unit() as u64)
    }

    /// Returns a range that includes `units`. The texts of all its numbers have the same length,
    /// and doubles represent the numbers exactly. Returns `None` if there is no such range.
    #[cold]
    fn lengths(self, units: i64) -> Option<(Range<i64>, usize)> {
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
