//! Many cores, without having them: the tasks of a replay are recorded while its workers take turns, and a scheduler
//! replays them on as many workers side by side.
//!
//! With p workers, a replay has other tasks than with one: p decoders that learn all names, more shards. So each number of
//! workers has a recording of its own, by one thread, and of each task the shortest time of several recordings counts.
//! Times are those of the processor, so that others on the machine do no harm. To each round comes the time to wake all workers, as it
//! is where there are CPUs. The start of threads is left out, and that cores share caches. Memory can have a limit, in bytes a
//! second, that all cores share ([`schedule::Memory`]).

pub mod graph;
pub mod schedule;
pub mod study;

pub use graph::Graph;
pub use schedule::Memory;
pub use study::{Simulated, simulate};
