//! Packed traces, whose segments several threads unpack at the same time.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use paje_pack::{Error, ErrorKind, Packed, Reader, Window};

/// Unpacked text that waits: who reads does not look farther ahead than this.
const AHEAD: u64 = 1 << 20;

/// Text of segments that are unpacked at the same time, unless it is one alone.
const MOST: u64 = 256 << 20;

/// A segment that nobody has read yet.
enum Slot {
    /// Somebody unpacks it.
    Busy,
    Done(Result<Vec<u8>, Error>),
}

struct State {
    next: Box<dyn FnMut() -> Result<Option<Packed>, Error> + Send>,
    slots: VecDeque<Slot>,
    /// Number of segments that have left the slots.
    given: u64,
    /// Bytes of the segments in the slots.
    bytes: u64,
    /// There is no segment after those.
    ended: bool,
}

struct Shared {
    state: Mutex<State>,
    done: Condvar,
}

/// A segment that was taken on. Dropped before it is unpacked, it has failed.
struct Job<'s> {
    shared: &'s Shared,
    number: u64,
    packed: Option<Packed>,
    text: Option<Result<Vec<u8>, Error>>,
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        let lost = || {
            let kind = ErrorKind::Io(io::Error::other("a segment could not be unpacked"));
            Err(Error { at: 0, kind })
        };
        let text = self.text.take().unwrap_or_else(lost);
        let mut state = self.shared.lock();
        let place = (self.number - state.given) as usize;
        if let Some(slot) = state.slots.get_mut(place) {
            *slot = Slot::Done(text);
        }
        drop(state);
        self.shared.done.notify_all();
    }
}

impl Job<'_> {
    fn run(mut self) {
        self.text = self.packed.take().map(|packed| packed.unpack());
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next segment on, if there is one.
    fn take_on<'s>(&'s self, state: &mut State) -> Option<Job<'s>> {
        match (state.next)() {
            Ok(Some(packed)) => {
                let number = state.given + state.slots.len() as u64;
                state.slots.push_back(Slot::Busy);
                state.bytes += packed.text_len();
                Some(Job { shared: self, number, packed: Some(packed), text: None })
            }
            Ok(None) => {
                state.ended = true;
                None
            }
            Err(error) => {
                state.ended = true;
                state.slots.push_back(Slot::Done(Err(error)));
                None
            }
        }
    }
}

/// The text of a packed trace.
pub(super) struct PackedText {
    shared: Arc<Shared>,
    text: Vec<u8>,
    given: usize,
    /// Text that comes when all segments have been read.
    after: Vec<u8>,
}

impl PackedText {
    pub(super) fn new(medium: impl Read + Send + 'static) -> PackedText {
        PackedText::between(Vec::new(), Reader::new(medium), Vec::new())
    }

    /// The text of a window of time.
    pub(super) fn within(window: Window<impl Read + Send + 'static>) -> PackedText {
        PackedText::between(window.before, window.segments, window.after)
    }

    fn between(
        before: Vec<u8>,
        mut reader: Reader<impl Read + Send + 'static>,
        after: Vec<u8>,
    ) -> PackedText {
        let state = State {
            next: Box::new(move || reader.next_segment()),
            slots: VecDeque::new(),
            given: 0,
            bytes: 0,
            ended: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), done: Condvar::new() });
        PackedText { shared, text: before, given: 0, after }
    }

    pub(super) fn unpacking(&self) -> Unpacking {
        Unpacking(Arc::clone(&self.shared))
    }

    /// The text of the next segment; none at the end.
    fn next_text(&self) -> Result<Option<Vec<u8>>, Error> {
        let mut state = self.shared.lock();
        loop {
            match state.slots.front() {
                Some(Slot::Done(_)) => {
                    state.given += 1;
                    let Some(Slot::Done(text)) = state.slots.pop_front() else { continue };
                    match &text {
                        Ok(text) => state.bytes -= text.len() as u64,
                        // Nothing is read behind damage.
                        Err(_) => {
                            state.ended = true;
                            state.slots.clear();
                        }
                    }
                    return text.map(Some);
                }
                Some(Slot::Busy) => {
                    state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                None if state.ended => return Ok(None),
                None => {
                    let job = self.shared.take_on(&mut state);
                    drop(state);
                    if let Some(job) = job {
                        job.run();
                    }
                    state = self.shared.lock();
                }
            }
        }
    }
}

impl Read for PackedText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while self.given == self.text.len() {
            (self.text, self.given) = (Vec::new(), 0);
            self.text = match self.next_text()? {
                Some(text) => text,
                None if self.after.is_empty() => return Ok(0),
                None => std::mem::take(&mut self.after),
            };
        }
        let left = &self.text[self.given..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.given += count;
        Ok(count)
    }
}

/// The unpacking of a packed trace, at which threads can help that wait for their turn to read it.
#[derive(Clone)]
pub struct Unpacking(Arc<Shared>);

impl fmt::Debug for Unpacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unpacking")
    }
}

impl Unpacking {
    /// Unpacks the next segment, if little text is ready and fewer than `threads` segments wait or are being
    /// unpacked: who reads the [`Input`](crate::Input) will find it; `false` if there is nothing to do. Whoever calls this may not keep
    /// others from reading.
    pub fn help(&self, threads: usize) -> bool {
        let mut state = self.0.lock();
        let ready = |slot: &Slot| match slot {
            Slot::Done(Ok(text)) => text.len() as u64,
            _ => 0,
        };
        let is_enough = state.ended
            || state.slots.len() >= threads
            || state.bytes >= MOST
            || state.slots.iter().map(ready).sum::<u64>() >= AHEAD;
        if is_enough {
            return false;
        }
        let job = self.0.take_on(&mut state);
        drop(state);
        job.map(Job::run).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut settings = paje_pack::Settings::default();
        settings.segment = 1000;
        paje_pack::pack(text, Vec::new(), settings).unwrap()
    }

    /// Bytes read while others help, and how reading ends.
    fn read(packed: Vec<u8>, helpers: usize) -> (Vec<u8>, io::Result<()>) {
        let mut text = PackedText::new(Cursor::new(packed));
        let unpacking = text.unpacking();
        let stopped = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|| {
                    while !stopped.load(Ordering::Relaxed) {
                        unpacking.help(helpers + 1);
                    }
                });
            }
            let (mut read, mut some) = (Vec::new(), [0; 700]);
            let ended = loop {
                match text.read(&mut some) {
                    Ok(0) => break Ok(()),
                    Ok(count) => read.extend_from_slice(&some[..count]),
                    Err(error) => break Err(error),
                }
            };
            stopped.store(true, Ordering::Relaxed);
            assert!(matches!(text.read(&mut some), Ok(0)), "there is text behind the end");
            (read, ended)
        })
    }

    #[test]
    fn who_helps_changes_nothing() {
        let text: String = (0..2000).map(|line| format!("line {line}\n")).collect();
        let packed = packed(text.as_bytes());
        for helpers in 0..4 {
            let (read, ended) = read(packed.clone(), helpers);
            assert!(read == text.as_bytes() && ended.is_ok(), "{helpers}");
        }
    }

    #[test]
    fn damage_is_told_behind_the_text_before_it() {
        let text: String = (0..2000).map(|line| format!("line {line}\n")).collect();
        let mut packed = packed(text.as_bytes());
        let middle = packed.len() / 2;
        packed[middle] ^= 1;
        let (alone, ended) = read(packed.clone(), 0);
        let message = ended.unwrap_err().to_string();
        assert!(!alone.is_empty() && text.as_bytes().starts_with(&alone));
        for helpers in 1..4 {
            let (read, ended) = read(packed.clone(), helpers);
            assert_eq!(
                (read.len(), ended.unwrap_err().to_string()),
                (alone.len(), message.clone())
            );
        }
    }
}
