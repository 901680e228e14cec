use paje_sim::{ContainerId, TypeId};

use crate::rows::Row;

/// Differences between two traces: how many there are of each kind, and the first few.
#[derive(Clone, Debug, Default)]
pub struct Differences {
    /// Number of types that exist in only one trace, including the types below them, plus the
    /// number of link types whose end types differ.
    pub types: u64,
    /// Number of containers that exist in only one trace, including their descendants, plus the
    /// number of containers whose times differ.
    pub containers: u64,
    /// Number of lanes (of one type in one container) with differing rows.
    pub lanes: u64,
    /// Number of rows that differ from the row with the same index in the other trace's lane, or
    /// that have no counterpart.
    pub rows: u64,
    pub(crate) first: Vec<Difference>,
}

impl Differences {
    /// Returns whether the traces are equal.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.types == 0 && self.containers == 0 && self.rows == 0
    }
}

/// A difference. Sides are numbered 0 and 1, like the two traces.
#[derive(Clone, Debug)]
pub(crate) enum Difference {
    Type { side: usize, id: TypeId },
    LinkEnds([TypeId; 2]),
    Container { side: usize, id: ContainerId },
    Times([ContainerId; 2]),
    Row { containers: [ContainerId; 2], types: [TypeId; 2], rows: [Option<LaneRow>; 2] },
}

#[derive(Clone, Debug)]
pub(crate) struct LaneRow {
    pub(crate) row: Row,
    pub(crate) key: Vec<u8>,
}
