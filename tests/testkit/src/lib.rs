//! Contains tools that the tests of all crates share. It is only a development dependency.
//!
//! They make traces ([`definitions`], [`ranks_head`]) and OTF2 archives ([`otf2`]), damage traces ([`damage`]) and
//! compress them ([`pack`]). They create folders with files ([`folder`]) and run programs there
//! ([`Sandbox`], [`fed`], [`ended`], [`signal`]), including the commands of cases in a text file
//! ([`check_sessions`], [`check_cases`]). They find PajeNG's programs ([`pajeng`]).
//!
//! The tools do not implement the rules of the format, so that the code under test cannot make its
//! own tests pass. A tool that fails panics.

mod cases;
mod damage;
mod disk;
mod folders;
mod heads;
pub mod otf2;
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
pub use folders::{folder, names, pipe, read};
pub use heads::ranks_head;
pub use pack::{COMPRESSIONS, pack, unpack_xz};
pub use program::{ended, failing, failing_input, fed, outcome, said};
pub use random::number;
pub use recorded::assert_recorded;
pub use sandbox::Sandbox;

use std::num::NonZeroUsize;

use paje_workers::{Pin, Workers};

/// Returns pools of 1 to `N` workers.
pub fn teams<const N: usize>() -> [Workers; N] {
    std::array::from_fn(|index| team(index + 1))
}

/// Starts workers without pinning them.
pub fn team(threads: usize) -> Workers {
    Workers::new(NonZeroUsize::new(threads), &Pin::None).expect("a few threads can be started")
}
