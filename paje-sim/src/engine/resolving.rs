//! Resolves the blocks of a wave in file order, between two rounds.

use paje_parser::{ByteOffset, FaultKind, Line, LineDecoder};
use paje_workers::exclusive;
use splitter::{Block, ReadError};

use super::Engine;
use super::round::Wave;
use super::state::Team;
use crate::resolve::{Clock, Counter, Resolver, resolve};
use paje_decode::decode::block::{BoxedBlock, DecodedBlock};
use paje_decode::input::feed::{BlockBudget, Feed};
use paje_decode::input::files::Origin;
use paje_model::names::error::{Error, Problem, WarningKind};
use paje_model::names::recovered::Remedy;
use paje_model::names::usage::Usage;
use paje_replay::problems::found::error_at_fault;
use paje_replay::replay::symbol_map::SymbolMap;

/// Growth of waves, up to the largest. One worker decodes the blocks after an event definition
/// again, so waves start small: a part of a block, then sixteen blocks.
const GROWTH: usize = 16 * BlockBudget::PER_BLOCK;

/// Bytes of the trace that are searched for its first comments.
const MOST_COMMENTS: usize = 1 << 13;

impl Engine<'_> {
    /// Resolves the names in the wave's blocks, in file order, up to the first problem.
    pub(super) fn resolve(&mut self, wave: &mut Wave) {
        self.team.quota = (self.team.quota * GROWTH).min(self.team.full_quota);
        // Blocks after a changed definition were decoded without it, and are decoded again.
        let mut changed = false;
        let mut index = 0;
        self.leave_out_broken(wave, index);
        while index < wave.blocks.len() {
            if wave.blocks[index].origin.file != self.definitions.file() {
                self.turn_to(&wave.blocks[index].origin);
                if self.findings.first.is_some() {
                    wave.blocks.truncate(index);
                    return;
                }
            }
            if !changed && !self.definitions.still_valid_for(&wave.blocks[index]) {
                changed = true;
                self.restart_decoders_of(&wave.blocks[index..]);
            }
            let block = &mut wave.blocks[index];
            if changed {
                exclusive(&mut self.team.desks[block.worker]).decode(
                    block,
                    self.definitions.current(),
                    None,
                );
            }
            if self.read.lines == 0 {
                self.read.comments = comments(block.text.text());
            }
            block.lines_before = self.read.lines - self.read.lines_of_others;
            block.shown_from = self.shown_from(&block.text);
            if block.is_marked {
                self.findings.warnings.add_file(block, WarningKind::ByteOrderMark);
            }
            self.findings.first = self.resolve_block(block);
            self.read.lines += block.decoded.lines;
            self.read.bytes += block.text.text_len() as u64;
            if self.findings.tally.is_some() {
                // Lines that are too long are in no block.
                let end = block.text.start().0 + block.text.text_len() as u64;
                self.read.bytes = self.read.bytes.max(end);
            }
            if let Some(defs) = &block.decoded.defs {
                self.definitions.change(defs);
            }
            // A time window starts with all definitions, so no more follow.
            if block.decoded.changes && !block.is_last && !self.lanes.is_sound {
                self.team.quota = BlockBudget::of_head(self.team.desks.len());
            }
            if self.findings.first.is_some() {
                wave.blocks.truncate(index + 1);
                return;
            }
            index += 1;
            self.leave_out_broken(wave, index);
        }
        if self.findings.tally.is_some() {
            self.resolve_awaited();
        }
    }

    /// Returns the first byte of a block's text that messages may show. A trace may name any file
    /// by mistake, even a private one. So nothing of a file is shown before one of its lines is
    /// valid on its own, as part of a definition or as a complete event.
    fn shown_from(&mut self, block: &Block) -> u32 {
        if !self.is_foreign {
            return 0;
        }
        let mut decoder = LineDecoder::after(self.definitions.current().as_ref().clone());
        let mut at = 0;
        for line in block.text().split_inclusive(|byte| *byte == b'\n') {
            let makes_sense = match decoder.line(line) {
                Ok(Line::Blank) | Err(_) => false,
                Ok(Line::Header) => true,
                Ok(Line::Event(event)) => event.decode().is_ok(),
            };
            if makes_sense {
                self.is_foreign = false;
                return at;
            }
            at += line.len() as u32;
        }
        u32::MAX
    }

    /// Removes blocks of a file after a position that cannot be read, from block `first` on.
    fn leave_out_broken(&self, wave: &mut Wave, first: usize) {
        let Some(broken) = self.findings.tally.as_ref().and_then(|tally| tally.broken) else {
            return;
        };
        let mut index = 0;
        wave.blocks.retain(|block| {
            index += 1;
            index <= first || block.origin.file != broken
        });
    }

    /// Switches to another file, whose first block is next.
    fn turn_to(&mut self, origin: &Origin) {
        let before = self.files.path(self.definitions.file());
        let ended = self.definitions.turn_to(origin, &self.files);
        self.read.lines_of_others = self.read.lines;
        self.model.turn_to(origin.file, origin.start);
        self.is_foreign = self.files.is_named(origin.file);
        if !ended {
            let error = unfinished_definition().in_file(before.as_ref());
            self.findings.cut_off(error.of_line_at(self.read.bytes));
        }
    }

    /// Sorts the next file, if files are sorted and its turn has come.
    pub(super) fn prepare(&mut self, feed: &Feed<'_>) {
        if self.findings.first.is_some() {
            return;
        }
        let prepared =
            feed.prepare(self.job.workers, |origin| self.definitions.of(origin).as_ref().clone());
        if let Err((origin, error)) = prepared {
            let error = self.files.explain(&origin, error);
            self.findings.judge(Remedy::Ended, 1, error.of_line_at(self.read.bytes));
        }
    }

    /// Restarts decoders that know too many names.
    pub(super) fn restart_crowded_decoders(&mut self) {
        for worker in 0..self.team.desks.len() {
            let desk = exclusive(&mut self.team.desks[worker]);
            if desk.decoder.is_crowded() {
                self.team.retired.push(desk.maps);
                self.team.restart_decoder(worker);
            }
        }
    }

    /// Restarts the decoders of these blocks, which have interned names of discarded lines.
    fn restart_decoders_of(&mut self, blocks: &[BoxedBlock]) {
        for block in blocks {
            if exclusive(&mut self.team.desks[block.worker]).maps == block.maps {
                self.team.restart_decoder(block.worker);
            }
        }
    }

    fn resolve_block(&mut self, block: &mut DecodedBlock) -> Option<Error> {
        self.read.last_time = self.read.last_time.max(block.decoded.last_time);
        self.read.events += block.decoded.event_count;
        let mut resolver = Resolver {
            model: &mut self.model,
            lanes: &mut self.lanes,
            maps: &mut self.team.maps[block.maps],
            effects: &mut self.effects,
            clock: Clock {
                last: self.read.last_time,
                stop_at: self.job.options.stop_at.unwrap_or(f64::INFINITY),
                kept: self.read.times.as_mut(),
            },
            keeps: self.job.options.keeps(),
            warnings: &mut self.findings.warnings,
            files: &mut self.files,
            progress: self.job.progress,
            deferred: &mut self.deferred,
            counter: Counter::default(),
            selected: self.selected.as_mut(),
            structural: self.follower.is_some().then(|| std::mem::take(&mut block.structural)),
            usage: self.read.usage.as_deref_mut(),
            tally: self.findings.tally.as_mut(),
        };
        if let Some(usage) = &mut resolver.usage {
            note_usage(usage, block);
        }
        if let Some(structural) = &mut resolver.structural {
            structural.clear();
        }
        let defs = block.decoded.defs.as_deref().unwrap_or(self.definitions.current());
        let decoder = &exclusive(&mut self.team.desks[block.worker]).decoder;
        let resolved = resolve(block, decoder, defs, &mut resolver);
        self.read.last_time = resolver.clock.last;
        block.structural = resolver.structural.unwrap_or_default();
        if let Some(times) = &mut self.read.times {
            // Adding zero turns minus zero into zero, as in PajeNG. It would count as another time.
            times.extend(block.decoded.lane_events().iter().map(|event| event.time + 0.0));
            times.sort_by(f64::total_cmp);
            times.dedup();
        }
        if let Some(tally) = &mut self.findings.tally {
            tally.add_faults(block);
            self.team.maps[block.maps].count_lines(block, tally);
            if let Some(error) = block.failure.take() {
                self.note_unread(block, error);
            }
            return None;
        }
        let fault = || {
            let (line, fault) = block.decoded.fault?;
            Some(error_at_fault(block, line, &fault))
        };
        match resolved.err().or_else(fault) {
            Some(error) => Some(error),
            None => block.failure.take().map(|error| self.failed(block, error)),
        }
    }

    /// Returns the error of text after the block that could not be read.
    pub(super) fn failed(&self, block: &DecodedBlock, error: ReadError) -> Error {
        let origin = &block.origin;
        let error = match error {
            ReadError::LineTooLong { start, limit } => {
                let lines = block.lines_before + block.decoded.lines;
                let in_file = ByteOffset(start.0 - origin.start);
                let error = Error::line_too_long(in_file, limit, lines + 1);
                return error.in_file(origin.path.as_ref()).of_line_at(start.0);
            }
            ReadError::Io(error) => error,
            other => std::io::Error::other(other),
        };
        let at = self.read.bytes + block.text.text_len() as u64;
        self.files.unreadable(origin.file, error).of_line_at(at)
    }
}

impl Team {
    /// Restarts a worker's decoder, and gives its symbols new maps.
    fn restart_decoder(&mut self, worker: usize) {
        let desk = exclusive(&mut self.desks[worker]);
        desk.restart(self.maps[desk.maps].lanes_known_before, self.maps.len());
        self.maps.push(SymbolMap::default());
    }
}

/// Records which definitions the lines of a block use, as far as its decoder knows.
fn note_usage(usage: &mut Usage, block: &DecodedBlock) {
    let decoded = &block.decoded;
    decoded.used.iter().chain(&decoded.usage.used).for_each(|def| usage.use_event(*def));
    if let Some(last) = decoded.usage.header_to.checked_sub(1) {
        usage.define_event(block.text.start().0 + u64::from(last));
    }
    if decoded.usage.first_time.is_finite() {
        usage.note_time(decoded.usage.first_time);
    }
    usage.is_doubtful |= decoded.usage.is_doubtful;
    usage.ends_with_newline = block.text.text().ends_with(b"\n");
}

fn comments(text: &[u8]) -> Vec<u8> {
    let head = &text[..text.len().min(MOST_COMMENTS)];
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.take_while(|line| line.is_empty() || line.starts_with(b"#"));
    let comments: Vec<&[u8]> =
        lines.filter_map(|line| Some(line.strip_prefix(b"#")?.trim_ascii())).collect();
    comments.join(&b'\n')
}

pub(super) fn unfinished_definition() -> Error {
    let (fault, word) = (FaultKind::UnfinishedDefinition, Vec::new());
    let problem = Problem::Line { fault, word, event: None };
    Error::invalid(problem, None)
}
