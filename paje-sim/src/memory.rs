//! Rows in memory: columns in chunks that never move, their texts, and a file for what exceeds the memory limit.

mod arena;
mod chunks;
mod columns;
mod extras;
mod overflow;
mod pages;
mod room;
mod store;

pub(crate) use arena::{Arena, Place, set_small};
pub(crate) use chunks::{
    EventChunk, ExtraPair, KeyPlace, LinkChunk, NewLink, NewState, StateChunk, VariableChunk,
    key_places, push_key, push_link,
};
pub(crate) use columns::{Chunk, LARGEST, Rows, Width};
pub use extras::LineNumber;
pub(crate) use extras::{CreationExtras, Extras};
pub(crate) use overflow::Overflow;
pub(crate) use pages::{KeyHashes, KeyRoom, TextPages};
pub(crate) use room::{LinkRoom, Small, StateRoom, VariableRoom};
pub(crate) use store::{OpenRow, Store, Written};
