//! Spread of lanes over workers.

use paje_parser::TypeNature;

/// Spread of lanes over shards, by which several workers replay them at the same time. A lane
/// is replayed as one strand; a lane of links as several, by the hashes of their keys, for it can be
/// a quarter of a trace. The text of a lane decides on the shard, so that all decoders agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partitioning {
    pub(crate) shards: u32,
    /// Strands of a link lane; a power of two.
    pub(crate) per_link_lane: u32,
}

impl Partitioning {
    /// So many that they can be numbered in a byte.
    pub(crate) const MOST_SHARDS: u32 = 256;
    pub(crate) const MOST_PARTS: u32 = 64;
    /// From so many workers on, a lane of links has more strands than there are workers.
    const MANY: u32 = 8;
    const PER_WORKER: u32 = 8;

    /// Spread of lanes for so many workers.
    pub(crate) fn for_workers(workers: usize) -> Self {
        let workers = workers.min(Partitioning::MOST_SHARDS as usize) as u32;
        // Where there are as many as workers, one in whose shard there is another long lane keeps all others waiting.
        let links = if workers >= Partitioning::MANY { 2 } else { 1 };
        match workers {
            0 | 1 => Partitioning { shards: 1, per_link_lane: 1 },
            _ => Partitioning {
                shards: (workers * Partitioning::PER_WORKER).min(Partitioning::MOST_SHARDS),
                per_link_lane: (workers * links).next_power_of_two().min(Partitioning::MOST_PARTS),
            },
        }
    }

    /// Number of workers that it is for; fewer where these have fewer shards each.
    pub(crate) const fn workers(self) -> u32 {
        self.shards.div_ceil(Partitioning::PER_WORKER)
    }

    /// Number of strands of a lane.
    pub(crate) const fn of(self, nature: TypeNature) -> u32 {
        if matches!(nature, TypeNature::Link) { self.per_link_lane } else { 1 }
    }

    /// The shard of a strand of the lane whose texts have this hash.
    pub(crate) const fn shard(self, lane_hash: u64, part: u32) -> u8 {
        (((lane_hash >> 32) as u32).wrapping_add(part) % self.shards) as u8
    }

    /// Number, in its lane, of the strand that a link is in.
    #[inline]
    pub(crate) const fn part(self, key_hash: u64) -> u32 {
        // Other bits than those that find the key in its strand's table.
        (key_hash >> 52) as u32 & (self.per_link_lane - 1)
    }
}
