//! Tools that the tests of all crates share; a development dependency only.
//!
//! They make traces ([`definitions`]), damage ([`damage`]) and compress them ([`pack`]), make folders of
//! files ([`folder`]), run programs in them ([`Sandbox`], [`fed`], [`ended`], [`signal`]), also by cases in a text file
//! ([`check_sessions`], [`check_cases`]), find PajeNG's programs ([`pajeng`]), and read which modules of a crate import
//! one another ([`House`]).
//!
//! Nothing here knows the rules of the format: code under test cannot make its own test pass. A tool that fails panics.

mod cases;
mod damage;
mod disk;
mod floors;
mod folders;
mod pack;
pub mod pajeng;
mod program;
mod random;
mod recorded;
mod sandbox;
pub mod signal;

pub use cases::{check_cases, check_sessions};
pub use damage::damage;
pub use datasets::{Rng, definitions};
pub use disk::on_small_disk;
pub use floors::House;
pub use folders::{folder, names, pipe, read};
pub use pack::{COMPRESSIONS, pack};
pub use program::{ended, failing, failing_input, fed, outcome, said};
pub use random::number;
pub use recorded::assert_recorded;
pub use sandbox::Sandbox;

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
