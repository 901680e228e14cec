//! Lines of packed traces on their way to their strands: what lines have in common is told once, and no line is an event before it is where
//! it belongs.

use paje_parser::columns::ColumnLine;

use super::decoded::{LaneEvent, NO_STRAND, StrandSymbol};

/// The same in events of many lines, or all of the event of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alike {
    pub(super) strand: StrandSymbol,
    pub(super) tail: u32,
    pub(super) argument: u64,
    /// Number of lines.
    pub(super) count: u32,
    pub(super) kind: LineKind,
}

/// Parts of their events that lines do not have in common, beside their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// There are none.
    Same,
    /// Each event has an argument of its own.
    OwnArgument,
    /// There is one line, and its time is the bits of a double.
    Alone,
}

impl Alike {
    /// The line has no event.
    pub(super) const NOTHING: Alike = Alike::of(NO_STRAND, &LaneEvent::NONE);

    /// All lines have the same event as one of this strand.
    pub(super) const fn of(strand: StrandSymbol, event: &LaneEvent) -> Alike {
        let LaneEvent { argument, tail, .. } = *event;
        Alike { strand, tail, argument, count: 0, kind: LineKind::Same }
    }

    /// They have but arguments of their own.
    pub(super) const fn with_arguments(self) -> Alike {
        Alike { kind: LineKind::OwnArgument, ..self }
    }

    /// It is a line by itself, whose time is a double.
    pub(super) const fn alone(self) -> Alike {
        Alike { kind: LineKind::Alone, count: 1, ..self }
    }
}

/// Parts of events that lines have in common, by the numbers that stand for steps, and those that they have not.
#[derive(Debug, Default)]
pub(super) struct Spread {
    pub(super) alike: Vec<Alike>,
    /// In the order of the lines that have them.
    pub(super) arguments: Vec<u64>,
}

impl Spread {
    /// Steps of which nothing is known but how many lines they have.
    pub(super) fn begin(&mut self, counts: &[u32]) {
        self.alike.clear();
        self.alike.extend(counts.iter().map(|count| Alike { count: *count, ..Alike::NOTHING }));
        self.arguments.clear();
    }

    /// Notes what is alike of all lines of a step.
    pub(super) fn set(&mut self, step: u32, alike: Alike) {
        let known = &mut self.alike[step as usize];
        *known = Alike { count: known.count, ..alike };
    }

    /// All lines of a step have arguments of their own, of which this is the next.
    #[inline(always)]
    pub(super) fn put_argument(&mut self, step: u32, argument: u64) {
        self.arguments.push(argument);
        self.alike[step as usize].kind = LineKind::OwnArgument;
    }

    /// A line of a step is like others with a number, which is returned.
    #[inline(always)]
    pub(super) fn move_to(&mut self, step: u32, alike: u32) -> u32 {
        self.alike[step as usize].count -= 1;
        self.alike[alike as usize].count += 1;
        alike
    }

    /// There are no lines but these.
    pub(super) fn keep(&mut self, lines: &[ColumnLine]) {
        self.alike.iter_mut().for_each(|alike| alike.count = 0);
        lines.iter().for_each(|line| self.alike[line.step as usize].count += 1);
    }

    /// The number of one more.
    pub(super) fn put(&mut self, alike: Alike) -> u32 {
        self.alike.push(alike);
        self.alike.len() as u32 - 1
    }
}
