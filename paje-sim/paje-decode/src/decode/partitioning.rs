use paje_parser::TypeNature;

/// Assigns lanes to shards, which workers replay at the same time. A lane is replayed as one strand. A lane of links
/// can be a quarter of a trace, so its links are divided into several strands by the hashes of their keys. The text of
/// a lane determines its shard, so that all decoders agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitioning {
    pub shards: u32,
    /// Number of strands of a link lane, a power of two.
    pub(crate) per_link_lane: u32,
}

impl Partitioning {
    /// Largest number of shards. A shard number fits in a byte.
    pub const MOST_SHARDS: u32 = 256;
    pub const MOST_PARTS: u32 = 64;
    /// From this number of workers on, a link lane has more strands than there are workers.
    const MANY: u32 = 8;
    const PER_WORKER: u32 = 8;

    pub fn for_workers(workers: usize) -> Self {
        let workers = workers.min(Partitioning::MOST_SHARDS as usize) as u32;
        // If the numbers of strands and workers were equal, a strand that shares its shard with another long lane would
        // delay all other strands.
        let links = if workers >= Partitioning::MANY { 2 } else { 1 };
        match workers {
            0 | 1 => Partitioning { shards: 1, per_link_lane: 1 },
            _ => Partitioning {
                shards: (workers * Partitioning::PER_WORKER).min(Partitioning::MOST_SHARDS),
                per_link_lane: (workers * links).next_power_of_two().min(Partitioning::MOST_PARTS),
            },
        }
    }

    /// Returns the number of workers for which the lanes are partitioned. It is smaller than the actual number of
    /// workers if there are not enough shards for all of them.
    pub const fn workers(self) -> u32 {
        self.shards.div_ceil(Partitioning::PER_WORKER)
    }

    pub const fn of(self, nature: TypeNature) -> u32 {
        if matches!(nature, TypeNature::Link) { self.per_link_lane } else { 1 }
    }

    /// Returns the shard of a strand of the lane whose texts have this hash.
    pub const fn shard(self, lane_hash: u64, part: u32) -> u8 {
        (((lane_hash >> 32) as u32).wrapping_add(part) % self.shards) as u8
    }

    #[inline]
    pub const fn part(self, key_hash: u64) -> u32 {
        // These bits are not used by the strand's own table.
        (key_hash >> 52) as u32 & (self.per_link_lane - 1)
    }
}
