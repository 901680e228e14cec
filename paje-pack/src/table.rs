//! Tables of numbers by group. Numbers of the same group are adjacent, so that zstd finds
//! repetitions.

use crate::stream::{NUMBER, StreamReader, StreamWriter};

/// Number of columns of a table. The first half has the number of elements of each group, the
/// second half the elements, group by group.
pub(crate) const TABLE: usize = 2 * NUMBER;

/// Writer of a table. Within a group, numbers keep the order in which they were added.
#[derive(Default)]
pub(crate) struct Rows {
    rows: Vec<(u32, u64)>,
    counts: Vec<u32>,
}

impl Rows {
    /// Creates a table with room for this many numbers. The system provides the memory only when it
    /// is used.
    pub(crate) fn with_room(numbers: usize) -> Rows {
        Rows { rows: Vec::with_capacity(numbers), counts: Vec::new() }
    }

    #[inline]
    pub(crate) fn push(&mut self, group: u32, number: u64) {
        self.rows.push((group, number));
        match self.counts.get_mut(group as usize) {
            Some(count) => *count += 1,
            None => self.first(group),
        }
    }

    #[cold]
    fn first(&mut self, group: u32) {
        self.counts.resize(group as usize + 1, 0);
        self.counts[group as usize] = 1;
    }

    /// Replaces the number that was added as number `index`.
    pub(crate) fn replace(&mut self, index: usize, number: u64) {
        self.rows[index].1 = number;
    }

    pub(crate) fn write(&self, side: &mut StreamWriter, column: usize) {
        side.numbers(column, self.counts.iter().map(|count| (*count).into()));
        let mut start = 0;
        let places = self.counts.iter().map(|count| {
            let place = start;
            start += *count;
            place
        });
        let mut places: Vec<u32> = places.collect();
        let mut numbers = vec![0; self.rows.len()];
        for (group, number) in &self.rows {
            let place = &mut places[*group as usize];
            numbers[*place as usize] = *number;
            *place += 1;
        }
        side.numbers(column + NUMBER, numbers.into_iter());
    }
}

#[derive(Default)]
pub(crate) struct Table {
    numbers: Vec<u64>,
    groups: Vec<Group>,
}

#[derive(Clone, Copy)]
pub(crate) struct Group {
    next: u32,
    end: u32,
}

impl Group {
    /// Returns the index of the group's next number, or an invalid index at its end.
    #[inline(always)]
    const fn next(self) -> usize {
        if self.next >= self.end { usize::MAX } else { self.next as usize }
    }

    /// Returns the index of the group's next number. At the end of the group, the index is that of
    /// another group's number, so the caller must check [`Table::has_overrun`].
    #[inline(always)]
    pub(crate) const fn next_or_other(self) -> usize {
        self.next as usize
    }

    #[inline(always)]
    pub(crate) const fn pass(&mut self) {
        self.next += 1;
    }
}

impl Table {
    /// Reads a table with at most `groups` groups and `numbers` numbers.
    pub(crate) fn read(
        side: &mut StreamReader<'_>,
        column: usize,
        [groups, numbers]: [usize; 2],
    ) -> Table {
        let counts = side.numbers(column, groups);
        let numbers = side.numbers(column + NUMBER, numbers);
        let mut end = 0_u64;
        let groups = counts.into_iter().map(|count| {
            let start = end;
            // Limits counts that are too large. Such a table is invalid.
            end = end.saturating_add(count).min(numbers.len() as u64 + 1);
            Group { next: start as u32, end: end as u32 }
        });
        let groups = groups.collect();
        if end != numbers.len() as u64 {
            side.fail();
        }
        Table { numbers, groups }
    }

    /// Returns whether reading went beyond the end of any group.
    pub(crate) fn has_overrun(&self) -> bool {
        self.groups.iter().any(|group| group.next > group.end)
    }

    pub(crate) const fn len(&self) -> usize {
        self.groups.len()
    }

    #[inline]
    pub(crate) fn parts(&mut self) -> (&mut [Group], &[u64]) {
        (&mut self.groups, &self.numbers)
    }

    #[inline]
    pub(crate) fn next(&mut self, group: u32) -> Option<u64> {
        let group = self.groups.get_mut(group as usize)?;
        let number = *self.numbers.get(group.next())?;
        group.pass();
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_keep_their_order() {
        let mut rows = Rows::default();
        let number = |place: u64| place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (place % 64);
        let group = |place: u64| (place * place % 7) as u32 + u32::from(place > 500) * 300;
        (0..1000).for_each(|place| rows.push(group(place), number(place)));
        let mut side = StreamWriter::default();
        rows.write(&mut side, 3);
        let [columns, texts] = side.finish(3).unwrap();
        let mut side = StreamReader::new(&columns, &texts, 1000);
        let mut table = Table::read(&mut side, 3, [1000; 2]);
        for place in 0..1000 {
            assert_eq!(table.next(group(place)), Some(number(place)), "{place}");
        }
        assert!(!side.failed);
        assert!((0..1000).all(|group| table.next(group).is_none()));
        // The table has more numbers or groups than are allowed.
        for most in [[1000, 999], [300, 1000], [0, 0]] {
            let mut side = StreamReader::new(&columns, &texts, 1000);
            let mut table = Table::read(&mut side, 3, most);
            assert!(side.failed);
            assert!((0..1000).all(|group| table.next(group).is_none()));
        }
    }
}
