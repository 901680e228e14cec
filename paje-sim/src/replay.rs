//! The replay of lanes: strands of them in shards, side by side, and the rows of links in their homes.

mod completion;
pub(crate) mod cuts;
pub(crate) mod lanes;
pub(crate) mod link_homes;
mod link_ranges;
pub(crate) mod maps;
mod places;
pub(crate) mod shard;
mod slice;
pub(crate) mod strand;
pub(crate) mod strand_pages;
mod unwanted;
