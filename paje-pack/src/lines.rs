//! Which line comes next: in which lane, and what it does.
//!
//! An action is the text of a line, with placeholders for its lane, time, keys, and for what is no name. The lanes of all lines
//! stand together, and so do the actions of each lane: zstd finds what a lane does again, and what lanes have in common.

use crate::coder::{NUMBER, Reading, Side, Writing};
use crate::numbers::Numbers;
use crate::table::{Rows, Table};
use crate::texts::Texts;

/// Placeholders in the text of an action.
pub(crate) mod holes {
    /// The lane.
    pub(crate) const LANE: u8 = 1;
    /// A time.
    pub(crate) const TIME: u8 = 2;
    /// The key of a link that begins.
    pub(crate) const START: u8 = 3;
    /// The key of one that ends.
    pub(crate) const END: u8 = 4;
    /// Anything else.
    pub(crate) const VALUE: u8 = 5;
}

/// The action of lines that are kept as they are.
pub(crate) const RAW: u32 = 0;

/// Columns: lanes, line by line; a table of actions by lane.
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

/// Texts of which one is known: lines without a lane are in one that has no name; raw lines have nothing at all.
fn texts() -> Texts {
    let mut texts = Texts::default();
    texts.put(b"");
    texts
}

/// The lines of a segment that is written.
pub(crate) struct LinesOut {
    pub(crate) names: Texts,
    pub(crate) actions: Texts,
    /// One more than the actions have, or 0 for a new one.
    rows: Rows,
}

impl LinesOut {
    pub(crate) fn new() -> LinesOut {
        LinesOut { names: texts(), actions: texts(), rows: Rows::default() }
    }

    /// The next line, whose lane and action have come before.
    #[inline]
    pub(crate) fn again(&mut self, side: &mut Writing, Line { lane, action }: Line) {
        side.number(column::LANES, u64::from(lane) + 1);
        self.rows.push(lane, u64::from(action) + 1);
    }

    /// The next line, by the texts of its lane and its action.
    pub(crate) fn put(&mut self, side: &mut Writing, [lane, action]: [&[u8]; 2]) -> Line {
        let mut code = |texts: &mut Texts, text| {
            if let Some(number) = texts.find(text) {
                return (number, u64::from(number) + 1);
            }
            side.text(text);
            (texts.put(text), 0)
        };
        let (lane, lane_told) = code(&mut self.names, lane);
        let (action, action_told) = code(&mut self.actions, action);
        side.number(column::LANES, lane_told);
        self.rows.push(lane, action_told);
        Line { lane, action }
    }

    /// Writes all lines.
    pub(crate) fn write(&self, side: &mut Writing) {
        self.rows.write(side, column::ACTIONS);
    }
}

/// The lines of a segment that is read.
pub(crate) struct LinesIn {
    pub(crate) names: Texts,
    pub(crate) actions: Texts,
    lanes: Numbers,
    /// Number of lines that have been read.
    read: usize,
    table: Table,
}

impl LinesIn {
    /// For a segment of so many lines.
    pub(crate) fn new(side: &mut Reading<'_>, lines: u64) -> LinesIn {
        let most = usize::try_from(lines).unwrap_or(usize::MAX);
        let lanes = side.numbers(column::LANES, most);
        // Each line may be in a lane of its own, beside the one that has no name.
        let table = Table::read(side, column::ACTIONS, [most.saturating_add(1), most]);
        LinesIn { names: texts(), actions: texts(), lanes, read: 0, table }
    }

    /// Number of all lines.
    pub(crate) const fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Number of lines that have been read, what tells the lanes of all, and the table of what tells actions.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&mut usize, &Numbers, &mut Table) {
        (&mut self.read, &self.lanes, &mut self.table)
    }

    /// More actions of some lane have been read than it has.
    pub(crate) fn has_overrun(&self) -> bool {
        self.table.has_overrun()
    }

    /// The next line.
    #[inline]
    pub(crate) fn next(&mut self, side: &mut Reading<'_>) -> Line {
        let told = self.lanes.get(self.read);
        self.read += 1;
        let lane = number(told, &mut self.names, side);
        let told = self.table.next(lane);
        Line { lane, action: number(told, &mut self.actions, side) }
    }
}

/// The lane or action that a number tells, which may be a new one.
#[inline]
fn number(told: Option<u64>, texts: &mut Texts, side: &mut Reading<'_>) -> u32 {
    match told.map(|told| told.wrapping_sub(1)) {
        Some(number) if number < texts.len().into() => number as u32,
        Some(u64::MAX) => new(texts, side),
        _ => {
            side.fail();
            0
        }
    }
}

/// A reader never looks for texts, and one that came twice is no harm to it.
#[cold]
fn new(texts: &mut Texts, side: &mut Reading<'_>) -> u32 {
    texts.push(side.text(b""))
}
