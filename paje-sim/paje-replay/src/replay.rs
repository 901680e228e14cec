//! Replay of lanes in parallel: strands in shards, and the rows of links in mergers.

mod check_only;
mod completion;
pub mod lanes;
pub mod link_merger;
mod link_ranges;
mod places;
pub mod repeated_destructions;
pub mod shard;
mod slice;
pub mod strand;
pub mod strand_pages;
pub mod symbol_map;
