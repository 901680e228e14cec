//! What the program prints.

pub mod containers;
pub mod export;
pub mod header;
pub mod hierarchy;
pub mod intervals;
pub(crate) mod names;
pub(crate) mod prefix;
mod printed;
pub mod rows;
pub mod stream;
#[cfg(feature = "tables")]
pub(crate) mod tables;
pub(crate) mod together;
pub mod types;

use paje_sim::TimeRange;

pub use console::Quotes;

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// How names are printed.
    pub quotes: Quotes,
    /// Digits after the decimal point.
    pub precision: usize,
    /// Rows that PajeNG's releases lose are left out.
    pub as_released: bool,
    /// Rows that are over before this time, in seconds, are left out.
    pub from: f64,
    /// Rows that begin after this time, in seconds, are left out.
    pub to: f64,
}

impl Style {
    /// All rows, as they are printed without options.
    pub const DEFAULT: Style = Style {
        quotes: Quotes::Auto,
        precision: 6,
        as_released: false,
        from: f64::NEG_INFINITY,
        to: f64::INFINITY,
    };

    /// Tells whether a row from `start` to `end` is wanted.
    #[must_use]
    pub fn wants(&self, start: f64, end: f64) -> bool {
        TimeRange { from: self.from, to: self.to }.overlaps(start, end)
    }

    /// Tells whether all rows are wanted.
    #[must_use]
    pub fn wants_all(&self) -> bool {
        self.from == f64::NEG_INFINITY && self.to == f64::INFINITY
    }
}
