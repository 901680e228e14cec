//! Many cores, without having them: the tasks of a replay are recorded while its workers take turns, and a scheduler
//! replays them on as many workers side by side.
//!
//! With p workers, a replay has other tasks than with one: p decoders that learn all names, more shards. So each number of
//! workers has a recording of its own, by one thread, and of each task the shortest time of several recordings counts.
//! Times are those of the processor, so that others on the machine do no harm. To each round comes the time to wake all workers, as it
//! is where there are CPUs. The start of threads is left out.
//!
//! One core's caches have the work of all p workers in a recording, and push out what each of p cores would have near. So what a
//! shard's replay and a block's decoding look at is looked at before, and only then is the task timed; what that took is noted beside
//! ([`Task::fetch`](paje_sim::tasks::Task::fetch)). Memory can have a limit, in bytes a second, that all cores share
//! ([`schedule::Memory`]).
//!
//! A foretold time can be checked where there are as many CPUs. These may share more than memory, so how replays by one thread each
//! slow one another down is measured by itself; with that, and with what is fetched of others' work, the time of the
//! replay by these CPUs is foretold ([`study::Here`]).

pub mod graph;
pub mod schedule;
pub mod study;

pub use graph::Graph;
pub use schedule::Memory;
pub use study::{Simulated, simulate};
