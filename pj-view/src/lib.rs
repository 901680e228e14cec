//! `pj_view`: a Pajé trace of any size in the browser, and its pictures for papers.
//!
//! ```text
//! TRACE ──replay──▶ rows ──▶ pyramid ──┬──▶ tiles ──HTTP──▶ the page, in a browser
//!                                      ├──▶ one file that holds the page and its tiles (--html)
//!                                      └──▶ a drawing (--svg, --png)
//! ```
//!
//! [`view`] is a trace and its summaries, and what is asked of them. [`serve`] lets a browser ask, and nobody
//! else: [`request`] says which requests are answered. `page` has what runs in the browser.

mod answer;
pub mod cli;
mod color;
mod details;
mod find;
mod frame;
mod html;
pub mod manual;
mod model;
mod open;
mod page;
mod picture;
#[cfg(feature = "png")]
mod png;
mod profile;
mod report;
pub mod request;
pub mod run;
pub mod serve;
mod svg;
mod tiles;
pub mod view;
