//! Values of a user-defined field in rows, for colours.

use std::convert::Infallible;

use paje_sim::{Annotations, Events, LaneView, Links, States, Variables, Visitor};

/// Returns the values of a field in some rows of a lane. The numbers of the rows are sorted.
pub(crate) fn of(lane: LaneView<'_>, name: &str, rows: &[u64]) -> Vec<Option<String>> {
    let (mut values, mut missing, mut first) = (Vec::with_capacity(rows.len()), rows, 0);
    for (chunk, count) in lane.chunks_from(0).enumerate() {
        let end = first + count as u64;
        let (here, later) = missing.split_at(missing.partition_point(|row| *row < end));
        if !here.is_empty() {
            let mut see = EachChunk(|_: &[f64], fields: &Annotations<'_>| {
                for row in here {
                    let value = fields.of((row - first) as usize).find(|(it, _)| *it == name);
                    values.push(value.map(|(_, text)| String::from_utf8_lossy(text).into_owned()));
                }
            });
            let Ok(()) = lane.visit_chunks(chunk..chunk + 1, &mut see);
        }
        (missing, first) = (later, end);
    }
    values
}

/// Calls a function with the starts and the fields of the rows of each chunk.
pub(crate) struct EachChunk<F>(pub(crate) F);

impl<F: FnMut(&[f64], &Annotations<'_>)> Visitor for EachChunk<F> {
    type Error = Infallible;

    fn states(&mut self, _: LaneView<'_>, it: States<'_>) -> Result<(), Infallible> {
        (self.0)(it.start, &it.user_defined);
        Ok(())
    }

    fn variables(&mut self, _: LaneView<'_>, it: Variables<'_>) -> Result<(), Infallible> {
        (self.0)(it.start, &it.user_defined);
        Ok(())
    }

    fn events(&mut self, _: LaneView<'_>, it: Events<'_>) -> Result<(), Infallible> {
        (self.0)(it.time, &it.user_defined);
        Ok(())
    }

    fn links(&mut self, _: LaneView<'_>, it: Links<'_>) -> Result<(), Infallible> {
        (self.0)(it.start, &it.user_defined);
        Ok(())
    }
}
