//! Summaries of a replayed trace at every scale: what a picture of it needs, and no more.
//!
//! A screen has a few thousand pixels, a lane may have millions of rows. So time is cut into bins, of each
//! power of two as wide as a tick of the [`Clock`], and a lane knows of its bins:
//!
//! - states: how long each value was there, for each imbrication ([`Bins`], amounts in ticks);
//! - events: how many there were of each value ([`Bins`], amounts are counts);
//! - links: how many began there, for each pair of containers ([`Bins`], amounts are counts);
//! - variables: least and greatest value, and the integral ([`Ranges`]).
//!
//! Ticks are integers, so that sums are exact: the bin of a level is the sum of the two below it, whatever
//! the number of threads. Levels that would take more than a quarter of what the rows take are not kept; a
//! question about them is answered from the rows, which are at hand: they are few in so narrow a bin.
//!
//! ```
//! use paje_pyramid::{Pyramid, Summary};
//! use paje_sim::{Options, Trace};
//! use paje_workers::Workers;
//!
//! let input: &[u8] = b"\
//! %EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
//! %EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
//! %EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
//! %EventDef PajeSetState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
//! 1 Host 0
//! 2 Power Host
//! 3 0 first Host 0
//! 4 1.5 Power first on
//! 4 3.0 Power first off
//! 4 4.0 Power first on
//! ";
//! let trace = Trace::read(input, &Options::default())?;
//! let pyramid = Pyramid::new(&trace, &Workers::one());
//! let lane = trace.lanes().next().expect("there is one");
//! let clock = pyramid.clock();
//! // Bins of a second: in the second of them, "on" for half of it.
//! let level = clock.level(1.0);
//! let Summary::States(bins) = pyramid.summary(lane, level, 0..4) else { panic!("it has states") };
//! let (on, off) = (bins.key(0), bins.key(1));
//! let of = |bin: usize| bins.bin(bin).amounts().map(|it| (it.key, clock.seconds(it.amount))).collect::<Vec<_>>();
//! assert_eq!((of(1), of(2), of(3)), (vec![(on, 0.5)], vec![(on, 1.0)], vec![(off, 1.0)]));
//! # Ok::<(), paje_sim::Error>(())
//! ```

mod bins;
mod clock;
mod count;
mod lane;
mod links;
mod profile;
mod pyramid;
mod ranges;
mod row;
mod tally;

pub use bins::{Amount, Bin, Bins, Key};
pub use clock::Clock;
pub use profile::Profile;
pub use pyramid::{Pyramid, Summary};
pub use ranges::{Range, Ranges};
pub use row::Row;
