//! Finds reused link keys. During the replay, a filter finds candidates. When a lane ends, all its links are compared
//! with the candidates.

mod search;

use paje_workers::{Workers, exclusive};

use self::search::{Search, Tags};
use super::{Lanes, own};
use crate::lanes::links::{ReuseCandidate, bare_key};
use crate::replay::completion::merger_of;
use crate::replay::link_merger::LinkMerger;
use crate::replay::places::StrandPlace;
use crate::replay::shard::Shard;
use crate::replay::strand::Objects;
use paje_model::memory::{KeyHashes, KeyPlace};
use paje_model::names::ids::LaneId;

/// Number of chunks of a lane's links in one unit of work.
const PIECE: usize = 32;

/// Smallest number of units for which other workers are woken.
const MANY_PIECES: usize = 2;

/// Number of strands that are searched together. Each search takes some memory.
const TOGETHER: usize = 64;

struct OfLane<'l> {
    lane: LaneId,
    home: &'l LinkMerger,
    strands: Vec<(usize, &'l Shard, StrandPlace)>,
}

impl Lanes {
    /// Returns the first link of these lanes whose key was used before, its key, and the number of such links.
    pub fn first_reused(
        &mut self,
        lanes: impl Iterator<Item = LaneId>,
        workers: &Workers,
    ) -> Option<(ReuseCandidate, Vec<u8>, u64)> {
        if !*self.has_reuse_candidates.get_mut() {
            return None;
        }
        let shards: Vec<&Shard> = self.shards.iter_mut().map(|shard| &*exclusive(shard)).collect();
        let homes: Vec<&LinkMerger> = self.homes.iter_mut().map(|home| &*own(home)).collect();
        let mut first = None;
        let mut together: Vec<OfLane<'_>> = Vec::new();
        let mut strands = 0;
        let mut lanes = lanes.peekable();
        while let Some(lane) = lanes.next() {
            let of_lane = self.places.of(lane).iter().map(|place| {
                let number = place.shard as usize;
                (number, shards[number], *place)
            });
            let has_candidates = |(_, shard, place): &(usize, &Shard, StrandPlace)| {
                !shard.strands[place.local as usize].reuse_candidates().is_empty()
            };
            let of_lane: Vec<_> = of_lane.filter(has_candidates).collect();
            if !of_lane.is_empty() {
                strands += of_lane.len();
                let home = homes[merger_of(lane, homes.len())];
                together.push(OfLane { lane, home, strands: of_lane });
            }
            if strands >= TOGETHER || lanes.peek().is_none() && strands > 0 {
                first = earlier(first, first_of(&together, workers));
                together.clear();
                strands = 0;
            }
        }
        first
    }
}

fn earlier<K>(
    one: Option<(ReuseCandidate, K, u64)>,
    other: Option<(ReuseCandidate, K, u64)>,
) -> Option<(ReuseCandidate, K, u64)> {
    let both = one.into_iter().chain(other);
    both.reduce(|one, other| {
        let count = one.2 + other.2;
        let (candidate, key, _) = if other.0.at < one.0.at { other } else { one };
        (candidate, key, count)
    })
}

fn first_of(lanes: &[OfLane<'_>], workers: &Workers) -> Option<(ReuseCandidate, Vec<u8>, u64)> {
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    for (number, lane) in lanes.iter().enumerate() {
        let chunks = lane.home.chunk_count(lane.lane);
        pieces.extend((0..chunks).step_by(PIECE).map(|first| (number, first)));
    }
    let alone = Workers::one();
    let workers = if pieces.len() < MANY_PIECES { &alone } else { workers };
    let strands = lanes.iter().enumerate().flat_map(|(number, lane)| {
        lane.strands.iter().map(move |(shard, of, place)| (number, *shard, *of, *place))
    });
    let strands: Vec<(usize, usize, &Shard, StrandPlace)> = strands.collect();
    let searches: Vec<Search<'_>> = workers.map(strands.len(), |index| {
        let (_, _, shard, place) = strands[index];
        let candidates = shard.strands[place.local as usize].reuse_candidates();
        Search::new(candidates, &shard.store.keys)
    });
    // The tags of the lane's candidates. Only a small part of the links passes this test.
    let tags_of =
        |lane: &OfLane<'_>| {
            let strands = lane.strands.iter();
            Tags::of(strands.flat_map(|(_, shard, place)| {
                shard.strands[place.local as usize].reuse_candidates()
            }))
        };
    let tags: Vec<Tags> = lanes.iter().map(tags_of).collect();
    workers.share_out(pieces.len(), |_, index| {
        let (number, first) = pieces[index];
        let of_lane = || strands.iter().zip(&searches).filter(|(strand, _)| strand.0 == number);
        // Indexed by shard, because each shard has at most one strand of a lane.
        let mut of_shard: Vec<Option<(&Search<'_>, KeyHashes<'_>)>> = Vec::new();
        of_shard.resize_with(1 << u8::BITS, || None);
        for ((_, shard, ..), search) in of_lane() {
            of_shard[*shard] = Some((search, search.keys().hashes()));
        }
        let mut look = |key: KeyPlace| {
            if let Some((search, hash)) = &mut of_shard[key.shard()] {
                search.look(key, hash);
            }
        };
        let (OfLane { lane, home, .. }, tags) = (&lanes[number], &tags[number]);
        for keys in home.key_chunks(*lane, first).take(PIECE) {
            keys.filter(|key| tags.has(key.tag())).for_each(&mut look);
            of_lane().for_each(|(_, search)| search.keys().relieve());
        }
        if first > 0 {
            return;
        }
        for ((_, _, shard, place), search) in of_lane() {
            let Objects::Link(links) = &shard.strands[place.local as usize].objects else {
                continue;
            };
            let mut hash = search.keys().hashes();
            links.open().for_each(|(_, key)| search.look(key, &mut hash));
        }
    });
    let found = workers.map(searches.len(), |index| {
        let (first, count) = searches[index].first()?;
        Some((first, searches[index].keys(), count))
    });
    let found = found.into_iter().map(|found| {
        let (first, keys, count) = found?;
        Some((first.clone(), keys, count))
    });
    let (candidate, keys, count) = found.fold(None, earlier)?;
    let key = bare_key(keys.get(candidate.key)).to_vec();
    Some((candidate, key, count))
}
