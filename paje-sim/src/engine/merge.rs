//! The rows of link lanes, merged from their strands in order of completion.

use rustc_hash::FxHashMap;

use super::shard::{Completion, Shard};
use super::strand::{Objects, Refusal, Refused};
use crate::columns::Rows;
use crate::engine::symbols::hash_bytes;
use crate::ids::LaneId;
use crate::links::bare_key;
use crate::store::{Keys, LinkColumns};

/// The rows of some link lanes: those whose numbers leave the home's own when divided by the number
/// of homes.
#[derive(Debug, Default)]
pub(crate) struct LinkHome {
    pub(crate) columns: LinkColumns,
    lanes: FxHashMap<LaneId, LinkRows>,
    /// The first event of the window that completed a link too early.
    pub(crate) refused: Option<Refusal>,
    /// Completions of the window, and the shard of each.
    pending: Vec<(Completion, u8)>,
}

/// The rows of one lane.
#[derive(Debug, Default)]
struct LinkRows {
    rows: Rows,
    /// Start and end of the last link.
    last: Option<(f64, f64)>,
}

impl LinkHome {
    /// The rows of a lane, if it has any.
    pub(crate) fn rows(&self, lane: LaneId) -> Option<&Rows> {
        self.lanes.get(&lane).map(|lane| &lane.rows)
    }

    /// Takes over what a shard completed for this home.
    pub(crate) fn take(&mut self, completed: &mut Vec<Completion>, shard: usize) {
        self.pending.extend(completed.drain(..).map(|completion| (completion, shard as u8)));
    }

    /// Adds what was taken over to the rows of its lanes.
    pub(crate) fn merge(&mut self, extras: bool) {
        // Each lane of each shard is in order already, so this merges.
        self.pending.sort_by_key(|(completion, _)| completion.at);
        for (completion, shard) in self.pending.drain(..) {
            let lane = self.lanes.entry(completion.lane).or_default();
            let Completion { at, time, link, .. } = completion;
            if let Some((start, end)) = lane.last
                && (time < start || time < end)
                && self.refused.is_none()
            {
                let why = Refused::Earlier(start.max(end));
                self.refused = Some(Refusal { at, lane: completion.lane, time, why });
            }
            lane.last = Some((link.start, link.end));
            self.columns.push(&mut lane.rows, &link, usize::from(shard), extras);
        }
    }

    /// Gathers the filter of a strand of a lane of this home.
    pub(crate) fn gather(&self, shard: &mut Shard, number: usize, strand: u32) {
        let Shard { store, strands, .. } = shard;
        let strand = &mut strands[strand as usize];
        let completed = self.keys_of(strand.lane, number, &store.keys);
        if let Objects::Link(links) = &mut strand.objects {
            let open: Vec<u64> = links.open().map(|(_, key)| key).collect();
            let open = open.into_iter().map(|key| bare_key(store.keys.get(key)));
            links.filter.gather(completed.chain(open).map(hash_bytes));
        }
    }

    /// The keys, without quotes, of the completed links of a lane that are kept in one shard.
    pub(crate) fn keys_of<'s>(
        &'s self,
        lane: LaneId,
        shard: usize,
        keys: &'s Keys,
    ) -> impl Iterator<Item = &'s [u8]> {
        let chunks = self.lanes.get(&lane).into_iter().flat_map(|lane| lane.rows.chunks());
        let places = chunks.flat_map(|(at, count)| self.columns.key.slice(at, count));
        let ours = places.filter(move |place| place.shard() == shard);
        ours.map(|place| bare_key(keys.get(place.place())))
    }
}
