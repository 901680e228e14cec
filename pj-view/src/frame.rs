//! Margins of a drawing, and the level of its bins.

use paje_sim::TimeRange;

use crate::pyramid::Clock;

pub(crate) const GUTTER: f64 = 150.0;

pub(crate) const MARGIN: f64 = 8.0;

/// Returns the level whose bins are about two pixels wide.
pub(crate) fn level(clock: Clock, window: TimeRange, width: f64) -> u32 {
    clock.level((window.to - window.from) / (width - GUTTER - MARGIN) * 2.0)
}
