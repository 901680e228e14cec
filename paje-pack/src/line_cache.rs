//! A cache that recognises lines of known steps, so that they are not analysed again.
//!
//! The event number of a line determines which of its fields are holes. All bytes outside the holes
//! are looked up together, as words. The step of a line is thus found independently of the previous
//! line.

use self::heads::Heads;
use self::quick::Quick;
use crate::fields::Place as Slot;
use crate::lines::{Line, holes};
use crate::patterns::Pattern;

mod heads;
mod quick;

pub(crate) use quick::{Trio, Words};

/// Maximum length of the first word of a line. An additional byte stores the length.
const BYTES: usize = 7;
const COUNT: u32 = 8 * BYTES as u32;

/// Factor that spreads the bits of a word, especially to the highest bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

const NONE: u32 = u32::MAX;

/// Start and end of a hole in a text.
pub(crate) type Place = (u32, u32);

/// A hole of a step, except the hole for the lane.
#[derive(Clone, Copy)]
pub(crate) struct StepHole {
    pub(crate) kind: u8,
    pub(crate) number: u8,
    pub(crate) slot: Slot,
}

struct Step {
    line: Line,
    /// Whether the step's only hole is a time.
    is_timed: bool,
    /// Range of the step's holes in the list of all holes.
    holes: (u32, u32),
}

#[derive(Default)]
pub(crate) struct LineCache {
    steps: Vec<Step>,
    holes: Vec<StepHole>,
    pub(crate) heads: Heads,
    pub(crate) quick: Quick,
}

impl LineCache {
    pub(crate) const fn len(&self) -> usize {
        self.steps.len()
    }

    /// Adds a step whose action has the holes of `pattern`.
    pub(crate) fn push(&mut self, line: Line, pattern: &Pattern, slots: &mut u32) {
        let first = self.holes.len() as u32;
        self.holes.extend(pattern.others.iter().map(|(kind, number)| StepHole {
            kind: *kind,
            number: *number as u8,
            slot: pattern.place(*kind, *number, slots),
        }));
        let is_timed = matches!(pattern.others[..], [(holes::TIME, _)]);
        self.steps.push(Step { line, is_timed, holes: (first, self.holes.len() as u32) });
    }

    #[inline(always)]
    pub(crate) fn get(&self, step: u32) -> (Line, &[StepHole]) {
        let Step { line, holes: (first, end), .. } = self.steps[step as usize];
        (line, &self.holes[first as usize..end as usize])
    }

    /// If the only hole of a step is a time, returns the step's lane and action.
    #[inline(always)]
    pub(crate) fn timed(&self, step: u32) -> Option<Line> {
        let step = &self.steps[step as usize];
        step.is_timed.then_some(step.line)
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = Line> {
        self.steps.iter().map(|step| step.line)
    }

    /// Forgets the forms of lines. Called when definitions have changed.
    pub(crate) fn forget(&mut self) {
        (self.heads, self.quick) = Default::default();
    }

    #[cold]
    pub(crate) fn learn(&mut self, step: u32, texts: [&[u8]; 2], words: Words) {
        if words.text(&self.heads).is_some_and(|text| filled(texts).eq(&text)) {
            self.quick.put(words, step);
        }
    }
}

/// Returns the text of an action, in which the lane's name replaces its hole.
fn filled([action, lane]: [&[u8]; 2]) -> impl Iterator<Item = &u8> {
    action.iter().flat_map(move |byte| match *byte {
        holes::LANE => lane,
        _ => std::slice::from_ref(byte),
    })
}
