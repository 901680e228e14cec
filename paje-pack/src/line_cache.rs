//! A cache that recognises lines of known steps, so that they are not analysed again.
//!
//! The event number of a line determines which fields are holes. All bytes outside of the holes are looked up together, as words. So the
//! step of a line is found whatever line came before it.

use rustc_hash::FxHashMap;

use self::heads::{Heads, word_of};
use self::quick::Quick;
use crate::fields::Place as Slot;
use crate::lines::{Line, holes};
use crate::patterns::{Pattern, Slots};
use crate::template::Roles;

mod heads;
mod quick;

pub(crate) use quick::{Trio, Words};

/// Maximum number of words of a line. Longer lines are analysed.
const WORDS: usize = 64;

/// Bytes of a line in a word. The last byte of the word has their count, and in its upper half what follows them: a hole,
/// the end of the line, or more bytes.
const BYTES: usize = 7;
const COUNT: u32 = 8 * BYTES as u32;
const BEHIND: u32 = COUNT + 4;
const MORE: u8 = 0;
const END: u8 = 15;

/// Factor that spreads words over all bits, mostly the highest.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Stands for no step.
const NONE: u32 = u32::MAX;

/// Start and end of a hole in a text.
pub(crate) type Place = (u32, u32);

/// A hole of a step, except the lane's: its kind, its number among all holes, its slot and its field.
#[derive(Clone, Copy)]
pub(crate) struct StepHole {
    pub(crate) kind: u8,
    pub(crate) number: u8,
    pub(crate) slot: Slot,
}

/// A known step.
struct Step {
    line: Line,
    /// Whether the time is its only hole.
    is_timed: bool,
    /// Range of its holes in the list of all.
    holes: (u32, u32),
}

/// The known steps of a segment, by number.
#[derive(Default)]
pub(crate) struct LineCache {
    steps: Vec<Step>,
    holes: Vec<StepHole>,
    pub(crate) heads: Heads,
    pub(crate) quick: Quick,
    by_words: FxHashMap<Box<[u64]>, u32>,
    /// Words of the last line that was looked up; empty if it has another form.
    words: Vec<u64>,
}

impl LineCache {
    pub(crate) const fn len(&self) -> usize {
        self.steps.len()
    }

    /// Adds a step, whose action has these holes.
    pub(crate) fn push(&mut self, line: Line, pattern: &Pattern, slots: &mut Slots) {
        let first = self.holes.len() as u32;
        self.holes.extend(pattern.others.iter().map(|(kind, number)| StepHole {
            kind: *kind,
            number: *number as u8,
            slot: pattern.place(*kind, *number, slots),
        }));
        let is_timed = matches!(pattern.others[..], [(holes::TIME, _)]);
        self.steps.push(Step { line, is_timed, holes: (first, self.holes.len() as u32) });
    }

    /// Returns the lane, the action and the holes of a step.
    #[inline(always)]
    pub(crate) fn get(&self, step: u32) -> (Line, &[StepHole]) {
        let Step { line, holes: (first, end), .. } = self.steps[step as usize];
        (line, &self.holes[first as usize..end as usize])
    }

    /// Returns the lane and action of a step, if its only hole is a time.
    #[inline(always)]
    pub(crate) fn timed(&self, step: u32) -> Option<Line> {
        let step = &self.steps[step as usize];
        step.is_timed.then_some(step.line)
    }

    /// Returns the lanes and actions of all steps.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line> {
        self.steps.iter().map(|step| step.line)
    }

    /// Forgets how lines look, since definitions have changed.
    pub(crate) fn forget(&mut self) {
        (self.heads, self.quick) = Default::default();
        self.by_words.clear();
        self.words.clear();
    }

    /// Returns the step of the first line of a text, if it is known. The line has `len` bytes, and its fields start and end at `edges`.
    /// Appends the places of its holes, except the lane's.
    pub(crate) fn find(
        &mut self,
        text: &[u8],
        (edges, len): (&[u16], usize),
        roles: &Roles,
        places: &mut Vec<Place>,
    ) -> Option<u32> {
        if self.read(text, (edges, len), roles, places).is_none() {
            self.words.clear();
        }
        self.by_words.get(&self.words[..]).copied()
    }

    /// Reads the words of a line and the places of its holes. Returns `None` if its event is unknown or its first word is long.
    fn read(
        &mut self,
        text: &[u8],
        (edges, len): (&[u16], usize),
        roles: &Roles,
        places: &mut Vec<Place>,
    ) -> Option<()> {
        let [begin, end, second] = edges.first_chunk()?.map(usize::from);
        if second > BYTES {
            return None;
        }
        let head = word_of(u64::from_le_bytes(*text.first_chunk()?), second);
        let head = match self.heads.get(head) {
            Some(known) => *known,
            None => self.heads.learn(head, begin..end, roles)?,
        };
        let (words, mut count) = (&mut self.words, 0);
        words.resize(WORDS, 0);
        let mut push = |at: usize, len: usize, behind: u8| {
            let bytes = text.get(at..at + 8)?.first_chunk()?;
            let word = u64::from_le_bytes(*bytes) & !(u64::MAX << (8 * len));
            *words.get_mut(count)? = word | (len as u64) << COUNT | u64::from(behind) << BEHIND;
            count += 1;
            Some(())
        };
        let mut copied = 0;
        let mut literal = |from: usize, to: usize, behind: u8| {
            let mut at = from;
            while to - at > BYTES {
                push(at, BYTES, MORE)?;
                at += BYTES;
            }
            push(at, to - at, behind)
        };
        let mut edges = &edges[2..];
        for next in self.heads.holes(head) {
            let Some([first, end, ..]) = edges.get(2 * usize::from(next.skip)..) else { break };
            let (first, end) = (usize::from(*first), usize::from(*end));
            literal(copied, first, next.kind)?;
            copied = end;
            places.push((first as u32, end as u32));
            edges = &edges[2 * usize::from(next.skip) + 2..];
        }
        literal(copied, len, END)?;
        self.words.truncate(count);
        Some(())
    }

    /// Adds the line that was looked up last, whose text is `action` with the name of the lane in its hole.
    #[cold]
    pub(crate) fn learn(&mut self, step: u32, texts: [&[u8]; 2]) {
        let mut text = filled(texts);
        let is_same = self.words.iter().all(|word| {
            let (len, behind) = (word >> COUNT & 15, (word >> BEHIND) as u8);
            let mut bytes = word.to_le_bytes().into_iter().take(len as usize);
            let is_same = bytes.all(|byte| text.next() == Some(&byte));
            is_same && (matches!(behind, MORE | END) || text.next() == Some(&behind))
        });
        if !self.words.is_empty() && is_same && text.next().is_none() {
            self.by_words.insert(self.words[..].into(), step);
        }
    }

    /// Adds a line of the usual form.
    #[cold]
    pub(crate) fn learn_quick(&mut self, step: u32, texts: [&[u8]; 2], words: Words) {
        if words.text(&self.heads).is_some_and(|text| filled(texts).eq(&text)) {
            self.quick.put(words, step);
        }
    }
}

/// Returns the text of an action with the name of a lane in its hole.
fn filled([action, lane]: [&[u8]; 2]) -> impl Iterator<Item = &u8> {
    action.iter().flat_map(move |byte| match *byte {
        holes::LANE => lane,
        _ => std::slice::from_ref(byte),
    })
}
