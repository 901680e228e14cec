//! Keys of links: those that begin by rule, those that end by those that began.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::coder::{Context, Model, Side, mix};
use crate::column::Columns;

/// Parts that a key is cut into.
const PARTS: usize = 8;
/// Of these, those that may say where the link ends.
const TELLING: usize = 3;
/// Of links that wait for their ends, those that are looked at.
const NEAR: usize = 64;
/// Links that wait in one place, at most.
const WAITING: usize = 1 << 12;
/// What parts of keys are joined with.
const JOINT: u8 = b'_';
/// How the end of a link is found: by one of the parts that tell; among all that wait; not at all.
const ANY: usize = TELLING;
const SPELT: usize = TELLING + 1;

pub(crate) struct Keys {
    columns: Columns,
    model: Model,
    /// The keys of links that have begun, where they end, and whether the links have ended.
    begun: Vec<u8>,
    links: Vec<(usize, bool)>,
    /// Links that wait, by what their keys have where.
    waiting: FxHashMap<u32, VecDeque<u32>>,
    /// What the parts of the last key were that ended in a lane.
    ended: FxHashMap<u32, [u32; TELLING]>,
    /// How the last end was found.
    how: usize,
    /// What the last key of a lane was.
    last: FxHashMap<u32, u32>,
}

fn parts(key: &[u8]) -> impl Iterator<Item = &[u8]> {
    key.splitn(PARTS, |byte| *byte == JOINT)
}

/// What the first parts of a key are.
fn telling(key: &[u8]) -> [u32; TELLING] {
    let mut all = [0; TELLING];
    for (part, text) in all.iter_mut().zip(parts(key)) {
        *part = text.iter().fold(1, |hash, byte| mix(hash, (*byte).into()));
    }
    all
}

/// Where links wait whose keys have this part.
fn place(how: usize, part: u32) -> u32 {
    mix(part, how as u32)
}

impl Keys {
    pub(crate) fn new(room: u32) -> Self {
        Keys {
            columns: Columns::new(room),
            model: Model::new(room),
            begun: Vec::new(),
            links: Vec::new(),
            waiting: FxHashMap::default(),
            ended: FxHashMap::default(),
            how: ANY,
            last: FxHashMap::default(),
        }
    }

    fn key(&self, link: u32) -> &[u8] {
        let start = link.checked_sub(1).map_or(0, |before| self.links[before as usize].0);
        &self.begun[start..self.links[link as usize].0]
    }

    /// The key of a link that begins. Of the contexts, the first is the lane's, the second the line's.
    pub(crate) fn start<S: Side>(
        &mut self,
        side: &mut S,
        column: u32,
        contexts: [u32; 2],
        key: &[u8],
        out: &mut Vec<u8>,
    ) {
        let from = out.len();
        self.spell(side, column, contexts, key, out);
        let link = self.links.len() as u32;
        self.begun.extend_from_slice(&out[from..]);
        self.links.push((self.begun.len(), false));
        let telling = telling(&out[from..]);
        let places = telling.into_iter().enumerate().chain([(ANY, 0)]);
        for (how, part) in places {
            let waiting = self.waiting.entry(place(how, part)).or_default();
            if waiting.len() == WAITING {
                waiting.pop_front();
            }
            waiting.push_back(link);
        }
    }

    /// The key of a link that ends in lane number `lane`.
    pub(crate) fn end<S: Side>(
        &mut self,
        side: &mut S,
        column: u32,
        lane: u32,
        contexts: [u32; 2],
        key: &[u8],
        out: &mut Vec<u8>,
    ) {
        let from = out.len();
        let told = self.ended.get(&lane).copied();
        let place = |how: usize| {
            told.filter(|_| how < ANY).map_or(place(ANY, 0), |told| place(how, told[how]))
        };
        let (mut how, mut index) = (SPELT, 0);
        if S::WRITES {
            // As the last one was found, if possible.
            let ways = [self.how, 0, 1, 2, ANY];
            let found = ways.into_iter().filter(|way| *way <= ANY);
            let found = found.filter_map(|way| Some((way, self.find(place(way), key)?))).next();
            (how, index) = found.unwrap_or((SPELT, 0));
        }
        let at = Context::new(mix(column, 1), mix(self.how as u32, column));
        how = self.model.number(side, at, how as u64, u32::MAX) as usize;
        match how {
            0..=ANY => {
                self.how = how;
                let at = Context::new(mix(column, 2), mix(contexts[0], 3));
                let index = self.model.number(side, at, index as u64, u32::MAX) as usize;
                let Some(link) = self.open(place(how)).nth(index.min(NEAR)) else {
                    return side.fail();
                };
                self.links[link as usize].1 = true;
                out.extend_from_slice(self.key(link));
                self.forget(place(how));
            }
            SPELT => self.spell(side, column, contexts, key, out),
            _ => side.fail(),
        }
        self.ended.insert(lane, telling(&out[from..]));
    }

    /// The links that wait in a place and have not ended.
    fn open(&self, place: u32) -> impl Iterator<Item = u32> {
        let waiting = self.waiting.get(&place).into_iter().flatten().copied();
        waiting.filter(|link| !self.links[*link as usize].1)
    }

    /// Which of them has this key.
    fn find(&self, place: u32, key: &[u8]) -> Option<usize> {
        self.open(place).take(NEAR).position(|link| self.key(link) == key)
    }

    /// Links that have ended need not wait any more.
    fn forget(&mut self, place: u32) {
        let links = &self.links;
        if let Some(waiting) = self.waiting.get_mut(&place) {
            let has_ended = |link: &u32| links[*link as usize].1;
            let ended = waiting.iter().take_while(|link| has_ended(link)).count();
            waiting.drain(..ended);
            if waiting.len() > 4 * NEAR
                && waiting.iter().take(4 * NEAR).filter(|link| has_ended(link)).count() > 2 * NEAR
            {
                waiting.retain(|link| !has_ended(link));
            }
        }
    }

    /// A key, part by part.
    fn spell<S: Side>(
        &mut self,
        side: &mut S,
        column: u32,
        contexts: [u32; 2],
        key: &[u8],
        out: &mut Vec<u8>,
    ) {
        let at = Context::new(mix(column, 4), mix(column, 4));
        let count = self.model.number(side, at, parts(key).count() as u64, u32::MAX);
        if count == 0 || count > PARTS as u64 {
            return side.fail();
        }
        let mut given = parts(key);
        let [lane, line] = contexts;
        let mut before = self.last.get(&lane).copied().unwrap_or(0);
        for part in 0..count as u32 {
            if part > 0 {
                out.push(JOINT);
            }
            let text = if S::WRITES { given.next().unwrap_or_default() } else { b"" };
            let contexts = [mix(lane, before), mix(line, mix(before, 6))];
            let value = self.columns.text(side, column * PARTS as u32 + part, contexts, text, out);
            before = mix(before, value.bits as u32);
        }
        self.last.insert(lane, before);
    }
}
