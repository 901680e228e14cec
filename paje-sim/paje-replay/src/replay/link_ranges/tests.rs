use proptest::prelude::*;
use testkit::Rng;

use super::*;
use crate::lanes::refusal::Refused;
use crate::replay::link_merger::LinkMerger;
use paje_model::memory::{ExtraPair, KeyPlace, NewLink, key_places};
use paje_model::names::ids::{ContainerId, ValueId};

const SHARDS: usize = 7;

#[derive(Clone, Copy)]
struct Kind {
    /// On average, one link in `late` is late. 0 for none.
    late: u64,
    values: u32,
    /// Largest number of links in half of the blocks.
    links: u64,
}

impl Kind {
    fn new(random: &mut Rng, late: u64) -> Self {
        Kind { late, values: random.pick(&[100, 1000]), links: random.pick(&[1000, 6000]) }
    }
}

struct Made {
    links: Vec<Completion>,
    blocks: Vec<Range<u64>>,
}

/// Creates a random wave that begins at byte `at`.
fn made(random: &mut Rng, mut at: u64, kind: Kind) -> Made {
    let mut wave = Made { links: Vec::new(), blocks: Vec::new() };
    for _ in 0..=random.below(5) {
        let start = at;
        // Some blocks have no links, and now and then a line is very long.
        let links = random.below(3) * random.below(kind.links);
        for _ in 0..links {
            let lane = LaneId(if random.below(4) == 0 { random.below(3) as u32 } else { 0 });
            wave.links.push(completion(at, lane, random, kind));
            at += LINE + random.below(9);
        }
        at += if random.below(8) == 0 { 5 << 20 } else { random.below(2) * random.below(500) };
        wave.blocks.push(start..at);
    }
    wave
}

fn completion(at: u64, lane: LaneId, random: &mut Rng, kind: Kind) -> Completion {
    let Kind { late, values, .. } = kind;
    // The offset of the line identifies the link.
    let key = KeyPlace::new(random.below(SHARDS as u64) as u8, at, 0);
    let end = at as f64;
    let time = if late > 0 && random.below(late) == 0 { -1.0 } else { end };
    let value = ValueId(if random.below(9000) == 0 { 1 << 20 } else { at as u32 % values });
    let (from, to) = (ContainerId::ROOT, ContainerId::ROOT);
    let extra = ExtraPair::default();
    let link = NewLink { start: end - 1.0, end, value, from, to, key, extra };
    Completion { at, time, lane, link }
}

/// Returns the links of each shard: block by block, and lane by lane within a block.
fn by_shards(wave: &Made) -> Vec<Vec<Completion>> {
    let mut runs = vec![Vec::new(); SHARDS];
    for block in &wave.blocks {
        let of_block = wave.links.iter().filter(|link| block.contains(&link.at));
        let mut of_block: Vec<&Completion> = of_block.collect();
        of_block.sort_by_key(|link| std::cmp::Reverse(link.lane));
        for link in of_block {
            runs[link.link.key.shard()].push(*link);
        }
    }
    runs
}

type LaneLinks = Vec<(u64, f64, u32)>;

fn rows(home: &mut LinkMerger) -> Vec<(LaneId, LaneLinks)> {
    let lanes: Vec<(LaneId, Rows)> = home.take_rows().collect();
    let arena = &home.arena;
    let mut lanes: Vec<_> = lanes
        .into_iter()
        .map(|(lane, rows)| {
            let of_chunk = |chunk| {
                let keys = key_places(arena, &chunk, LinkChunk::key(&chunk)).map(KeyPlace::place);
                let starts = arena.words(chunk.place, 0, chunk.count());
                let values = chunk.place.after(LinkChunk::small(&chunk, 0));
                let value = move |index| arena.small_at(values, chunk.width, index);
                let rows = keys.enumerate();
                rows.map(move |(index, at)| (at, f64::from_bits(starts[index]), value(index)))
            };
            (lane, rows.chunks_from(arena, 0).flat_map(of_chunk).collect())
        })
        .collect();
    lanes.sort_by_key(|(lane, _)| *lane);
    lanes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn ranges_are_in_the_order_of_lines(seed: u64, begin in 0..1_u64 << 39) {
        let mut random = Rng::new(seed);
        let kind = Kind::new(&mut random, 0);
        let wave = made(&mut random, begin, kind);
        let runs = by_shards(&wave);
        let first = random.below(wave.blocks.len() as u64) as usize;
        for end in first..=wave.blocks.len() {
            let blocks = &wave.blocks[first..end];
            let found = ordered(&runs, blocks.iter().cloned());
            let inside = |link: &&Completion| blocks.iter().any(|block| block.contains(&link.at));
            let mut sorted: Vec<&Completion> = runs.iter().flatten().filter(inside).collect();
            sorted.sort_by_key(|link| link.at);
            prop_assert!(found.iter().map(|link| link.at).eq(sorted.iter().map(|link| link.at)));
        }
    }

    /// Any number of ranges gives the same links of each lane, and refuses the same event.
    #[test]
    fn ranges_make_the_rows_of_one_worker(seed: u64, late in prop_oneof![Just(0), Just(5000), Just(3)]) {
        let mut random = Rng::new(seed);
        let kind = Kind::new(&mut random, late);
        let (mut whole, mut ranged) = (LinkMerger::default(), LinkMerger::default());
        let (mut begin, mut links) = (0, 0);
        for _ in 0..4 {
            let wave = made(&mut random, begin, kind);
            begin = wave.blocks.last().map_or(begin, |block| block.end);
            links += wave.links.len();
            for (whole_run, run) in by_shards(&wave).iter_mut().zip(&mut by_shards(&wave)) {
                whole.take(whole_run);
                ranged.take(run);
            }
            prop_assert_eq!(ranged.pending(), wave.links.len());
            let size = 1 + random.below(wave.blocks.len() as u64) as usize;
            let ranges = wave.blocks.chunks(size);
            let parts = ranges.map(|blocks| ranged.range(blocks.iter().cloned(), None));
            let parts: Vec<RangePart> = parts.collect();
            ranged.append(parts.into_iter());
            whole.merge(false);
            prop_assert_eq!(ranged.pending(), 0);
            let refused = |home: &mut LinkMerger| {
                home.refused.take().map(|refused| format!("{refused:?}"))
            };
            prop_assert_eq!(refused(&mut ranged), refused(&mut whole));
        }
        let (whole, ranged) = (rows(&mut whole), rows(&mut ranged));
        prop_assert_eq!(whole.iter().map(|(_, rows)| rows.len()).sum::<usize>(), links);
        prop_assert!(ranged == whole);
    }
}

#[test]
fn links_after_a_range_follow_its_last_link() {
    let (mut home, mut random) = (LinkMerger::default(), Rng::new(0));
    let mut end = 0;
    // The first wave makes the lane large, so that the links of the second wave become chunks. The third wave is late.
    for (links, late) in [(FEW, 0), (FEW, 0), (1, 1)] {
        assert!(home.refused.is_none());
        let kind = Kind { late, values: 1, links: 0 };
        let begin = end;
        let mut run = Vec::new();
        for _ in 0..links {
            run.push(completion(end, LaneId(0), &mut random, kind));
            end += LINE;
        }
        home.take(&mut run);
        let part = home.range(std::iter::once(begin..end), None);
        home.append(std::iter::once(part));
    }
    let last = (end - 2 * LINE) as f64;
    let why = home.refused.map(|refused| format!("{:?}", refused.why));
    assert_eq!(why, Some(format!("{:?}", Refused::Earlier(last))));
}

/// Blocks with very many lines are sorted in another way.
#[test]
fn blocks_of_any_size_are_in_the_order_of_lines() {
    let most = MOST_SLOTS as u64 * LINE;
    for size in [LINE, 64 * LINE, 65 * LINE, most - LINE, most, most + LINE, 2 * most] {
        for other in [LINE, most] {
            let blocks = [0..other, other..other + size];
            let ends = blocks.iter().flat_map(|block| [block.end - LINE, block.start]);
            let (mut random, kind) = (Rng::new(size), Kind { late: 0, values: 1, links: 0 });
            let links = ends.map(|at| completion(at, LaneId(0), &mut random, kind));
            let mut links: Vec<Completion> = links.collect();
            links.dedup_by_key(|link| link.at);
            let found = ordered(std::slice::from_ref(&links), blocks.iter().cloned());
            let mut all: Vec<u64> = links.iter().map(|link| link.at).collect();
            all.sort_unstable();
            assert!(found.iter().map(|link| link.at).eq(all), "{blocks:?}");
        }
    }
}
