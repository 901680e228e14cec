//! Signals that tell the program to stop, and their handling.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use paje_console::signals::heeded;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;

/// A file that becomes larger than it may be is an error of the write from here on, and no signal.
pub(crate) fn ignore_large_files() {
    // A signal that cannot be had ends the program as before.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// Whoever tells the program to stop waits until this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    /// The signal that came meanwhile; 0 is none.
    came: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl Held {
    /// From here on, once in a run. Signals that are ignored, as under `nohup`, stay so.
    pub(crate) fn new() -> Self {
        let (came, over) = (Arc::default(), Arc::default());
        for signal in heeded([SIGHUP, SIGINT, SIGTERM]) {
            // A signal that cannot be had ends the program at once.
            let _ = flag::register_usize(signal, Arc::clone(&came), signal as usize)
                .and_then(|_| flag::register_conditional_default(signal, Arc::clone(&over)));
        }
        Held { came, over }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        if let Ok(signal @ 1..) = i32::try_from(self.came.load(Ordering::SeqCst)) {
            let _ = emulate_default_handler(signal);
        }
    }
}
