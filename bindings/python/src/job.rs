//! Work without Python's lock, which Ctrl-C ends.
//!
//! Python runs the handlers of signals in its main thread, and only where that thread looks. So the work is
//! done by another one, and the thread that called looks now and then; it also reads file objects, which
//! belong to the thread that has them, and calls whoever is told of progress.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

/// From one look at signals to the next.
const TICK: Duration = Duration::from_millis(20);

/// Longest wait for work that was told to stop. Work that takes longer (a read of a pipe that nobody
/// writes to, a sort) ends by itself, and nobody has its result.
const GRACE: Duration = Duration::from_millis(500);

/// Request of the work to the thread that called.
pub(crate) enum Request {
    /// So many bytes of the file object, or nothing if it fails.
    Read(usize, Sender<PyBackedBytes>),
}

/// Duties of the thread that called, meanwhile.
pub(crate) trait Caller {
    /// Tells the work to stop.
    fn stop(&self);

    /// Looks how far the work is. An error ends it.
    fn look(&mut self, _: Python<'_>) -> PyResult<()> {
        Ok(())
    }

    /// Does what the work asks for. An error ends it.
    fn serve(&mut self, _: Python<'_>, _: Request) -> PyResult<()> {
        Ok(())
    }
}

/// The result of `work`, which runs in a thread of its own. Where it panics, this does.
///
/// # Errors
/// That of `caller`, or of the handler of a signal (`KeyboardInterrupt`); the work has been told to stop.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    caller: &mut impl Caller,
    work: impl FnOnce(Sender<Request>) -> T + Send + 'static,
) -> PyResult<T> {
    let (ask, mut asked) = mpsc::channel();
    let thread = thread::Builder::new().name("pajereplay".into()).spawn(move || {
        // Work that asks for nothing lets go of its end at once, and is not done by then.
        let _until_done = ask.clone();
        work(ask)
    })?;
    let failed = loop {
        // Who asks is gone when the work is done, in whatever way.
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
                // Its answer is dropped, which tells that there is none.
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
