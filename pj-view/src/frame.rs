//! Margins of a drawing, and the level of its bins.

use paje_sim::TimeRange;

use crate::pyramid::Clock;

/// Width of the names of containers, in pixels.
pub(crate) const GUTTER: f64 = 150.0;

/// Margin above, below and right of lanes, in pixels.
pub(crate) const MARGIN: f64 = 8.0;

/// Returns the level whose bins are about two pixels wide.
pub(crate) fn level(clock: Clock, window: TimeRange, width: f64) -> u32 {
    clock.level((window.to - window.from) / (width - GUTTER - MARGIN) * 2.0)
}
