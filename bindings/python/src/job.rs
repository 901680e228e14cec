//! Runs work without Python's lock, so that Ctrl-C can interrupt it.
//!
//! Python runs signal handlers in its main thread, and only when that thread checks for signals. So
//! the work runs in another thread while the calling thread checks for signals, reads file objects
//! and calls progress functions.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

const TICK: Duration = Duration::from_millis(20);

/// Maximum time to wait for work that was asked to stop. Work that takes longer, such as a sort or
/// a read from an idle pipe, ends later, and its result is dropped.
const GRACE: Duration = Duration::from_millis(500);

pub(crate) enum Request {
    /// Read a number of bytes from the file object.
    Read(usize, Sender<PyBackedBytes>),
}

/// Tasks of the calling thread while the main work runs.
pub(crate) trait Caller {
    fn stop(&self);

    /// Reports progress. An error stops the work.
    fn look(&mut self, _: Python<'_>) -> PyResult<()> {
        Ok(())
    }

    /// Serves a request. An error stops the work.
    fn serve(&mut self, _: Python<'_>, _: Request) -> PyResult<()> {
        Ok(())
    }
}

/// Runs `work` in a new thread and returns its result. Propagates panics.
///
/// # Errors
/// An error of `caller` or a signal handler (`KeyboardInterrupt`). The work was asked to stop.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    caller: &mut impl Caller,
    work: impl FnOnce(Sender<Request>) -> T + Send + 'static,
) -> PyResult<T> {
    let (ask, mut asked) = mpsc::channel();
    let thread = thread::Builder::new().name("pajereplay".into()).spawn(move || {
        // Keeps the channel open until the work is done, even if it never sends a request.
        let _until_done = ask.clone();
        work(ask)
    })?;
    let failed = loop {
        // The channel disconnects when the work has ended.
        let looked = match wait(py, &mut asked, TICK) {
            Ok(request) => caller.serve(py, request),
            Err(RecvTimeoutError::Timeout) => py.check_signals().and_then(|()| caller.look(py)),
            Err(RecvTimeoutError::Disconnected) => break None,
        };
        if let Err(error) = looked {
            break Some(error);
        }
    };
    if let Some(error) = failed {
        caller.stop();
        let until = Instant::now() + GRACE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match wait(py, &mut asked, left) {
                // Dropping the sender refuses the request.
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Err(error),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let _ = py.detach(|| thread.join());
        return Err(error);
    }
    match py.detach(|| thread.join()) {
        Ok(result) => Ok(result),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn wait(
    py: Python<'_>,
    asked: &mut Receiver<Request>,
    time: Duration,
) -> Result<Request, RecvTimeoutError> {
    py.detach(move || asked.recv_timeout(time))
}
