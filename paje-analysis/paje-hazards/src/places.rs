//! Finds the line numbers of reported messages.

use std::collections::BTreeMap;

use paje_sim::LineNumber;

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
            let mut links = (0..).zip(lane.links());
            for (row, message) in wanted.get(&lane.id().0).into_iter().flatten() {
                let line = links.find(|(at, _)| at == row).and_then(|(_, link)| link.line());
                places.lines.extend(line.map(|line| (*message, line)));
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
