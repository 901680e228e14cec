//! Rows in memory: columns in chunks that never move, the texts that hang on them, and a file for what memory has no
//! room for.

mod arena;
mod columns;
mod extras;
mod overflow;
mod store;

pub(crate) use arena::{Arena, Place, set_small};
pub(crate) use columns::{Chunk, Rows, Width};
pub use extras::LineNumber;
pub(crate) use extras::{CreationExtras, Extras};
pub(crate) use overflow::Overflow;
pub(crate) use store::{
    EventChunk, ExtraPair, KeyPlace, Keys, LinkChunk, NewLink, NewState, OpenRow, StateChunk,
    Store, VariableChunk, Written, key_places, push_key, push_link,
};
