//! Differences of two traces.

use paje_sim::{ContainerId, TypeId};

use crate::rows::Row;

/// The differences of two traces: how many there are, and the first ones.
#[derive(Clone, Debug, Default)]
pub struct Differences {
    /// Types that only one trace has, with all that belongs to them; and link types that lead from or to
    /// other types.
    pub types: u64,
    /// Containers that only one trace has, with all that is in them; and those whose times differ.
    pub containers: u64,
    /// Lanes, of one type in one container, that rows differ in.
    pub lanes: u64,
    /// Rows that differ from those at the same place of the other trace's lane, or have none there.
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

/// One of them. Sides are 0 and 1, as in pairs of ids.
#[derive(Clone, Debug)]
pub(crate) enum Difference {
    /// Only this side has the type.
    Type { side: usize, id: TypeId },
    /// Links of this type begin or end in other types.
    LinkEnds([TypeId; 2]),
    /// Only this side has the container.
    Container { side: usize, id: ContainerId },
    /// A container begins or ends at other times.
    Times([ContainerId; 2]),
    /// A row is not the same, or not on both sides.
    Row { containers: [ContainerId; 2], types: [TypeId; 2], rows: [Option<LaneRow>; 2] },
}

/// A row by itself.
#[derive(Clone, Debug)]
pub(crate) struct LaneRow {
    pub(crate) row: Row,
    /// Of a link, without quotes.
    pub(crate) key: Vec<u8>,
}
