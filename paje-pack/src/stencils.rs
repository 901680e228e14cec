//! Steps as a writer compares short lines with them: a line of one that has come before is not taken apart again.

use std::ops::Range;

use paje_parser::scan::ShortLine;
use rustc_hash::FxHashMap;

use crate::lines::{Line, holes};
use crate::patterns::Slots;
use crate::template::Roles;
use crate::texts::{Key, SHORT, Texts, fold};

/// Bytes that a line is looked at in, and a word more.
pub(crate) const WINDOW: usize = 64 + 8;

/// Codes of events that are at hand before others are looked for.
const CODES: usize = 64;

/// No step has this number.
pub(crate) const NONE: u32 = u32::MAX;

/// Some bytes that all lines of a step have in one place, eight at most, and whether a hole is behind them.
#[derive(Clone, Copy)]
struct Piece {
    bytes: u64,
    /// The bytes that count.
    mask: u64,
    len: u8,
    /// 0 if there is none.
    hole: u8,
}

impl Piece {
    /// The bytes of a line, from one on.
    #[inline]
    fn of(window: &[u8; WINDOW], at: usize, len: usize, hole: u8) -> Piece {
        let mask = mask(len);
        Piece { bytes: word_at(window, at) & mask, mask, len: len as u8, hole }
    }

    /// A hash of all pieces, from that of those before.
    #[inline]
    const fn hash(self, before: u64) -> u64 {
        let kind = (self.len as u64) << 8 | self.hole as u64;
        fold(before ^ self.bytes, 0x9e37_79b9_7f4a_7c15 ^ kind)
    }
}

/// Places of holes in a short line, but for its lane's: their beginnings and ends, in order.
#[derive(Default)]
pub(crate) struct Places([(u8, u8); HOLES]);

/// A field and what is behind it take two bytes.
const HOLES: usize = 32;

impl Places {
    /// The how many-th hole, from 0.
    #[inline]
    pub(crate) fn place(&self, number: usize) -> Range<usize> {
        let (first, end) = self.0[number % HOLES];
        first.into()..end.into()
    }
}

/// A step that has come.
struct Step {
    line: Line,
    /// The first slots of its holes.
    slots: Slots,
    /// Its pieces; none if no short line was of it.
    pieces: (u32, u32),
    /// The step that came next the last time.
    after: u32,
    /// Those that came next in its lane, the last one first.
    next: [u32; 2],
}

/// The steps of a segment, by number.
pub(crate) struct Stencils {
    steps: Vec<Step>,
    pieces: Vec<Piece>,
    /// Pieces before these were learnt by other definitions.
    valid: u32,
    by_hash: FxHashMap<u64, u32>,
    /// Codes of events that are at hand, with how many edges are between each and its lane, one more than that.
    codes: [(Option<Key>, u32); CODES],
    /// The last step, and that of each lane.
    last: u32,
    lanes: Vec<u32>,
    pub(crate) places: Places,
}

impl Default for Stencils {
    fn default() -> Self {
        Stencils {
            steps: Vec::new(),
            pieces: Vec::new(),
            valid: 0,
            by_hash: FxHashMap::default(),
            codes: [(None, 0); CODES],
            last: NONE,
            lanes: Vec::new(),
            places: Places::default(),
        }
    }
}

impl Stencils {
    pub(crate) const fn len(&self) -> usize {
        self.steps.len()
    }

    /// The next step, which has these slots.
    pub(crate) fn push(&mut self, line: Line, slots: Slots) {
        let (pieces, after, next) = ((0, 0), NONE, [NONE; 2]);
        self.steps.push(Step { line, slots, pieces, after, next });
    }

    /// Lane and action of a step, and its first slots.
    #[inline]
    pub(crate) fn get(&self, step: u32) -> (Line, Slots) {
        let step = &self.steps[step as usize];
        (step.line, step.slots)
    }

    /// The definitions are others: lines are taken apart again.
    pub(crate) fn forget(&mut self) {
        self.valid = self.pieces.len() as u32;
        self.by_hash.clear();
        self.codes = [(None, 0); CODES];
    }

    /// The step of a line, if a short line was of it before; notes where its holes are.
    #[inline]
    pub(crate) fn find(
        &mut self,
        window: &[u8; WINDOW],
        line: ShortLine,
        roles: &Roles,
        names: &Texts,
    ) -> Option<u32> {
        // Most lines come behind the one that they came behind before, or do in their lane.
        if let Some(last) = self.steps.get(self.last as usize) {
            let after = last.after;
            if self.fits(after, window, line) {
                return Some(after);
            }
        }
        self.in_lane(window, line, roles, names).or_else(|| {
            let mut hash = 0;
            walk(window, line, roles, |piece| hash = piece.hash(hash))?;
            let step = *self.by_hash.get(&hash)?;
            self.fits(step, window, line).then_some(step)
        })
    }

    #[inline]
    fn in_lane(
        &mut self,
        window: &[u8; WINDOW],
        line: ShortLine,
        roles: &Roles,
        names: &Texts,
    ) -> Option<u32> {
        let lane = names.find(self.lane(window, line, roles)?)?;
        let last = *self.lanes.get(lane as usize)?;
        let [first, second] = self.steps.get(last as usize)?.next;
        if self.fits(first, window, line) {
            return Some(first);
        }
        self.fits(second, window, line).then_some(second)
    }

    /// The name of the lane of a line, if it has one.
    #[inline]
    fn lane<'t>(
        &mut self,
        window: &'t [u8; WINDOW],
        line: ShortLine,
        roles: &Roles,
    ) -> Option<&'t [u8]> {
        let mut edges = line.edges;
        let code = code(window, &mut edges)?;
        let known = &mut self.codes[(code.spread() >> 58) as usize % CODES];
        if known.0 != Some(code) {
            let (_, lane) = roles.holes(code)?;
            *known = (Some(code), lane.map_or(0, |lane| 2 * lane as u32 + 1));
        }
        let before = known.1.checked_sub(1)?;
        (0..before).for_each(|_| edges &= edges.wrapping_sub(1));
        window.get(edge(&mut edges)..edge(&mut edges))
    }

    /// A line is of a step: all bytes but those in its holes are. Notes where these are.
    #[inline]
    fn fits(&mut self, step: u32, window: &[u8; WINDOW], line: ShortLine) -> bool {
        let Some(Step { pieces: (from, to), .. }) = self.steps.get(step as usize) else {
            return false;
        };
        if *from < self.valid {
            return false;
        }
        let Some(pieces) = self.pieces.get(*from as usize..*to as usize) else { return false };
        let (mut at, mut count, len) = (0, 0, line.len as usize);
        for piece in pieces {
            // Pieces end with the line, since they have no newline.
            if word_at(window, at) & piece.mask != piece.bytes {
                return false;
            }
            at += usize::from(piece.len);
            if piece.hole > 0 {
                // A field that begins here ends at the next edge.
                let edges = line.edges >> (at % 64) & !1;
                let first = at;
                at += edges.trailing_zeros() as usize;
                if at > len {
                    return false;
                }
                self.places.0[count % HOLES] = (first as u8, at as u8);
                count += 1;
            }
        }
        at == len && from < to
    }

    /// Takes in the step of the next line.
    #[inline]
    pub(crate) fn came(&mut self, step: u32) {
        let last = std::mem::replace(&mut self.last, step);
        if let Some(last) = self.steps.get_mut(last as usize) {
            last.after = step;
        }
        let lane = self.steps[step as usize].line.lane as usize;
        if self.lanes.len() <= lane {
            self.lanes.resize(lane + 1, NONE);
        }
        let last = std::mem::replace(&mut self.lanes[lane], step);
        if let Some(Step { next: [first, second], .. }) = self.steps.get_mut(last as usize)
            && *first != step
        {
            *second = std::mem::replace(first, step);
        }
    }

    /// Takes in a short line of a step, whose text is `action` with the name of the lane in its hole.
    #[cold]
    pub(crate) fn learn(
        &mut self,
        step: u32,
        [action, lane]: [&[u8]; 2],
        window: &[u8; WINDOW],
        line: ShortLine,
        roles: &Roles,
    ) {
        let (mut hash, from) = (0, self.pieces.len());
        let mut same = Vec::new();
        let known = walk(window, line, roles, |piece| {
            hash = piece.hash(hash);
            same.extend_from_slice(&piece.bytes.to_le_bytes()[..piece.len.into()]);
            same.extend((piece.hole > 0).then_some(piece.hole));
            self.pieces.push(piece);
        });
        let mut text = Vec::new();
        for byte in action {
            match *byte {
                holes::LANE => text.extend_from_slice(lane),
                byte => text.push(byte),
            }
        }
        if known.is_none() || same != text {
            return self.pieces.truncate(from);
        }
        self.by_hash.insert(hash, step);
        self.steps[step as usize].pieces = (from as u32, self.pieces.len() as u32);
    }
}

/// The next edge, 64 if there is none.
#[inline]
const fn edge(edges: &mut u64) -> usize {
    let edge = edges.trailing_zeros() as usize;
    *edges &= edges.wrapping_sub(1);
    edge
}

/// The first field of a line, if it is short, and no part of a definition; its edges are taken off.
#[inline]
fn code(window: &[u8; WINDOW], edges: &mut u64) -> Option<Key> {
    let (first, end) = (edge(edges), edge(edges));
    let len = end.checked_sub(first).filter(|len| *len <= SHORT && end < 64)?;
    let word = word_at(window, first) & mask(len);
    (word as u8 != b'%').then_some(Key::short(word, len))
}

/// Gives the pieces of a line, up to its end; none if there is no saying what they are.
#[inline]
fn walk(
    window: &[u8; WINDOW],
    line: ShortLine,
    roles: &Roles,
    mut see: impl FnMut(Piece),
) -> Option<()> {
    let mut edges = line.edges;
    let (given, _) = roles.holes(code(window, &mut edges)?)?;
    let mut given = given.iter();
    let mut next = || edge(&mut edges);
    let mut copied = 0;
    let mut literal = |from: usize, to: usize, hole: u8| {
        let mut at = from;
        while to - at > 8 {
            see(Piece::of(window, at, 8, 0));
            at += 8;
        }
        if to > at || hole > 0 {
            see(Piece::of(window, at, to - at, hole));
        }
    };
    loop {
        let (first, end) = (next(), next());
        if end >= 64 {
            break;
        }
        let role = given.next().map_or(holes::VALUE, |role| *role);
        if role > holes::LANE {
            literal(copied, first, role);
            copied = end;
        }
    }
    literal(copied, line.len as usize, 0);
    Some(())
}

/// The bytes of a word that count, the first so many of eight.
#[inline]
const fn mask(len: usize) -> u64 {
    if len < 8 { !(u64::MAX << (8 * len)) } else { u64::MAX }
}

/// Eight bytes of a line, which begin in it.
#[inline]
fn word_at(window: &[u8; WINDOW], at: usize) -> u64 {
    window[at % 64..].first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight))
}
