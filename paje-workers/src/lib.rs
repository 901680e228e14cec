//! A pool of worker threads, their CPUs, and parallel loops.
//!
//! [`Workers`] are threads, pinned according to [`Pin`]. By default, there is one worker for each
//! CPU that the process may use. A closure can run once on each worker ([`Workers::on_each`]), once
//! for each number of a range ([`Workers::share_out`], [`Workers::map`]), or once for each job,
//! with results in order ([`in_order()`]).
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

mod in_order;
mod pin;
mod placement;
pub mod pool;
mod queue;
mod sync;
pub mod topology;

pub use in_order::in_order;
pub use pin::{ParsePinError, Pin};
pub use placement::PlacementError;
pub use pool::{Error, Workers, allowed, available};
pub use topology::{Cpu, Topology};

/// Returns the contents of a mutex without locking it.
pub fn exclusive<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}
