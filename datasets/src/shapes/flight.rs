//! Links under way between ranks.

use std::collections::VecDeque;
use std::io;

use crate::rng::Rng;
use crate::sink::Sink;

/// Number of links under way from which the next link to complete is chosen. Only the oldest links
/// are candidates, so messages overtake each other only locally.
const OVERTAKING: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    from: u64,
    to: u64,
    serial: u64,
    started: bool,
    bytes: u64,
}

/// The links under way. They have link type `3` in the root container and values `PTP` and `COLL`.
#[derive(Debug, Default)]
pub(super) struct Flight {
    waiting: VecDeque<Waiting>,
    serial: u64,
    bytes: u64,
}

impl Flight {
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the approximate number of bytes of the lines that complete all links.
    pub(super) fn closing_bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn open(
        &mut self,
        sink: &mut Sink<'_>,
        now: u64,
        (from, to): (u64, u64),
        started: bool,
    ) -> io::Result<()> {
        self.serial += 1;
        let before = sink.written();
        let mut link = Waiting { from, to, serial: self.serial, started, bytes: 0 };
        link.write_end(sink, now, started)?;
        link.bytes = sink.written() - before;
        self.bytes += link.bytes;
        self.waiting.push_back(link);
        Ok(())
    }

    /// Completes one of the oldest links, if any.
    pub(super) fn complete(
        &mut self,
        sink: &mut Sink<'_>,
        now: u64,
        rng: &mut Rng,
    ) -> io::Result<()> {
        let index = rng.index(self.waiting.len().min(OVERTAKING));
        let Some(link) = self.waiting.remove(index) else {
            return Ok(());
        };
        self.bytes -= link.bytes;
        link.write_end(sink, now, !link.started)
    }

    pub(super) fn close(&mut self, sink: &mut Sink<'_>, now: u64, rng: &mut Rng) -> io::Result<()> {
        while self.len() > 0 {
            self.complete(sink, now, rng)?;
        }
        Ok(())
    }
}

impl Waiting {
    fn write_end(&self, sink: &mut Sink<'_>, now: u64, start: bool) -> io::Result<()> {
        // Every sixteenth message belongs to a collective.
        let value = if self.serial.is_multiple_of(16) { "COLL" } else { "PTP" };
        sink.event(if start { 15 } else { 16 }).micros(now).num(3).num(0).word(value);
        sink.num(if start { self.from } else { self.to });
        sink.num(self.from)
            .text("_")
            .digits(self.to)
            .text("_")
            .digits(self.serial % 4)
            .text("_")
            .digits(self.serial)
            .end()
    }
}

/// Returns two different ranks, numbered from 1. If there is only one rank, returns this rank
/// twice.
pub(super) fn pair(ranks: u64, rng: &mut Rng) -> (u64, u64) {
    let from = rng.below(ranks);
    let to = (from + 1 + rng.below(ranks.saturating_sub(1))) % ranks;
    (from + 1, to + 1)
}
