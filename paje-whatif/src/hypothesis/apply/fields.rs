//! Reads the tags of messages from user-defined fields.

use std::convert::Infallible;
use std::str;

use paje_sim::{LaneView, Links, TypeNature, Visitor};

use crate::graph::Graph;

/// Returns the tag of each message, which comes from the field `Tag` or from SimGrid's key
/// `from_to_tag_number`.
pub(super) fn tags(graph: &Graph<'_>) -> Vec<Option<f64>> {
    let trace = graph.tracks().trace();
    let is_simulated = trace.comments().windows(7).any(|word| word == b"SimGrid");
    let list = graph.messages().list();
    let mut order: Vec<u32> = (0..list.len() as u32).collect();
    order.sort_unstable_by_key(|at| (list[*at as usize].lane, list[*at as usize].row));
    let mut reader = Tags { graph, is_simulated, row: 0, order, tags: vec![None; list.len()] };
    for lane in trace.lanes().filter(|lane| lane.nature() == TypeNature::Link) {
        reader.row = 0;
        let Ok(()) = lane.visit(&mut reader);
    }
    reader.tags
}

struct Tags<'a> {
    graph: &'a Graph<'a>,
    is_simulated: bool,
    row: u64,
    order: Vec<u32>,
    tags: Vec<Option<f64>>,
}

impl Visitor for Tags<'_> {
    type Error = Infallible;

    fn links(&mut self, lane: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        let list = self.graph.messages().list();
        let place = |at: &u32| (list[*at as usize].lane, list[*at as usize].row);
        let behind = self.row + links.start.len() as u64;
        let from = self.order.partition_point(|at| place(at) < (lane.id(), self.row));
        for at in self.order[from..].iter().take_while(|at| place(at) < (lane.id(), behind)) {
            let i = (list[*at as usize].row - self.row) as usize;
            let mut fields = links.user_defined.of(i);
            let field = fields.find(|(name, _)| name.eq_ignore_ascii_case("tag"));
            let key = links.raw_key(i);
            let from_key = || {
                let key = str::from_utf8(key).ok()?.trim_matches('"');
                let parts: Vec<&str> = key.split('_').collect();
                parts.get(2).filter(|_| parts.len() == 4).copied()?.parse().ok()
            };
            self.tags[*at as usize] = match field {
                Some((_, text)) => number(text),
                None if self.is_simulated => from_key(),
                None => None,
            };
        }
        self.row = behind;
        Ok(())
    }
}

fn number(text: &[u8]) -> Option<f64> {
    str::from_utf8(text).ok()?.trim().trim_matches('"').parse().ok()
}
