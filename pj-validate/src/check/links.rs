//! The links of a lane: two ends with one key.

use paje_parser::LinkEnd;

use super::place::Place;
use super::stop::Map;

/// The links of one type that belong to one container.
#[derive(Debug, Default)]
pub(crate) struct LinkLane {
    /// `None` stands for a complete link: its key stays taken.
    pub(crate) keys: Map<Box<[u8]>, Option<Box<OpenLink>>>,
    pub(crate) open: u64,
}

/// A link that lacks an end.
#[derive(Debug)]
pub(crate) struct OpenLink {
    pub(crate) end: LinkEnd,
    pub(crate) time: f64,
    pub(crate) value: u32,
    pub(crate) place: Place,
}
