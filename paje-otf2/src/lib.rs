//! Archives of the Open Trace Format 2, which Score-P, EZTrace and TAU write.
//!
//! [`Archive`] reads the definitions of an archive, and the events of its locations one by one. The
//! records are data in [`table`]. [`Trace`] is the archive as a Pajé trace, piece by piece. [`writer`]
//! writes archives.

pub mod anchor;
mod archive;
mod bytes;
mod chunks;
mod columns;
mod definitions;
mod enumerations;
mod error;
mod events;
mod fields;
mod header;
mod lines;
mod maps;
mod messages;
mod model;
mod paje;
mod ranks;
mod record;
mod scan;
pub mod table;
mod text;
mod trace;
pub mod writer;

pub use anchor::Anchor;
pub use archive::{Archive, Opener, Place, open_regular};
pub use bytes::{Cursor, Damage, Order};
pub use definitions::{Definition, Definitions};
pub use enumerations::Enumeration;
pub use error::Error;
pub use events::{End, Event, Events};
pub use ranks::Ranks;
pub use record::{Entry, UNDEFINED, Values};
pub use trace::Trace;
