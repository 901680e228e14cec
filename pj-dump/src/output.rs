//! Output of the program.

pub mod containers;
pub mod export;
pub mod header;
pub mod hierarchy;
pub mod intervals;
pub(crate) mod names;
pub(crate) mod prefix;
mod printed;
mod row;
pub mod rows;
pub mod stream;
#[cfg(feature = "tables")]
pub(crate) mod tables;
pub(crate) mod together;
pub mod types;

use paje_sim::{LaneView, TimeRange};

pub use paje_console::Quotes;

/// Style of printed rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Quotes around printed names.
    pub quotes: Quotes,
    /// Digits after the decimal point.
    pub precision: usize,
    /// Whether to omit rows that PajeNG's releases lose.
    pub as_released: bool,
    /// Start of the window in seconds. Rows that end before it are omitted.
    pub from: f64,
    /// End of the window in seconds. Rows that begin after it are omitted.
    pub to: f64,
}

impl Style {
    /// The style without options, which prints all rows.
    pub const DEFAULT: Style = Style {
        quotes: Quotes::Auto,
        precision: 6,
        as_released: false,
        from: f64::NEG_INFINITY,
        to: f64::INFINITY,
    };

    /// Returns whether a row from `start` to `end` is printed.
    #[must_use]
    pub fn wants(&self, start: f64, end: f64) -> bool {
        TimeRange { from: self.from, to: self.to }.overlaps(start, end)
    }

    /// Returns whether all rows are printed.
    #[must_use]
    pub fn wants_all(&self) -> bool {
        self.from == f64::NEG_INFINITY && self.to == f64::INFINITY
    }
}

/// Returns how many of a lane's rows PajeNG's releases print. PajeNG 1.3.6 bisects for the first
/// row that starts at the end of the trace or later, and stops after this row.
pub(crate) fn released(lane: LaneView<'_>) -> u64 {
    let end = lane.trace().end();
    let (mut from, mut to) = (0, lane.len());
    while from < to {
        let middle = from + (to - from) / 2;
        if lane.start(middle) < end { from = middle + 1 } else { to = middle }
    }
    from + 1
}
