//! Pictures of what a trace says, as SVG, and pages that hold them.
//!
//! A picture is made of plain numbers and names: [`Bars`], [`Strips`] over time, a [`Matrix`] from each to each, a
//! [`Graph`] of who has to do with whom, a [`Density`] map on a grid, and the [`Quadrant`] of what time is spent on.
//! Each becomes a [`Picture`], which is a file by itself or a part of a [`Page`]. Both load nothing from anywhere,
//! and are dark where their reader is. Names are those of strangers: nothing in them is taken for markup.

mod bars;
pub mod colours;
mod density;
mod graph;
mod matrix;
pub mod numbers;
mod page;
mod quadrant;
mod strips;
mod svg;
mod text;

pub use bars::{Bar, Bars};
pub use colours::{Colour, Colours};
pub use density::Density;
pub use graph::{Edge, Graph};
pub use matrix::Matrix;
pub use page::{Cell, Page, PageTable, Section};
pub use quadrant::Quadrant;
pub use strips::{Fill, Strip, Strips};
pub use svg::{Picture, tenth};
pub use text::{escaped, natural, shortened};
