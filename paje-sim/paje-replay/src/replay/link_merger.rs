use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::lanes::refusal::{Refusal, Refusals, Refused};
use crate::replay::completion::Completion;
use crate::replay::link_ranges::{LanePart, RangePart, ordered};
use crate::replay::shard::Shard;
use crate::replay::strand::Objects;
use paje_model::memory::{
    Arena, KeyPlace, LinkChunk, LinkRoom, Overflow, Rows, TextPages, key_places, push_key,
    push_link,
};
use paje_model::names::ids::LaneId;

/// Rows of some link lanes, merged from their strands in order of completion. Lane `n` belongs to
/// merger `n` modulo the number of mergers.
#[derive(Debug, Default)]
pub struct LinkMerger {
    pub(crate) arena: Arena,
    lanes: FxHashMap<LaneId, LinkRows>,
    /// First event of the wave that completed a link earlier than the lane's previous link.
    pub(crate) refused: Option<Refusal>,
    /// All such events, if the replay continues after errors.
    pub(crate) refusals: Option<Refusals>,
    /// Completed links of the wave, with one list for each shard that handed over links. Each list is in the order of
    /// blocks.
    pending: Vec<Vec<Completion>>,
    merged: Vec<Completion>,
    /// Empty vectors, kept for their capacity.
    spare: Vec<Vec<Completion>>,
}

#[derive(Debug, Default)]
struct LinkRows {
    rows: Rows,
    kept: Kept,
    last: Option<(f64, f64)>,
}

impl LinkRows {
    /// Adds links to the last chunk until it is full or a link is too early. Returns the number of added links.
    #[inline(always)]
    fn add_in_room(&mut self, arena: &mut Arena, completed: &[Completion]) -> usize {
        if self.kept != Kept::All {
            return 0;
        }
        let Some(mut room) = LinkRoom::of(&mut self.rows, arena) else { return 0 };
        let mut not_before = self.last.map_or(f64::NEG_INFINITY, |(start, end)| start.max(end));
        let mut add = |Completion { time, link, .. }: &Completion| {
            let added = *time >= not_before && room.push(link);
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

/// Largest number of runs that are merged link by link. More runs are sorted instead.
const FEW: usize = 16;

fn merge_runs(runs: &mut [&[Completion]], all: &mut Vec<Completion>) {
    let next = |run: &[Completion]| run.first().map_or(u64::MAX, |completion| completion.at);
    all.reserve(runs.iter().map(|run| run.len()).sum());
    loop {
        // `first` is the run with the next link, at `at`. `limit` is the next link of all other runs.
        let (mut first, mut at, mut limit) = (0, u64::MAX, u64::MAX);
        for (number, run) in runs.iter().enumerate() {
            match next(run) {
                earlier if earlier < at => (first, at, limit) = (number, earlier, at),
                later => limit = limit.min(later),
            }
        }
        if at == u64::MAX {
            return;
        }
        let count = runs[first].iter().take_while(|completion| completion.at <= limit).count();
        let (now, later) = runs[first].split_at(count);
        all.extend_from_slice(now);
        runs[first] = later;
    }
}

fn note_earlier(known: &mut Option<Refusal>, refusal: Refusal) {
    if known.as_ref().is_none_or(|known| refusal.at < known.at) {
        *known = Some(refusal);
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kept {
    #[default]
    All,
    /// Only the places of the keys are kept.
    Keys,
    Nothing,
}

impl LinkMerger {
    pub fn new(overflow: Option<Arc<Overflow>>, recovers: bool) -> Self {
        let refusals = recovers.then(Refusals::default);
        LinkMerger { arena: Arena::new(overflow), refusals, ..LinkMerger::default() }
    }

    pub fn take_rows(&mut self) -> impl Iterator<Item = (LaneId, Rows)> + '_ {
        let kept = self.lanes.iter_mut().filter(|(_, lane)| lane.kept == Kept::All);
        kept.map(|(id, lane)| (*id, std::mem::take(&mut lane.rows)))
    }

    /// Tells the merger to drop the rows of a new lane and, if `forgets` is true, its keys too.
    pub fn keep_no_rows(&mut self, lane: LaneId, forgets: bool) {
        let kept = if forgets { Kept::Nothing } else { Kept::Keys };
        self.lanes.insert(lane, LinkRows { kept, ..LinkRows::default() });
    }

    pub fn take(&mut self, completed: &mut Vec<Completion>) {
        if !completed.is_empty() {
            let room = self.spare.pop().unwrap_or_default();
            self.pending.push(std::mem::replace(completed, room));
        }
    }

    pub fn pending(&self) -> usize {
        self.pending.iter().map(Vec::len).sum()
    }

    /// Sorts the pending links by their completing events. The links of a lane in a shard are sorted already, and most
    /// mergers have only one lane.
    fn put_in_order(&mut self) {
        let are_in_order = |a: &Completion, b: &Completion| a.at <= b.at;
        let all = &mut self.merged;
        all.clear();
        if self.pending.len() <= FEW
            && self.pending.iter().all(|run| run.is_sorted_by(are_in_order))
        {
            if let [one] = &mut self.pending[..] {
                std::mem::swap(all, one);
            } else {
                let mut runs: Vec<&[Completion]> = self.pending.iter().map(Vec::as_slice).collect();
                merge_runs(&mut runs, all);
            }
        } else {
            self.pending.iter_mut().for_each(|run| all.append(run));
            all.sort_by_key(|completion| completion.at);
        }
        self.clear_pending();
    }

    fn clear_pending(&mut self) {
        self.spare.extend(self.pending.drain(..).map(|mut run| {
            run.clear();
            run
        }));
    }

    /// Sorts the pending links of these blocks and stores them as chunks in a new arena.
    /// User-defined fields must not be kept.
    pub fn range(
        &self,
        blocks: impl Iterator<Item = Range<u64>> + Clone,
        overflow: Option<Arc<Overflow>>,
    ) -> RangePart {
        let links = ordered(&self.pending, blocks);
        let is_large = |lane: LaneId| {
            let rows = self.lanes.get(&lane).filter(|lane| lane.kept == Kept::All);
            rows.is_some_and(|lane| lane.rows.is_large(&self.arena))
        };
        RangePart::new(links, is_large, overflow)
    }

    pub fn append(&mut self, parts: impl Iterator<Item = RangePart>) {
        for RangePart { arena, lanes } in parts {
            let before = self.arena.take_over(arena);
            for part in lanes {
                match part {
                    LanePart::Single(links) => self.add(&links, false),
                    LanePart::Chunks { lane: id, first, late, last, chunks } => {
                        let lane = self.lanes.entry(id).or_default();
                        let first = first.is_before(lane.last).map(|last| first.refused(last));
                        if let Some(late) = first.or(late) {
                            note_earlier(&mut self.refused, late);
                        }
                        for chunk in chunks {
                            lane.rows.take_over(&mut self.arena, chunk, before);
                        }
                        lane.last = Some(last);
                    }
                }
            }
        }
        self.clear_pending();
    }

    #[inline(never)]
    pub fn merge(&mut self, extras: bool) {
        self.put_in_order();
        let merged = std::mem::take(&mut self.merged);
        self.add(&merged, extras);
        self.merged = merged;
    }

    fn add(&mut self, completed: &[Completion], extras: bool) {
        let (arena, refused) = (&mut self.arena, &mut self.refused);
        // Most links of a lane are adjacent.
        for of_lane in completed.chunk_by(|a, b| a.lane == b.lane) {
            let Some(Completion { lane: id, .. }) = of_lane.first() else { continue };
            let lane = self.lanes.entry(*id).or_default();
            let mut rest = of_lane;
            loop {
                if !extras {
                    rest = &rest[lane.add_in_room(arena, rest)..];
                }
                let Some((completion, after)) = rest.split_first() else { break };
                rest = after;
                let Completion { at, time, lane: id, link } = *completion;
                if let Some(last) = completion.is_before(lane.last) {
                    match &mut self.refusals {
                        None => note_earlier(refused, completion.refused(last)),
                        Some(all) => {
                            let why = Refused::LateLink(last);
                            all.add(Refusal { at, lane: id, time, why }, 1);
                        }
                    }
                }
                lane.last = Some((link.start, link.end));
                match lane.kept {
                    Kept::All => push_link(arena, &mut lane.rows, &link, extras),
                    Kept::Keys => {
                        push_key(arena, &mut lane.rows, link.key);
                    }
                    Kept::Nothing => {}
                }
            }
        }
    }

    pub fn gather(&self, shard: &mut Shard, number: usize, strand: u32) {
        let Shard { store, strands, .. } = shard;
        let strand = &mut strands[strand as usize];
        let completed = self.keys_of(strand.lane, number, &store.keys).map(KeyPlace::place);
        if let Objects::Link(links) = &mut strand.objects {
            let open: Vec<u64> = links.open().map(|(_, key)| key.place()).collect();
            let keys = completed.chain(open);
            let mut hash = store.keys.hashes();
            links.filter.gather(keys.map(|key| hash.of(key)));
        }
    }

    /// Returns the places of the keys of a lane's completed links, for one shard.
    pub fn keys_of<'a>(
        &'a self,
        lane: LaneId,
        shard: usize,
        keys: &'a TextPages,
    ) -> impl Iterator<Item = KeyPlace> + 'a {
        let chunks = self.key_chunks(lane, 0).inspect(|_| keys.relieve());
        chunks.flatten().filter(move |place| place.shard() == shard)
    }

    /// Returns the places of the keys of a lane's completed links, chunk by chunk, from chunk
    /// `first` on.
    pub fn key_chunks(
        &self,
        lane: LaneId,
        first: usize,
    ) -> impl Iterator<Item = impl Iterator<Item = KeyPlace> + '_> + '_ {
        let lane = self.lanes.get(&lane);
        let chunks = lane.into_iter().flat_map(move |lane| {
            let kept = lane.kept;
            lane.rows.chunks_from(&self.arena, first).map(move |chunk| (chunk, kept))
        });
        chunks.map(|(chunk, kept)| {
            self.arena.relieve();
            let column = if kept == Kept::All { LinkChunk::key(&chunk) } else { 0 };
            key_places(&self.arena, &chunk, column)
        })
    }

    pub fn chunk_count(&self, lane: LaneId) -> usize {
        let lane = self.lanes.get(&lane);
        lane.map_or(0, |lane| lane.rows.chunks_from(&self.arena, 0).count())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use paje_model::memory::{ExtraPair, NewLink};
    use paje_model::names::ids::{ContainerId, ValueId};

    fn completion(at: u64, time: f64, start: f64, end: f64) -> Completion {
        let (from, to) = (ContainerId::ROOT, ContainerId::ROOT);
        let (key, extra) = (KeyPlace::new(0, 0, 0), ExtraPair::default());
        let link = NewLink { start, end, value: ValueId(0), from, to, key, extra };
        Completion { at, time, lane: LaneId(0), link }
    }

    /// A link is late if it completes before the start or the end of the lane's previous link.
    #[test]
    fn late_links_are_refused() {
        /// Time of completion, start and end of each link.
        type Links = &'static [(f64, f64, f64)];
        /// Late links, with the time before which they complete.
        type Late = &'static [(u64, f64)];
        let cases: [(Links, Late); 5] = [
            (&[(2.0, 2.0, 1.0), (2.0, 1.0, 2.0), (2.0, 2.0, 2.0), (3.0, 0.0, 3.0)], &[]),
            (&[(5.0, 1.0, 5.0), (4.0, 3.0, 4.0)], &[(1, 5.0)]),
            (&[(5.0, 5.0, 1.0), (4.0, 4.0, 3.0)], &[(1, 5.0)]),
            (&[(1.0, 0.0, 1.0), (5.0, 1.0, 5.0), (6.0, 2.0, 6.0), (5.0, 3.0, 5.0)], &[(3, 6.0)]),
            (
                &[(5.0, 1.0, 5.0), (3.0, 1.0, 3.0), (4.0, 1.0, 4.0), (2.0, 1.0, 2.0)],
                &[(1, 5.0), (3, 4.0)],
            ),
        ];
        // The lane has links already, so that its last chunk has room for more.
        const FIRST: u64 = 100;
        for (links, late) in cases {
            let new = links.iter().zip(FIRST..);
            let new = new.map(|((time, start, end), at)| completion(at, *time, *start, *end));
            let old = (0..FIRST).map(|at| completion(at, 0.0, 0.0, 0.0));
            let links: Vec<Completion> = old.chain(new).collect();
            // All links at once, and one by one.
            for (wave, extras) in [(links.len(), false), (links.len(), true), (1, false)] {
                let (mut strict, mut recovering) =
                    (LinkMerger::default(), LinkMerger::new(None, true));
                for links in links.chunks(wave) {
                    for home in [&mut strict, &mut recovering] {
                        home.take(&mut links.to_vec());
                        home.merge(extras);
                    }
                }
                let first = late.first().map(|(at, last)| (FIRST + at, *last));
                let refused = strict.refused.map(|refused| (refused.at, refused.why));
                let wanted = first.map(|(at, last)| (at, Refused::Earlier(last)));
                assert_eq!(format!("{refused:?}"), format!("{wanted:?}"));
                let refusals = recovering.refusals.expect("kept").first.into_iter().flatten();
                let refused = refusals.map(|(refused, count)| (refused.at, refused.why, count));
                let wanted =
                    first.map(|(at, last)| (at, Refused::LateLink(last), late.len() as u64));
                assert_eq!(
                    format!("{:?}", refused.collect::<Vec<_>>()),
                    format!("{:?}", Vec::from_iter(wanted))
                );
            }
        }
    }

    proptest! {
        #[test]
        fn completions_are_put_in_order(
            waves in proptest::collection::vec(
                (proptest::collection::vec(0..25usize, 0..300), any::<bool>()), 1..4),
        ) {
            let mut home = LinkMerger::default();
            for (shard_of, is_backward) in waves {
                let mut shards = vec![Vec::new(); 25];
                for (at, shard) in (0..).zip(&shard_of) {
                    shards[*shard].push(completion(at, 0.0, 0.0, 0.0));
                }
                if is_backward {
                    shards[0].reverse();
                }
                for shard in &mut shards {
                    home.take(shard);
                    prop_assert!(shard.is_empty());
                }
                home.put_in_order();
                let order = home.merged.iter().map(|completion| completion.at);
                prop_assert!(order.eq(0..shard_of.len() as u64));
            }
        }
    }
}
