//! Memory for rows: columns in chunks that never move, their texts, and a file for rows beyond the memory limit.

mod arena;
mod chunks;
mod columns;
mod extras;
pub mod finished;
mod overflow;
mod pages;
mod room;
mod store;

pub use arena::{Arena, Place, set_small};
pub use chunks::{
    EventChunk, ExtraPair, KeyPlace, LinkChunk, NewLink, NewState, StateChunk, VariableChunk,
    key_places, push_key, push_link,
};
pub use columns::{Chunk, LARGEST, Rows, Width};
pub use extras::LineNumber;
pub use extras::{CreationExtras, Extras};
pub use overflow::Overflow;
pub use pages::{KeyHashes, KeyRoom, TextPages};
pub use room::{LinkRoom, Small, StateRoom, VariableRoom};
pub use store::{OpenRow, Store, Written};
