//! Prints reports while a trace is read, every second and on an interrupt.

use std::io::{self, IsTerminal, Write};
use std::process::exit;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use paje_console::Failure;
use paje_console::output::standard_output;
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;

/// Interval between reports that are shown. `KEPT` is the interval between reports that are kept in
/// case of an interrupt.
const SHOWN: Duration = Duration::from_secs(1);
const KEPT: Duration = Duration::from_millis(100);

/// Exit status after an interrupt. A shell reports the same status.
const INTERRUPTED: i32 = 130;

const CLEAR: &str = "\x1b[H\x1b[2J";

#[derive(Debug)]
pub(crate) struct Live {
    /// The latest report, which is printed on an interrupt.
    last: Arc<Mutex<Vec<u8>>>,
    is_shown: bool,
    shown: Instant,
    /// Time at which the next report is made.
    next: Instant,
}

impl Live {
    pub(crate) fn new(for_people: bool) -> Result<Self, Failure> {
        let last: Arc<Mutex<Vec<u8>>> = Arc::default();
        let at_interrupt = Arc::clone(&last);
        let mut signals =
            Signals::new([SIGINT]).map_err(|error| Failure::Other(error.to_string()))?;
        thread::spawn(move || {
            if signals.forever().next().is_some() {
                let last = at_interrupt.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = standard_output().and_then(|mut out| out.write_all(&last));
                exit(INTERRUPTED);
            }
        });
        let now = Instant::now();
        Ok(Live { last, is_shown: for_people, shown: now, next: now + KEPT })
    }

    /// Makes the next report with `write` if it is due, and shows it if the next display is due
    /// too. Waits for slow readers.
    pub(crate) fn report(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        let now = Instant::now();
        if now < self.next {
            return Ok(());
        }
        let mut text = Vec::new();
        write(&mut text)?;
        // If reports take long, they are made less often, so that most of the time is left for
        // reading the trace.
        self.next = Instant::now() + KEPT.max(20 * now.elapsed());
        if self.is_shown && now - self.shown >= SHOWN {
            let mut out = standard_output()?;
            match io::stdout().is_terminal() {
                true => out.write_all(CLEAR.as_bytes())?,
                false => text.push(b'\n'),
            }
            out.write_all(&text)?;
            self.shown = Instant::now();
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = text;
        Ok(())
    }

    pub(crate) fn clear(&self) -> io::Result<()> {
        match self.is_shown && io::stdout().is_terminal() {
            true => standard_output()?.write_all(CLEAR.as_bytes()),
            false => Ok(()),
        }
    }
}
