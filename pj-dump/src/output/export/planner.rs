//! Cuts the walk through a trace into pieces.

use std::ops::Range;
use std::time::{Duration, Instant};

use paje_sim::{ContainerId, LaneView, Step, Trace};

use crate::output::released;

/// Number of rows of a piece: large enough to make taking a piece cheap, and small enough to keep
/// its text in a core's second-level cache until it is written.
pub(super) const PIECE: u64 = 2048;

#[derive(Debug)]
pub(super) enum Part<'t> {
    Container(ContainerId),
    /// A lane, a range of its chunks, and the number of its rows before them.
    Lane(LaneView<'t>, Range<usize>, u64),
}

pub(super) struct Planner<'t> {
    pub(super) trace: &'t Trace,
    steps: Box<dyn Iterator<Item = Step> + Send + 't>,
    /// Current lane, its next chunk, and the number of rows before that chunk.
    lane: Option<(LaneView<'t>, usize, u64)>,
    next: u64,
    as_released: bool,
    pub(super) dropped: u64,
    pub(super) took: Duration,
}

impl<'t> Planner<'t> {
    pub(super) fn new(
        trace: &'t Trace,
        steps: impl Iterator<Item = Step> + Send + 't,
        as_released: bool,
    ) -> Self {
        Planner {
            trace,
            steps: Box::new(steps),
            lane: None,
            next: 0,
            as_released,
            dropped: 0,
            took: Duration::ZERO,
        }
    }

    /// Puts the parts of the next piece into `parts` and returns the piece's number, or `None` at
    /// the end.
    pub(super) fn next(&mut self, parts: &mut Vec<Part<'t>>) -> Option<u64> {
        let began = Instant::now();
        parts.clear();
        let mut rows = 0;
        while rows < PIECE {
            if let Some((lane, first, before)) = self.lane.take() {
                let mut count = 0;
                let mut end = first;
                let mut chunks = lane.chunks_from(first).peekable();
                while let Some(chunk) = chunks.next_if(|_| rows + count < PIECE) {
                    count += chunk as u64;
                    end += 1;
                }
                if chunks.peek().is_some() {
                    self.lane = Some((lane, end, before + count));
                }
                rows += count;
                parts.push(Part::Lane(lane, first..end, before));
                continue;
            }
            match self.steps.next() {
                Some(Step::Container(id)) => {
                    parts.push(Part::Container(id));
                    rows += 1;
                }
                Some(Step::Type(container, type_)) => {
                    let lane = self.trace.lane(container, type_);
                    let Some(lane) = lane.filter(|lane| !lane.is_empty()) else { continue };
                    if self.as_released {
                        self.dropped += lane.len().saturating_sub(released(lane));
                    }
                    match lane.only_chunk() {
                        Some(count) => {
                            rows += count as u64;
                            parts.push(Part::Lane(lane, 0..1, 0));
                        }
                        None => self.lane = Some((lane, 0, 0)),
                    }
                }
                None => break,
            }
        }
        let number = self.next;
        self.next += 1;
        self.took += began.elapsed();
        (!parts.is_empty()).then_some(number)
    }
}
