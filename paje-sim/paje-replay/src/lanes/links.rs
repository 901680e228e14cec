//! Links of one container and type. Each link has two ends with the same key.

mod ends;
mod filter;
mod hashes;
mod open;

use paje_parser::LinkEnd;
use splitter::LaterLine;

pub(crate) use crate::lanes::links::ends::{HalfLink, Keeper, WrittenKey, bare_key};
pub(crate) use crate::lanes::links::filter::{Filter, Hashes};
use crate::lanes::links::hashes::KeyHashList;
use crate::lanes::links::open::{OpenLink, OpenLinks};
use crate::lanes::refusal::Refused;
use paje_model::memory::{ExtraPair, KeyPlace, NewLink, Store};
use paje_model::names::error::Place;

/// State of one strand of a link lane. The hash of a link's key determines its strand. The rows of all strands are
/// merged in order of completion (see `replay::link_merger`).
#[derive(Debug, Default)]
pub struct LinkStrand {
    open: OpenLinks,
    /// Filter of the keys of all links so far, because a key must not be used twice.
    pub(crate) filter: Filter,
    /// Links whose keys may have been used before, in the order of their first events.
    pub(crate) reuse_candidates: Vec<ReuseCandidate>,
    keys: KeyMemory,
    unwanted: bool,
    /// Hashes of all keys, if the keys themselves are not remembered.
    hashes: KeyHashList,
    had_reused_key: bool,
}

/// How to remember the keys of completed links. These keys must not be reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyMemory {
    #[default]
    Keys,
    /// Only the hashes of the keys are remembered. If all hashes differ, no key is reused. If two
    /// hashes are equal, a key may be reused.
    Hashes,
    /// To save memory, neither keys nor hashes are remembered.
    Nothing,
}

/// A link whose key may have been used before, according to the filter.
#[derive(Clone, Debug)]
pub struct ReuseCandidate {
    pub(crate) hash: u64,
    pub at: u64,
    pub(crate) key: u64,
    pub written: KeyInFile,
}

/// Place of a key in a file. If the text of the key is not known yet, also its line.
pub type KeyInFile = (Place, Option<LaterLine>);

/// A link whose key must still be [remembered](LinkStrand::remember).
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    hash: u64,
    at: u64,
    key: u64,
}

impl LinkStrand {
    pub fn new(keys: KeyMemory) -> Self {
        LinkStrand { keys, ..LinkStrand::default() }
    }

    pub fn unwanted(self) -> Self {
        LinkStrand { unwanted: true, ..self }
    }

    pub const fn is_wanted(&self) -> bool {
        !self.unwanted
    }

    /// Returns whether a key may have been reused, if only hashes are remembered. Only the `last` call is sure to cover
    /// all links.
    pub fn may_reuse_key(&mut self, last: bool) -> bool {
        self.had_reused_key || self.hashes.has_repeats(last)
    }

    /// Opens a link, or completes the open link with this key and passes it to `completed`. Returns `false` and does
    /// nothing if there is no room for the key. The caller must then [remember](LinkStrand::remember) the keys of the
    /// links in `opened`.
    ///
    /// `keys` holds the keys of shard number `shard`.
    #[inline(always)]
    pub fn add(
        &mut self,
        keys: &mut impl Keeper,
        shard: u8,
        half: HalfLink,
        written: WrittenKey<'_>,
        opened: &mut Vec<Opened>,
        completed: impl FnOnce(NewLink),
    ) -> Result<bool, Refused> {
        let WrittenKey { short, hash, .. } = written;
        let is = |open: &OpenLink| keys.has_at(written, open.key.place());
        let Some(slot) = self.open.find(hash, short, is) else {
            let Some(key) = keys.keep(written) else { return Ok(false) };
            if self.keys != KeyMemory::Nothing {
                opened.push(Opened { hash, at: half.at, key });
            }
            let key = KeyPlace::new(shard, key, hash as u32);
            self.open.insert(OpenLink::new(hash, *short, half, key));
            return Ok(true);
        };
        let other = self.open.get(slot).half();
        if other.end == half.end {
            return Err(Refused::KeyRepeated(half.end));
        }
        if other.value != half.value {
            return Err(Refused::ValuesDiffer { value: half.value, other: other.value });
        }
        completed(complete(self.open.remove(slot), half));
        Ok(true)
    }

    #[cold]
    pub fn complete_as_begun(
        &mut self,
        store: &Store,
        half: HalfLink,
        written: WrittenKey<'_>,
    ) -> Option<NewLink> {
        let is = |open: &OpenLink| written.is_kept_at(store, open.key.place());
        let slot = self.open.find(written.hash, written.short, is)?;
        let value = self.open.get(slot).half().value;
        Some(complete(self.open.remove(slot), HalfLink { value, ..half }))
    }

    /// Remembers the keys of opened links, all together, so that cache misses overlap. `is_far` says whether other
    /// blocks were replayed since the last call. `locate` finds a key in its file by the byte offset of its event.
    pub fn remember(
        &mut self,
        is_far: bool,
        opened: &mut Vec<Opened>,
        mut locate: impl FnMut(u64) -> KeyInFile,
    ) {
        self.filter.prefetch(is_far, opened.iter().map(|opened| opened.hash));
        match self.keys {
            KeyMemory::Keys => {
                for &Opened { hash, at, key } in &*opened {
                    if self.filter.insert(hash) {
                        let written = locate(at);
                        self.reuse_candidates.push(ReuseCandidate { hash, at, key, written });
                    }
                }
            }
            KeyMemory::Hashes => {
                opened.iter().for_each(|opened| self.hashes.add(opened.hash, &mut self.filter));
            }
            KeyMemory::Nothing => {}
        }
        opened.clear();
    }

    /// Returns the byte offsets of the events of incomplete links, and the places of their keys.
    pub fn open(&self) -> impl Iterator<Item = (u64, KeyPlace)> + '_ {
        self.open.iter().map(|open| (open.at, open.key))
    }

    /// Returns the known halves of incomplete links, and the places of their keys.
    pub(crate) fn open_halves(&self) -> impl Iterator<Item = (HalfLink, KeyPlace)> + '_ {
        self.open.iter().map(|open| (open.half(), open.key))
    }

    pub fn open_count(&self) -> u64 {
        self.open.len() as u64
    }

    pub fn forget_rows(&mut self, old: &Store, new: &mut Store) {
        for open in self.open.iter_mut() {
            open.key = open.key.moved(new.keys.push(old.keys.get(open.key.place())));
            let extra = ExtraPair { opening: open.extra, closing: 0 };
            open.extra = new.carry_extras(old, extra).opening;
        }
    }

    pub fn close(&mut self) {
        let had_reused_key = self.may_reuse_key(true);
        *self = LinkStrand { had_reused_key, ..LinkStrand::new(self.keys) };
    }
}

#[inline(always)]
fn complete(open: &OpenLink, half: HalfLink) -> NewLink {
    let (other, key) = (open.half(), open.key);
    let (start, end) = match half.end {
        LinkEnd::Start => (half, other),
        LinkEnd::End => (other, half),
    };
    NewLink {
        start: start.time,
        end: end.time,
        value: half.value,
        from: start.container,
        to: end.container,
        key,
        // The fields follow the order of the two events in the file, as in PajeNG 1.3.6.
        extra: ExtraPair { opening: other.extra, closing: half.extra },
    }
}
