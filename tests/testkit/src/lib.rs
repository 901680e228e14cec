//! The tools of tests, for all crates: a development dependency, and never more.
//!
//! In flow the few lines that a test is about; out flow whole traces ([`definitions`], [`lively`]), damaged ones ([`damage`])
//! and compressed ones ([`pack`]), folders of them ([`folder`]), and what a program makes of them
//! ([`outcome`], [`fed`], [`ended`], [`signal`]). PajeNG's programs are found here, too ([`pajeng`]), and who replays
//! beside one another ([`teams`]), and what the modules of a crate import from one another ([`House`]).
//!
//! Nothing here knows the format's rules: what is tested cannot make its own test pass. A tool that fails panics,
//! since its test cannot go on.

mod damage;
mod disk;
mod floors;
mod folders;
mod lively;
mod pack;
pub mod pajeng;
mod program;
mod random;
mod recorded;
#[cfg(unix)]
pub mod signal;
mod world;

pub use damage::damage;
pub use disk::on_small_disk;
pub use floors::House;
pub use folders::{folder, names, pipe, read};
pub use lively::{WORLD, lively};
pub use pack::{COMPRESSIONS, pack};
pub use program::{ended, fed, outcome, said};
pub use random::{Dice, SplitMix, number};
pub use recorded::assert_recorded;
pub use world::definitions;

use std::num::NonZeroUsize;

use paje_workers::{Pin, Workers};

/// Teams of one worker, two, and so on up to `N`.
pub fn teams<const N: usize>() -> [Workers; N] {
    std::array::from_fn(|index| team(index + 1))
}

/// So many workers, wherever the system puts them.
pub fn team(threads: usize) -> Workers {
    Workers::new(NonZeroUsize::new(threads), &Pin::None).expect("a few threads can be started")
}
