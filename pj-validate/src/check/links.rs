//! Links of a lane: pairs of ends with the same key.

use paje_parser::LinkEnd;

use super::place::Place;
use super::stop::Map;

#[derive(Debug, Default)]
pub(crate) struct LinkLane {
    /// Open link by key. `None` stands for a complete link, whose key stays in use.
    pub(crate) keys: Map<Box<[u8]>, Option<Box<OpenLink>>>,
    pub(crate) open: u64,
}

#[derive(Debug)]
pub(crate) struct OpenLink {
    pub(crate) end: LinkEnd,
    pub(crate) time: f64,
    pub(crate) value: u32,
    pub(crate) place: Place,
}
