//! Reads the steps of all lines of a segment, before anything else.

use crate::lines::{Line, LinesIn, RAW, holes};
use crate::steps::Steps;
use crate::stream::StreamReader;
use crate::table::Group;
use crate::times::Clock;
use paje_parser::columns::ColumnLine;

/// Known steps, and the texts of raw lines.
#[derive(Default)]
pub(super) struct Order {
    numbers: Steps,
    steps: Vec<Line>,
    /// Texts of raw lines, each with a newline.
    raw: Vec<u8>,
    given: usize,
}

impl Order {
    /// Reads the step of each line. Returns `None` if the stream does not encode steps.
    #[inline(never)]
    pub(super) fn read(
        &mut self,
        coded: &mut LinesIn,
        side: &mut StreamReader<'_>,
        lines: &mut [ColumnLine],
    ) -> Option<()> {
        let mut at = 0;
        loop {
            at += self.known(coded, lines.get_mut(at..)?);
            let Some(to) = lines.get_mut(at) else { return Some(()) };
            let line = coded.next(side);
            if side.failed {
                return None;
            }
            to.step = if line.action == RAW {
                self.raw.extend_from_slice(side.text());
                self.raw.push(b'\n');
                ColumnLine::OTHER
            } else {
                let step = self.numbers.number(line);
                if self.steps.len() == step as usize {
                    self.steps.push(line);
                }
                step
            };
            at += 1;
        }
    }

    /// Reads the steps of lines up to the first line of an unknown step. Returns the number of
    /// lines read.
    fn known(&mut self, coded: &mut LinesIn, lines: &mut [ColumnLine]) -> usize {
        let (read, lanes, actions) = coded.parts();
        let (places, actions) = actions.parts();
        let lanes = lanes.get(*read..).unwrap_or_default();
        let count = known(&mut self.numbers, lanes, actions, places, lines);
        *read += count;
        count
    }

    /// Returns the lane and the action of a step, or `None` for the step of raw lines.
    #[inline]
    pub(super) fn step(&self, step: u32) -> Option<Line> {
        self.steps.get(step as usize).copied()
    }

    /// Returns, for each step, how to find the times of its lines. Returns `None` if a line has
    /// several times.
    pub(super) fn clocks(&self, coded: &LinesIn) -> Option<Vec<Clock>> {
        let clock = |line: &Line| {
            let text = coded.actions.get(line.action);
            match text.iter().filter(|byte| **byte == holes::TIME).count() {
                0 => Some(Clock { lane: line.lane, group: Clock::NONE }),
                1 => Some(Clock { lane: line.lane, group: line.action }),
                _ => None,
            }
        };
        self.steps.iter().map(clock).collect()
    }

    pub(super) fn raw(&mut self) -> &[u8] {
        let left = &self.raw[self.given..];
        let len = memchr::memchr(b'\n', left).unwrap_or(left.len());
        self.given = self.raw.len().min(self.given + len + 1);
        &left[..len]
    }
}

/// Reads the steps of lines up to the first unknown step. `lanes` and `actions` contain codes,
/// which are numbers plus one. Returns the number of lines read.
#[inline(never)]
fn known(
    steps: &mut Steps,
    lanes: &[u64],
    actions: &[u64],
    places: &mut [Group],
    lines: &mut [ColumnLine],
) -> usize {
    let mut count = 0;
    for (lane, line) in lanes.iter().zip(lines) {
        let lane = (*lane as usize).wrapping_sub(1);
        let Some(place) = places.get_mut(lane) else { break };
        let Some(action) = actions.get(place.next_or_other()) else { break };
        let of = Line { lane: lane as u32, action: (*action as u32).wrapping_sub(1) };
        let Some(step) = steps.find(of) else { break };
        place.pass();
        line.step = step;
        count += 1;
    }
    count
}
