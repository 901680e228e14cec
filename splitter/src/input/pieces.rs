//! Compressed data in pieces, which several threads decompress in parallel.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Limit on the size in bytes of decompressed text that waits to be read.
const AHEAD: usize = 1 << 20;

/// Limit on the total size in bytes of the texts that are being decompressed.
const MOST: u64 = 256 << 20;

/// A part of compressed data that can be decompressed separately.
pub(super) trait Piece: Send {
    /// Returns the largest possible length of the piece's text.
    fn most(&self) -> u64;

    /// Returns the piece's text up to any damage, and the error. May reuse `memory` for the text.
    fn unpack(self: Box<Self>, memory: Vec<u8>) -> (Vec<u8>, io::Result<()>);
}

pub(super) enum Next {
    Piece(Box<dyn Piece>),
    /// The text after all pieces, which one thread reads.
    Rest(Box<dyn Read + Send>),
}

struct Slot {
    most: u64,
    /// `None` while a thread decompresses the piece.
    text: Option<(Vec<u8>, io::Result<()>)>,
}

struct State {
    next: Box<dyn FnMut() -> io::Result<Next> + Send>,
    slots: VecDeque<Slot>,
    given: u64,
    /// Largest possible total length of the texts in `slots`.
    bytes: u64,
    ended: bool,
    rest: Option<Box<dyn Read + Send>>,
    spare: Vec<Vec<u8>>,
}

struct Shared {
    state: Mutex<State>,
    done: Condvar,
}

/// A piece that a thread is decompressing. If it is dropped before it is complete, the thread has
/// panicked.
struct Job<'s> {
    shared: &'s Shared,
    number: u64,
    piece: Option<(Box<dyn Piece>, Vec<u8>)>,
    text: Option<(Vec<u8>, io::Result<()>)>,
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        let lost =
            || (Vec::new(), Err(io::Error::other("a part of the file could not be decompressed")));
        let text = self.text.take().unwrap_or_else(lost);
        let mut state = self.shared.lock();
        let place = (self.number - state.given) as usize;
        if let Some(slot) = state.slots.get_mut(place) {
            slot.text = Some(text);
        }
        drop(state);
        self.shared.done.notify_all();
    }
}

impl Job<'_> {
    fn run(mut self) {
        self.text = self.piece.take().map(|(piece, memory)| piece.unpack(memory));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_on<'s>(&'s self, state: &mut State) -> Option<Job<'s>> {
        match (state.next)() {
            Ok(Next::Piece(piece)) => {
                let number = state.given + state.slots.len() as u64;
                let most = piece.most();
                state.slots.push_back(Slot { most, text: None });
                state.bytes += most;
                let memory = state.spare.pop().unwrap_or_default();
                Some(Job { shared: self, number, piece: Some((piece, memory)), text: None })
            }
            Ok(Next::Rest(rest)) => {
                (state.ended, state.rest) = (true, Some(rest));
                None
            }
            Err(error) => {
                state.ended = true;
                state.slots.push_back(Slot { most: 0, text: Some((Vec::new(), Err(error))) });
                None
            }
        }
    }
}

pub(super) struct PiecesText {
    shared: Arc<Shared>,
    text: Vec<u8>,
    given: usize,
    damage: Option<io::Error>,
    /// The text after the pieces, once all pieces have been read.
    rest: Option<Box<dyn Read + Send>>,
}

impl PiecesText {
    pub(super) fn new(next: impl FnMut() -> io::Result<Next> + Send + 'static) -> PiecesText {
        let state = State {
            next: Box::new(next),
            slots: VecDeque::new(),
            given: 0,
            bytes: 0,
            ended: false,
            rest: None,
            spare: Vec::new(),
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), done: Condvar::new() });
        PiecesText { shared, text: Vec::new(), given: 0, damage: None, rest: None }
    }

    pub(super) fn unpacking(&self) -> Unpacking {
        Unpacking(Arc::clone(&self.shared))
    }

    /// Moves to the text of the next piece, or to the rest after the last piece.
    fn turn(&mut self) {
        let mut state = self.shared.lock();
        self.given = 0;
        let read = std::mem::take(&mut self.text);
        if read.capacity() > 0 {
            state.spare.push(read);
        }
        loop {
            match state.slots.front() {
                Some(Slot { text: Some(_), .. }) => {
                    state.given += 1;
                    let Some(Slot { most, text: Some((text, end)) }) = state.slots.pop_front()
                    else {
                        continue;
                    };
                    state.bytes -= most;
                    // Nothing is read after damage.
                    if end.is_err() {
                        state.ended = true;
                        state.rest = None;
                        state.slots.clear();
                    }
                    (self.text, self.damage) = (text, end.err());
                    return;
                }
                Some(_) => {
                    state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                None if state.ended => {
                    let rest = state.rest.take();
                    self.rest = Some(rest.unwrap_or_else(|| Box::new(io::empty())));
                    // The rest can be long. Reading it does not need the memory of the pieces, so
                    // this memory is freed here.
                    state.spare = Vec::new();
                    return;
                }
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

impl Read for PiecesText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while self.given == self.text.len() {
            if let Some(damage) = self.damage.take() {
                return Err(damage);
            }
            if let Some(rest) = &mut self.rest {
                return rest.read(buffer);
            }
            self.turn();
        }
        let left = &self.text[self.given..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.given += count;
        Ok(count)
    }
}

/// Handle with which threads can help to decompress while they wait for their turn to read.
#[derive(Clone)]
pub struct Unpacking(Arc<Shared>);

impl fmt::Debug for Unpacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unpacking")
    }
}

impl Unpacking {
    /// Decompresses the next piece for the reader of the [`Input`](crate::Input), if not enough
    /// text is ready and fewer than `threads` pieces are being decompressed. Returns `false` if
    /// there is nothing to do. The caller must not hold a lock that readers need.
    pub fn help(&self, threads: usize) -> bool {
        let mut state = self.0.lock();
        let ready = |slot: &Slot| slot.text.as_ref().map_or(0, |(text, _)| text.len());
        let is_enough = state.ended
            || state.slots.len() >= threads
            || state.bytes >= MOST
            || state.slots.iter().map(ready).sum::<usize>() >= AHEAD;
        if is_enough {
            return false;
        }
        let job = self.0.take_on(&mut state);
        drop(state);
        job.map(Job::run).is_some()
    }
}
