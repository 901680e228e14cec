//! Actions as a writer compares short lines with them: a line of one that has come before is not taken apart again.

use std::ops::Range;

use paje_parser::scan::ShortLine;
use rustc_hash::FxHashMap;

use crate::lines::holes;
use crate::template::Roles;
use crate::texts::{Key, SHORT, fold};

/// Bytes that a line is looked at in, and a word more.
pub(crate) const WINDOW: usize = 64 + 8;

/// Some bytes of an action, eight at most, and the hole behind them.
#[derive(Clone, Copy)]
struct Piece {
    bytes: u64,
    len: u8,
    /// 0 if there is none.
    hole: u8,
}

impl Piece {
    /// The bytes of a line, from one on.
    #[inline]
    fn of(window: &[u8; WINDOW], at: usize, len: usize, hole: u8) -> Piece {
        Piece { bytes: word_at(window, at) & mask(len), len: len as u8, hole }
    }

    /// A hash of all pieces, from that of those before.
    #[inline]
    const fn hash(self, before: u64) -> u64 {
        let kind = (self.len as u64) << 8 | self.hole as u64;
        fold(before ^ self.bytes, 0x9e37_79b9_7f4a_7c15 ^ kind)
    }
}

/// Where the holes of a line are.
#[derive(Default)]
pub(crate) struct Places {
    /// Their beginnings and ends, and how many there are.
    fields: [(u8, u8); 32],
    count: usize,
    lane: (u8, u8),
}

impl Places {
    /// A hole, by its place.
    #[inline]
    pub(crate) fn place(&self, number: u32) -> Range<usize> {
        let (first, end) = self.fields[number as usize];
        first.into()..end.into()
    }

    /// The name of the lane, which is empty if there is none.
    #[inline]
    pub(crate) fn lane<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.lane.0.into()..self.lane.1.into()]
    }

    fn clear(&mut self) {
        self.count = 0;
        self.lane = (0, 0);
    }

    #[inline]
    fn push(&mut self, hole: u8, first: usize, end: usize) {
        let field = (first as u8, end as u8);
        if hole == holes::LANE {
            self.lane = field;
        }
        // A field and what is behind it take two bytes.
        if let Some(place) = self.fields.get_mut(self.count) {
            *place = field;
            self.count += 1;
        }
    }
}

/// The actions of short lines that have come.
#[derive(Default)]
pub(crate) struct Matcher {
    pieces: Vec<Piece>,
    /// Of each action, the pieces and the number of its holes; none of one that no short line has.
    actions: Vec<(u32, u32)>,
    by_hash: FxHashMap<u64, u32>,
    pub(crate) places: Places,
}

impl Matcher {
    /// A line is of an action: all bytes but those in its holes are. Notes where they are.
    #[inline]
    pub(crate) fn fits(&mut self, action: u32, window: &[u8; WINDOW], line: ShortLine) -> bool {
        let Some((from, to)) = self.actions.get(action as usize) else { return false };
        self.places.clear();
        let (mut at, len) = (0, line.len as usize);
        for piece in &self.pieces[*from as usize..*to as usize] {
            if word_at(window, at) & mask(piece.len.into()) != piece.bytes {
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
                self.places.push(piece.hole, first, at);
            }
        }
        at == len && from < to
    }

    /// The action of a line, if it has come before.
    #[inline]
    pub(crate) fn find(
        &mut self,
        window: &[u8; WINDOW],
        line: ShortLine,
        roles: &Roles,
    ) -> Option<u32> {
        let mut hash = 0;
        walk(window, line, roles, |piece| hash = piece.hash(hash))?;
        let action = *self.by_hash.get(&hash)?;
        self.fits(action, window, line).then_some(action)
    }

    /// Takes in the action of a line, if the line has its holes where the text of the action has them.
    #[cold]
    pub(crate) fn learn(
        &mut self,
        action: u32,
        text: &[u8],
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
        if known.is_none() || same != text {
            return self.pieces.truncate(from);
        }
        let place = action as usize;
        if self.actions.len() <= place {
            self.actions.resize(place + 1, (0, 0));
        }
        self.by_hash.insert(hash, action);
        self.actions[place] = (from as u32, self.pieces.len() as u32);
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

/// The name of the lane of a line, if it has one.
#[inline]
pub(crate) fn lane<'t>(
    window: &'t [u8; WINDOW],
    line: ShortLine,
    roles: &Roles,
) -> Option<&'t [u8]> {
    let mut edges = line.edges;
    let (_, lane) = roles.holes(code(window, &mut edges)?)?;
    (0..2 * lane?).for_each(|_| edges &= edges.wrapping_sub(1));
    window.get(edge(&mut edges)..edge(&mut edges))
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
        if role > 0 {
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

/// Eight bytes of a line.
#[inline]
fn word_at(window: &[u8; WINDOW], at: usize) -> u64 {
    window[at..].first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight))
}
