//! Finds the line numbers of reported messages.

use std::collections::BTreeMap;
use std::convert::Infallible;

use paje_sim::{LaneView, LineNumber, Links, Visitor};

use crate::model::Model;

/// Lines of the trace on which the links of some messages start.
#[derive(Clone, Debug, Default)]
pub struct Places {
    lines: BTreeMap<u32, LineNumber>,
}

impl Places {
    /// Looks up the lines of these messages.
    #[must_use]
    pub fn new(model: &Model<'_>, messages: impl IntoIterator<Item = u32>) -> Self {
        let list = model.facts.messages.list();
        let mut wanted: BTreeMap<u32, BTreeMap<u64, u32>> = BTreeMap::new();
        for message in messages {
            let it = &list[message as usize];
            wanted.entry(it.lane.0).or_default().insert(it.row, message);
        }
        let mut places = Places::default();
        for lane in model.trace().lanes() {
            if let Some(rows) = wanted.get(&lane.id().0) {
                let Ok(()) = lane.visit(&mut Lines { rows, row: 0, places: &mut places });
            }
        }
        places
    }

    /// Returns the line on which the link of a message starts, counted from 1, if it is known.
    #[must_use]
    pub fn line(&self, message: u32) -> Option<u64> {
        self.lines.get(&message).map(|place| place.line)
    }
}

struct Lines<'a> {
    rows: &'a BTreeMap<u64, u32>,
    row: u64,
    places: &'a mut Places,
}

impl Visitor for Lines<'_> {
    type Error = Infallible;

    fn links(&mut self, _: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        let end = self.row + links.start.len() as u64;
        for (row, message) in self.rows.range(self.row..end) {
            let line = links.user_defined.line((row - self.row) as usize);
            self.places.lines.extend(line.map(|line| (*message, line)));
        }
        self.row = end;
        Ok(())
    }
}
