//! The rows of link lanes, merged from their strands in order of completion.

use rustc_hash::FxHashMap;

use crate::lanes::refusal::{Refusal, Refusals, Refused};
use crate::memory::{
    Arena, KeyPlace, LinkChunk, LinkRoom, Rows, Supply, TextPages, key_places, push_key, push_link,
};
use crate::names::ids::LaneId;
use crate::replay::completion::Completion;
use crate::replay::shard::Shard;
use crate::replay::strand::Objects;

/// The rows of some link lanes: those whose numbers leave the home's own when divided by the number
/// of homes.
#[derive(Debug, Default)]
pub(crate) struct LinkHome {
    pub(crate) arena: Arena,
    lanes: FxHashMap<LaneId, LinkRows>,
    /// The first event of the wave that completed a link too early.
    pub(crate) refused: Option<Refusal>,
    /// All that did, if the replay goes on after them.
    pub(crate) refusals: Option<Refusals>,
    /// Completions of the wave.
    pending: Vec<Completion>,
}

/// The rows of one lane.
#[derive(Debug, Default)]
struct LinkRows {
    rows: Rows,
    kept: Kept,
    /// Start and end of the last link.
    last: Option<(f64, f64)>,
}

impl LinkRows {
    /// Adds links as long as there is room in the last chunk, and none of them is too early; returns how many.
    #[inline(always)]
    fn add_in_room(&mut self, arena: &mut Arena, completed: &[Completion]) -> usize {
        if self.kept != Kept::All {
            return 0;
        }
        let Some(mut room) = LinkRoom::of(&mut self.rows, arena) else { return 0 };
        let mut not_before = self.last.map_or(f64::NEG_INFINITY, |(start, end)| start.max(end));
        let mut add = |Completion { time, link, shard, .. }: &Completion| {
            let added = *time >= not_before && room.push(link, usize::from(*shard));
            if added {
                not_before = link.start.max(link.end);
            }
            added
        };
        let first = completed.iter().position(|completion| !add(completion));
        let added = first.unwrap_or(completed.len());
        if let Some(Completion { link, .. }) = completed[..added].last() {
            self.last = Some((link.start, link.end));
        }
        added
    }
}

/// Part of a lane's links that is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kept {
    #[default]
    All,
    /// No more than the places of their keys.
    Keys,
    Nothing,
}

impl LinkHome {
    pub(crate) fn new(supply: Supply, recovers: bool, listed: bool) -> Self {
        let refusals = recovers.then(|| Refusals::new(listed));
        LinkHome { arena: Arena::new(supply), refusals, ..LinkHome::default() }
    }

    /// The rows that are kept, lane by lane: the home has none then.
    pub(crate) fn take_rows(&mut self) -> impl Iterator<Item = (LaneId, Rows)> + '_ {
        let kept = self.lanes.iter_mut().filter(|(_, lane)| lane.kept == Kept::All);
        kept.map(|(id, lane)| (*id, std::mem::take(&mut lane.rows)))
    }

    /// Nobody wants the rows of this new lane; nor, if it `forgets`, its keys.
    pub(crate) fn keep_no_rows(&mut self, lane: LaneId, forgets: bool) {
        let kept = if forgets { Kept::Nothing } else { Kept::Keys };
        self.lanes.insert(lane, LinkRows { kept, ..LinkRows::default() });
    }

    /// Forgets all rows.
    pub(crate) fn start_afresh(&mut self) {
        self.arena = Arena::default();
        for lane in self.lanes.values_mut() {
            lane.rows = Rows::default();
        }
    }

    /// Takes over what a shard completed for this home.
    pub(crate) fn take(&mut self, completed: &mut Vec<Completion>) {
        match self.pending.is_empty() {
            true => std::mem::swap(&mut self.pending, completed),
            false => self.pending.append(completed),
        }
    }

    /// Adds what was taken over to the rows of its lanes.
    #[inline(never)]
    pub(crate) fn merge(&mut self, extras: bool) {
        // Each lane of each shard is in order already, so this merges.
        self.pending.sort_by_key(|completion| completion.at);
        let (arena, refused) = (&mut self.arena, &mut self.refused);
        // Links of one lane mostly come one after the other.
        for of_lane in self.pending.chunk_by(|a, b| a.lane == b.lane) {
            let Some(Completion { lane: id, .. }) = of_lane.first() else { continue };
            let lane = self.lanes.entry(*id).or_default();
            let mut rest = of_lane;
            loop {
                if !extras {
                    rest = &rest[lane.add_in_room(arena, rest)..];
                }
                let Some((completion, after)) = rest.split_first() else { break };
                rest = after;
                let Completion { at, time, link, shard, .. } = completion;
                let (at, time) = (*at, *time);
                if let Some((start, end)) = lane.last
                    && (time < start || time < end)
                    && refused.is_none()
                {
                    let (lane, last) = (*id, start.max(end));
                    match &mut self.refusals {
                        None => {
                            let why = Refused::Earlier(last);
                            *refused = Some(Refusal { at, lane, time, why });
                        }
                        Some(all) => {
                            all.add(Refusal { at, lane, time, why: Refused::LateLink(last) });
                        }
                    }
                }
                lane.last = Some((link.start, link.end));
                let shard = usize::from(*shard);
                match lane.kept {
                    Kept::All => push_link(arena, &mut lane.rows, link, shard, extras),
                    Kept::Keys => {
                        push_key(arena, &mut lane.rows, KeyPlace::new(shard, link.key));
                    }
                    Kept::Nothing => {}
                }
            }
        }
        self.pending.clear();
    }

    /// Gathers the filter of a strand of a lane of this home.
    pub(crate) fn gather(&self, shard: &mut Shard, number: usize, strand: u32) {
        let Shard { store, strands, .. } = shard;
        let strand = &mut strands[strand as usize];
        let completed = self.keys_of(strand.lane, number, &store.keys);
        if let Objects::Link(links) = &mut strand.objects {
            let open: Vec<u64> = links.open().map(|(_, key)| key).collect();
            let keys = completed.chain(open);
            let mut hash = store.keys.hashes();
            links.filter.gather(keys.map(|key| hash.of(key)));
        }
    }

    /// The places of the keys of the completed links of a lane that are kept in one shard, for who looks
    /// at all of them.
    pub(crate) fn keys_of<'a>(
        &'a self,
        lane: LaneId,
        shard: usize,
        keys: &'a TextPages,
    ) -> impl Iterator<Item = u64> + 'a {
        let lane = self.lanes.get(&lane);
        let chunks = lane.into_iter().flat_map(|lane| {
            let kept = lane.kept;
            lane.rows.chunks_from(&self.arena, 0).map(move |chunk| (chunk, kept))
        });
        let places = chunks.flat_map(|(chunk, kept)| {
            self.arena.relieve();
            keys.relieve();
            let column = if kept == Kept::All { LinkChunk::key(&chunk) } else { 0 };
            key_places(&self.arena, &chunk, column)
        });
        places.filter(move |place| place.shard() == shard).map(KeyPlace::place)
    }
}
