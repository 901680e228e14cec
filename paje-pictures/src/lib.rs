//! SVG pictures, and HTML pages of pictures and tables.
//!
//! Pictures are drawn from plain numbers and names: [`Bars`], [`Strips`] over time, a [`Matrix`], a
//! [`Graph`], a [`Density`] map, and the [`Quadrant`] of four kinds of time. Each becomes a
//! [`Picture`], which is a file or part of a [`Page`]. Pictures and pages load nothing else, and
//! follow the reader's light or dark mode. Names are untrusted and always escaped.

mod bars;
pub mod colours;
mod curves;
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
pub use colours::{Colour, Colours, ValueColours};
pub use curves::{Curve, Curves};
pub use density::Density;
pub use graph::{Edge, Graph};
pub use matrix::Matrix;
pub use page::{Cell, Page, PageTable, Section};
pub use quadrant::Quadrant;
pub use strips::{Fill, Strip, Strips};
pub use svg::{Picture, tenth};
pub use text::{escaped, natural, shortened};
