//! Lanes and actions of all lines.
//!
//! An action is the text of a line, with placeholders for its lane, time, keys and values. The
//! lanes of all lines are adjacent, and so are the actions of each lane. With this order, zstd
//! finds repetitions within a lane and between lanes.

use crate::stream::{NUMBER, StreamReader, StreamWriter};
use crate::table::{Rows, Table};
use crate::texts::Texts;

/// Placeholders in the text of an action.
pub(crate) mod holes {
    pub(crate) const LANE: u8 = 1;
    pub(crate) const TIME: u8 = 2;
    pub(crate) const START: u8 = 3;
    pub(crate) const END: u8 = 4;
    /// Any other content.
    pub(crate) const VALUE: u8 = 5;
}

/// The action of lines that are stored as they are.
pub(crate) const RAW: u32 = 0;

/// Columns of lines. The first column has the lane of each line, in the order of lines. The others
/// are a table of actions by lane.
mod column {
    pub(super) const LANES: usize = 0;
    pub(super) const ACTIONS: usize = super::NUMBER;
}

/// A line without its times, keys and values.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) lane: u32,
    pub(crate) action: u32,
}

/// Creates the list of lanes or of actions. Number 0 is empty. It stands for lines without a lane,
/// or for the action of raw lines.
fn texts() -> Texts {
    let mut texts = Texts::default();
    texts.put(b"");
    texts
}

pub(crate) struct LinesOut {
    pub(crate) names: Texts,
    pub(crate) actions: Texts,
    steps: Vec<u32>,
    /// Lines with a new lane or action. For each line, its index, whether the lane is new, and
    /// whether the action is new.
    news: Vec<(usize, [bool; 2])>,
}

impl LinesOut {
    pub(crate) fn new(lines: usize) -> LinesOut {
        let steps = Vec::with_capacity(lines);
        LinesOut { names: texts(), actions: texts(), steps, news: Vec::new() }
    }

    pub(crate) const fn len(&self) -> usize {
        self.steps.len()
    }

    /// Adds lines, given their steps. These steps must be known.
    #[inline]
    pub(crate) fn extend(&mut self, steps: impl Iterator<Item = u32>) {
        self.steps.extend(steps);
    }

    /// Returns the lane and the action of the next line, given their texts.
    pub(crate) fn put(&mut self, side: &mut StreamWriter, [lane, action]: [&[u8]; 2]) -> Line {
        let mut code = |texts: &mut Texts, text| {
            if let Some(number) = texts.find(text) {
                return (number, false);
            }
            side.text(text);
            (texts.put(text), true)
        };
        let (lane, lane_is_new) = code(&mut self.names, lane);
        let (action, action_is_new) = code(&mut self.actions, action);
        if lane_is_new || action_is_new {
            self.news.push((self.steps.len(), [lane_is_new, action_is_new]));
        }
        Line { lane, action }
    }

    /// Writes all lines, given the lane and the action of each step. The code of a known lane or
    /// action is its number plus one. The code of a new lane or action is 0.
    pub(crate) fn write(&self, side: &mut StreamWriter, of_steps: impl Iterator<Item = Line>) {
        let of_steps: Vec<Line> = of_steps.collect();
        let mut lanes = Vec::with_capacity(self.steps.len());
        let mut actions = Rows::with_room(self.steps.len());
        for step in &self.steps {
            let Line { lane, action } = of_steps[*step as usize];
            lanes.push(u64::from(lane) + 1);
            actions.push(lane, u64::from(action) + 1);
        }
        for (line, [lane_is_new, action_is_new]) in &self.news {
            if *lane_is_new {
                lanes[*line] = 0;
            }
            if *action_is_new {
                actions.replace(*line, 0);
            }
        }
        side.numbers(column::LANES, lanes.into_iter());
        actions.write(side, column::ACTIONS);
    }
}

pub(crate) struct LinesIn {
    pub(crate) names: Texts,
    pub(crate) actions: Texts,
    lanes: Vec<u64>,
    read: usize,
    table: Table,
}

impl LinesIn {
    pub(crate) fn new(side: &mut StreamReader<'_>, lines: u64) -> LinesIn {
        let most = usize::try_from(lines).unwrap_or(usize::MAX);
        let lanes = side.numbers(column::LANES, most);
        // Each line may belong to a different lane, and lane 0 always exists.
        let table = Table::read(side, column::ACTIONS, [most.saturating_add(1), most]);
        LinesIn { names: texts(), actions: texts(), lanes, read: 0, table }
    }

    /// Returns the number of lines that have not been read.
    pub(crate) const fn left(&self) -> usize {
        self.lanes.len().saturating_sub(self.read)
    }

    /// Returns the number of lines read, the codes of the lines' lanes, and the table of the codes
    /// of actions.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&mut usize, &[u64], &mut Table) {
        (&mut self.read, &self.lanes, &mut self.table)
    }

    /// Returns whether reading went beyond the last action of any lane.
    pub(crate) fn has_overrun(&self) -> bool {
        self.table.has_overrun()
    }

    #[inline]
    pub(crate) fn next(&mut self, side: &mut StreamReader<'_>) -> Line {
        let code = self.lanes.get(self.read).copied();
        self.read += 1;
        let lane = number(code, &mut self.names, side);
        let code = self.table.next(lane);
        Line { lane, action: number(code, &mut self.actions, side) }
    }
}

/// Returns the lane or action that a code stands for. Reads its text if it is new.
#[inline]
fn number(code: Option<u64>, texts: &mut Texts, side: &mut StreamReader<'_>) -> u32 {
    match code.map(|code| code.wrapping_sub(1)) {
        Some(number) if number < texts.len().into() => number as u32,
        Some(u64::MAX) => new(texts, side),
        _ => {
            side.fail();
            0
        }
    }
}

/// Adds a text, which may have been added before, because readers do not look texts up.
#[cold]
fn new(texts: &mut Texts, side: &mut StreamReader<'_>) -> u32 {
    texts.push(side.text())
}
