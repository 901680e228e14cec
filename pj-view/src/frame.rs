//! Room around the lanes of a drawing, and the level that what is left asks for.

use paje_pyramid::Clock;
use paje_sim::TimeRange;

/// Greatest width of the names of containers, in pixels.
pub(crate) const GUTTER: f64 = 150.0;

/// Room above, below and behind lanes, in pixels.
pub(crate) const MARGIN: f64 = 8.0;

/// The level that a drawing of this width needs where rows are many: of two pixels.
pub(crate) fn level(clock: Clock, window: TimeRange, width: f64) -> u32 {
    clock.level((window.to - window.from) / (width - GUTTER - MARGIN) * 2.0)
}
