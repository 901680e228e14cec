//! The replay of lanes: strands of them in shards, side by side, and the rows of links in their homes.

mod check_only;
mod completion;
pub(crate) mod lanes;
pub(crate) mod link_merger;
mod link_ranges;
mod places;
pub(crate) mod repeated_destructions;
pub(crate) mod shard;
mod slice;
pub(crate) mod strand;
pub(crate) mod strand_pages;
pub(crate) mod symbol_map;
