//! Keys that were used before: all links of the lanes where some may have been are looked at, once.

use std::sync::PoisonError;

use paje_workers::{Workers, exclusive};

use super::Lanes;
use crate::lanes::links::{Search, Suspect, Tags, bare_key};
use crate::memory::{KeyHashes, KeyPlace};
use crate::names::ids::LaneId;
use crate::replay::completion::home_of;
use crate::replay::link_homes::LinkHome;
use crate::replay::places::StrandPlace;
use crate::replay::shard::Shard;
use crate::replay::strand::Objects;

/// Chunks of a lane's links that a worker looks at at a time.
const PIECE: usize = 32;

/// Fewer pieces in all are looked at by one worker: to wake others takes longer.
const MANY_PIECES: usize = 2;

/// Partitioning whose suspects are looked for together: each needs some memory for that.
const TOGETHER: usize = 64;

/// The links of a lane, and its strands that have suspects.
struct Suspected<'l> {
    lane: LaneId,
    home: &'l LinkHome,
    strands: Vec<(usize, &'l Shard, StrandPlace)>,
}

impl Lanes {
    /// The first link of these lanes whose key was used before, the key, and how many such links there are.
    pub(crate) fn first_reused(
        &mut self,
        lanes: impl Iterator<Item = LaneId>,
        workers: &Workers,
    ) -> Option<(Suspect, Vec<u8>, u64)> {
        if !self.suspected {
            return None;
        }
        let shards: Vec<&Shard> = self.shards.iter_mut().map(|shard| &*exclusive(shard)).collect();
        let homes = self.homes.iter_mut();
        let homes: Vec<&LinkHome> =
            homes.map(|home| &*home.get_mut().unwrap_or_else(PoisonError::into_inner)).collect();
        let mut first = None;
        let mut together: Vec<Suspected<'_>> = Vec::new();
        let mut strands = 0;
        let mut lanes = lanes.peekable();
        while let Some(lane) = lanes.next() {
            let of_lane = self.places.of(lane).iter().map(|place| {
                let number = place.shard as usize;
                (number, shards[number], *place)
            });
            let has_suspects = |(_, shard, place): &(usize, &Shard, StrandPlace)| {
                !shard.strands[place.local as usize].suspects().is_empty()
            };
            let suspected: Vec<_> = of_lane.filter(has_suspects).collect();
            if !suspected.is_empty() {
                strands += suspected.len();
                let home = homes[home_of(lane, homes.len())];
                together.push(Suspected { lane, home, strands: suspected });
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

/// The earlier one of two links, and how many there are.
fn earlier<K>(
    one: Option<(Suspect, K, u64)>,
    other: Option<(Suspect, K, u64)>,
) -> Option<(Suspect, K, u64)> {
    let both = one.into_iter().chain(other);
    both.reduce(|one, other| {
        let count = one.2 + other.2;
        let (suspect, key, _) = if other.0.at < one.0.at { other } else { one };
        (suspect, key, count)
    })
}

/// The same as [`Lanes::first_reused`], of these lanes.
fn first_of(lanes: &[Suspected<'_>], workers: &Workers) -> Option<(Suspect, Vec<u8>, u64)> {
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
        let suspects = shard.strands[place.local as usize].suspects();
        Search::new(suspects, &shard.store.keys)
    });
    // Of all strands of a lane: which strand a link is of is then asked of few.
    let tags_of = |lane: &Suspected<'_>| {
        let strands = lane.strands.iter();
        Tags::of(
            strands.flat_map(|(_, shard, place)| shard.strands[place.local as usize].suspects()),
        )
    };
    let tags: Vec<Tags> = lanes.iter().map(tags_of).collect();
    workers.share_out(pieces.len(), |_, index| {
        let (number, first) = pieces[index];
        let of_lane = || strands.iter().zip(&searches).filter(|(strand, _)| strand.0 == number);
        // By shards, of which each has one strand of a lane at most.
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
        let (Suspected { lane, home, .. }, tags) = (&lanes[number], &tags[number]);
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
    let (suspect, keys, count) = found.fold(None, earlier)?;
    let key = bare_key(keys.get(suspect.key)).to_vec();
    Some((suspect, key, count))
}
