//! Values of a user-defined field in rows, for colours.

use std::convert::Infallible;

use paje_sim::{Annotations, Events, LaneView, Links, States, Variables, Visitor};

/// Returns the values of a field in some rows of a lane. The numbers of the rows are sorted.
pub(crate) fn of(lane: LaneView<'_>, name: &str, rows: &[u64]) -> Vec<Option<String>> {
    let mut found = Found { name, rows, first: 0, values: Vec::with_capacity(rows.len()) };
    for (chunk, count) in lane.chunks_from(0).enumerate() {
        let end = found.first + count as u64;
        if found.rows.first().is_some_and(|row| *row < end) {
            let Ok(()) = lane.visit_chunks(chunk..chunk + 1, &mut found);
        }
        found.first = end;
    }
    found.values
}

struct Found<'a> {
    name: &'a str,
    /// Rows whose values are still missing.
    rows: &'a [u64],
    /// Number of the first row of the chunk.
    first: u64,
    values: Vec<Option<String>>,
}

impl Found<'_> {
    fn see(&mut self, count: usize, fields: &Annotations<'_>) {
        while let Some((row, rest)) = self.rows.split_first()
            && *row < self.first + count as u64
        {
            let mut all = fields.of((row - self.first) as usize);
            let value = all.find(|(name, _)| *name == self.name);
            self.values.push(value.map(|(_, text)| String::from_utf8_lossy(text).into_owned()));
            self.rows = rest;
        }
    }
}

impl Visitor for Found<'_> {
    type Error = Infallible;

    fn states(&mut self, _: LaneView<'_>, it: States<'_>) -> Result<(), Infallible> {
        self.see(it.start.len(), &it.user_defined);
        Ok(())
    }

    fn variables(&mut self, _: LaneView<'_>, it: Variables<'_>) -> Result<(), Infallible> {
        self.see(it.start.len(), &it.user_defined);
        Ok(())
    }

    fn events(&mut self, _: LaneView<'_>, it: Events<'_>) -> Result<(), Infallible> {
        self.see(it.time.len(), &it.user_defined);
        Ok(())
    }

    fn links(&mut self, _: LaneView<'_>, it: Links<'_>) -> Result<(), Infallible> {
        self.see(it.start.len(), &it.user_defined);
        Ok(())
    }
}
