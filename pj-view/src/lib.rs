//! `pj_view`: shows Pajé traces of any size in the browser, and draws them.
//!
//! ```text
//! TRACE ──replay──▶ rows ──▶ pyramid ──┬──▶ tiles ──HTTP──▶ the page, in a browser
//!                                      ├──▶ a file with the page and its tiles (--html)
//!                                      └──▶ a drawing (--svg, --png)
//! ```
//!
//! [`view`] holds a trace and its summaries ([`pyramid`]). [`serve`] is the HTTP server, and
//! [`request`] checks requests. `explain` runs the analyses that the page draws over the rows. The folder `page` has the files that run in the browser.

mod answer;
mod best;
pub mod cli;
mod comm;
mod details;
mod explain;
mod fields;
mod find;
mod flame;
mod frame;
mod histogram;
mod hits;
mod html;
pub mod manual;
mod model;
mod open;
mod page;
mod picture;
#[cfg(feature = "png")]
mod png;
mod profile;
pub mod pyramid;
mod report;
pub mod request;
pub mod run;
pub mod serve;
mod svg;
mod tiles;
pub mod view;
