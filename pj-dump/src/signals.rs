//! Handling of terminating signals.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use paje_console::signals::heeded;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;

pub(crate) fn ignore_large_files() {
    // If the handler cannot be registered, the signal ends the program.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// Delays terminating signals until it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    came: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl Held {
    /// Begins to delay signals. Signals that are ignored, as under `nohup`, stay ignored.
    pub(crate) fn new() -> Self {
        let (came, over) = (Arc::default(), Arc::default());
        for signal in heeded([SIGHUP, SIGINT, SIGTERM]) {
            // If the handler cannot be registered, the signal ends the program at once.
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
