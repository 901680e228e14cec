//! The walk through a trace, cut into pieces.

use std::ops::Range;
use std::time::{Duration, Instant};

use paje_sim::{ContainerId, LaneView, Step, Trace};

use crate::output::released;

/// Rows of a piece: enough that taking it costs nothing beside formatting it, few enough that its
/// text stays in a core's second-level cache until it is written.
pub(super) const PIECE: u64 = 2048;

/// Steps whose lanes are looked up together: what they need is still in the nearest cache when it is needed.
const TOGETHER: usize = 64;

/// Part of the output that a worker formats at a time.
#[derive(Debug)]
pub(super) enum Part<'t> {
    Container(ContainerId),
    /// Some chunks of a lane, and how many of its rows come before them.
    Lane(LaneView<'t>, Range<usize>, u64),
}

impl<'t> Part<'t> {
    /// The chunks of a lane.
    pub(super) fn rows(&self) -> Option<(LaneView<'t>, Range<usize>)> {
        match self {
            Part::Container(_) => None,
            Part::Lane(lane, chunks, _) => Some((*lane, chunks.clone())),
        }
    }
}

/// Cuts the walk into pieces.
pub(super) struct Planner<'t> {
    pub(super) trace: &'t Trace,
    steps: Box<dyn Iterator<Item = Step> + Send + 't>,
    /// The next steps, their lanes, and how many of them are behind.
    next_steps: Vec<Step>,
    lanes: Vec<Option<LaneView<'t>>>,
    behind: usize,
    /// The lane at hand, its next chunk, and how many rows come before that.
    lane: Option<(LaneView<'t>, usize, u64)>,
    next: u64,
    as_released: bool,
    pub(super) dropped: u64,
    pub(super) took: Duration,
}

impl<'t> Planner<'t> {
    /// Of these steps of a walk.
    pub(super) fn new(
        trace: &'t Trace,
        steps: impl Iterator<Item = Step> + Send + 't,
        as_released: bool,
    ) -> Self {
        Planner {
            trace,
            steps: Box::new(steps),
            next_steps: Vec::new(),
            lanes: Vec::new(),
            behind: 0,
            lane: None,
            next: 0,
            as_released,
            dropped: 0,
            took: Duration::ZERO,
        }
    }

    /// The next step, and its lane if it has one.
    fn step(&mut self) -> Option<(Step, Option<LaneView<'t>>)> {
        if self.behind == self.next_steps.len() {
            self.next_steps.clear();
            self.next_steps.extend(self.steps.by_ref().take(TOGETHER));
            self.trace.lanes_at(&self.next_steps, &mut self.lanes);
            self.behind = 0;
        }
        let step = self.next_steps.get(self.behind)?;
        let lane = self.lanes.get(self.behind).copied().flatten();
        self.behind += 1;
        Some((*step, lane))
    }

    /// The next piece's number, with its parts in `parts`; `None` when there are no more.
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
            match self.step() {
                Some((Step::Container(id), _)) => {
                    parts.push(Part::Container(id));
                    rows += 1;
                }
                Some((Step::Type(..), lane)) => {
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
