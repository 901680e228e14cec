//! Worker threads for replaying a trace: their number, their CPUs, the pool of them, and the loops that they share.
//!
//! [`Workers`] are as many threads as the process may use, or as were asked for, on the CPUs that a [`Pin`] says. What
//! flows in is work: for each worker ([`Workers::on_each`]), for each number ([`Workers::share_out`],
//! [`Workers::map`]), or job by job with the results in order ([`in_order()`]). Nothing is known of traces here.
//!
//! ```
//! use std::num::NonZeroUsize;
//! use std::sync::atomic::{AtomicUsize, Ordering};
//!
//! use paje_workers::{Pin, Workers};
//!
//! let workers = Workers::new(NonZeroUsize::new(3), &Pin::None)?;
//! let sum = workers.run(|| {
//!     let sum = AtomicUsize::new(0);
//!     workers.on_each(|worker| {
//!         sum.fetch_add(worker, Ordering::Relaxed);
//!     });
//!     sum.into_inner()
//! });
//! assert_eq!(sum, 0 + 1 + 2);
//! # Ok::<(), paje_workers::Error>(())
//! ```

use std::sync::{Mutex, PoisonError};

mod cpulist;
mod in_order;
pub mod pin;
pub mod placement;
pub mod pool;
mod queue;
mod sync;
pub mod topology;

pub use in_order::in_order;
pub use pin::{ParsePinError, Pin};
pub use placement::{Placement, PlacementError, placement};
pub use pool::{Error, Workers, allowed, available};
pub use topology::{Cpu, Missing, Topology};

/// Contents of a mutex that nobody else can have at the time.
pub fn exclusive<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}
