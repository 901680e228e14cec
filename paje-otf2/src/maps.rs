//! The local definitions of a location: mapping tables and the corrections of its clock.

use rustc_hash::FxHashMap;

use crate::bytes::{Cursor, Damage, Found};
use crate::chunks::{Chunks, Step};
use crate::record::Values;
use crate::table::{LOCAL, Reference};

/// Replaces identifiers of a location by global ones.
#[derive(Debug, Default)]
pub(crate) struct Maps {
    tables: [Option<Table>; Reference::MAPPED],
}

#[derive(Debug)]
enum Table {
    Dense(Vec<u64>),
    Sparse(FxHashMap<u64, u64>),
}

impl Maps {
    /// Returns the global identifier. An identifier that is in no table stays as it is.
    #[inline(always)]
    pub(crate) fn global(&self, reference: Reference, id: u64) -> u64 {
        let Some(Some(table)) = self.tables.get(reference as usize) else { return id };
        let found = match table {
            Table::Dense(ids) => usize::try_from(id).ok().and_then(|at| ids.get(at)),
            Table::Sparse(ids) => ids.get(&id),
        };
        found.copied().unwrap_or(id)
    }

    fn read(&mut self, payload: &mut Cursor<'_>) -> Found<()> {
        let start = payload.clone();
        let type_ = payload.byte()?;
        let count = payload.long()?;
        let is_sparse = match payload.byte()? {
            0 => false,
            1 => true,
            _ => return Err(payload.damage("a mapping table is neither dense nor sparse")),
        };
        if count > payload.left() as u64 {
            return Err(payload.damage("a list is longer than its record"));
        }
        let table = if is_sparse {
            let pairs = (0..count).map(|_| Ok((payload.long()?, payload.long()?)));
            Table::Sparse(pairs.collect::<Found<_>>()?)
        } else {
            Table::Dense((0..count).map(|_| payload.long()).collect::<Found<_>>()?)
        };
        let Some(place) = self.tables.get_mut(usize::from(type_)) else { return Ok(()) };
        if place.is_some() {
            return Err(start.damage("there is a second mapping table of this type"));
        }
        *place = Some(table);
        Ok(())
    }
}

/// A time of a location, and the offset to add at this time.
#[derive(Clone, Copy, Debug)]
struct Point {
    time: u64,
    offset: u64,
    /// Change of the offset per tick, up to the next point.
    slope: f64,
}

/// The corrections of a location's clock.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// Starts of the intervals, and the end of the last one.
    points: Vec<Point>,
}

impl Clock {
    fn add(&mut self, time: u64, offset: u64) -> bool {
        if let Some(last) = self.points.last_mut() {
            if time <= last.time {
                return false;
            }
            let change = offset.wrapping_sub(last.offset).cast_signed();
            last.slope = change as f64 / (time - last.time) as f64;
        }
        self.points.push(Point { time, offset, slope: 0.0 });
        true
    }

    /// Returns the corrected time. Before the first point and after the last one it is extrapolated.
    #[inline]
    pub(crate) fn correct(&self, time: u64) -> u64 {
        // A single point corrects nothing, because it has no slope.
        let Some(intervals) = self.points.len().checked_sub(1).filter(|count| *count > 0) else {
            return time;
        };
        let interval = match intervals {
            1 => 0,
            // A time on a border belongs to the earlier interval.
            _ => self.points[1..intervals].partition_point(|point| point.time < time),
        };
        let Point { time: start, offset, slope } = self.points[interval];
        let since = match time >= start {
            true => (time - start) as f64,
            false => -((start - time) as f64),
        };
        let change = (slope * since).round_ties_even() as i64;
        time.wrapping_add(offset).wrapping_add(change.cast_unsigned())
    }
}

/// The local definitions of a location.
#[derive(Debug, Default)]
pub(crate) struct Local {
    pub(crate) maps: Maps,
    pub(crate) clock: Clock,
}

/// Reads the bytes of a file of local definitions, up to the first fault.
pub(crate) fn read_local(bytes: &[u8], chunk: u64, local: &mut Local) -> Found<()> {
    const MAPPING_TABLE: u8 = 5;
    let Local { maps, clock } = local;
    let mut values = Values::default();
    let mut chunks = Chunks::new(bytes, chunk);
    while let Some(step) = chunks.next_step()? {
        let Step { kind, mut payload } = step;
        if kind == MAPPING_TABLE {
            maps.read(&mut payload)?;
        } else if let Some(record) = LOCAL.get(kind) {
            let at = payload.place();
            values.read(record, &mut payload, None)?;
            if !clock.add(values.fields[0], values.fields[1]) {
                return Err(Damage { at, what: "the times of clock offsets do not increase" });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(points: &[(u64, i64)]) -> Clock {
        let mut clock = Clock::default();
        assert!(points.iter().all(|(time, offset)| clock.add(*time, offset.cast_unsigned())));
        clock
    }

    #[test]
    fn clocks_are_interpolated_and_extrapolated() {
        let two = clock(&[(100, 10), (200, 20)]);
        let corrected = [0, 100, 105, 115, 200, 300].map(|time| two.correct(time));
        // Halves are rounded to even numbers.
        assert_eq!(corrected, [0, 110, 115, 127, 220, 330]);
        let three = clock(&[(100, 0), (200, -100), (300, 0)]);
        assert_eq!([150, 200, 201, 400].map(|time| three.correct(time)), [100, 100, 102, 500]);
        assert_eq!((clock(&[]).correct(7), clock(&[(5, 100)]).correct(7)), (7, 7));
    }

    #[test]
    fn what_no_table_names_stays() {
        let mut maps = Maps::default();
        let table = [3, 2, 1, 7, 1, 0, 1, 9];
        let mut cursor = Cursor::new(&[3, 1, 2, 0, 1, 7, 1, 9], 0, crate::bytes::Order::Little);
        maps.read(&mut cursor).unwrap();
        let global = [0, 1, 2, u64::MAX].map(|id| maps.global(Reference::Region, id));
        assert_eq!(global, [7, 9, 2, u64::MAX]);
        assert_eq!(maps.global(Reference::Callpath, 1), 1);
        let again = maps.read(&mut Cursor::new(&table, 0, crate::bytes::Order::Little));
        assert!(again.is_err());
    }
}
