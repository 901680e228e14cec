//! Links of one container and type: each has two ends that share a key.

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
use crate::memory::{ExtraPair, KeyPlace, NewLink, Store};
use crate::names::error::Place;

/// The replay of one strand of a link lane: the links whose keys' hashes put them there. The rows of
/// the lane are merged from all its strands, in order of completion: see `replay::link_homes`.
#[derive(Debug, Default)]
pub(crate) struct LinkStrand {
    /// Links that lack an end, by key.
    open: OpenLinks,
    /// The keys of all links, open and completed: a key may not be used again.
    pub(crate) filter: Filter,
    /// Links whose keys may have been used before, in the order of their first events.
    pub(crate) reuse_candidates: Vec<ReuseCandidate>,
    keys: KeyMemory,
    /// Nobody wants the rows of its lane.
    unwanted: bool,
    /// The hashes of the keys of all links, if they are what is remembered.
    hashes: KeyHashList,
    /// One of them came again, in a container that has ended.
    had_key_again: bool,
}

/// Memory of the keys of completed links, which may not be used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum KeyMemory {
    /// All keys.
    #[default]
    Keys,
    /// Hashes, which tell that no key is used again, but not that one is.
    Hashes,
    /// Nothing, for memory's sake.
    Nothing,
}

/// A link whose key may have been used before: the filter cannot tell.
#[derive(Clone, Debug)]
pub(crate) struct ReuseCandidate {
    pub(crate) hash: u64,
    /// Byte of its first event.
    pub(crate) at: u64,
    /// Place of its key in memory.
    pub(crate) key: u64,
    pub(crate) written: KeyInFile,
}

/// Place of a key in a file, and the line if its text is not there yet.
pub(crate) type KeyInFile = (Place, Option<LaterLine>);

/// A link whose key is to be remembered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    hash: u64,
    /// Its first event.
    at: u64,
    /// Place of its key.
    key: u64,
}

impl LinkStrand {
    pub(crate) fn new(keys: KeyMemory) -> Self {
        LinkStrand { keys, ..LinkStrand::default() }
    }

    /// The same of a lane whose rows nobody wants.
    pub(crate) fn unwanted(self) -> Self {
        LinkStrand { unwanted: true, ..self }
    }

    /// Tells whether somebody wants the rows of its lane.
    pub(crate) const fn is_wanted(&self) -> bool {
        !self.unwanted
    }

    /// Tells whether there may be links with keys that had been used, where only hashes are remembered. The `last` time,
    /// all links count; before, those that came since this was asked may not.
    pub(crate) fn has_key_again(&mut self, last: bool) -> bool {
        self.had_key_again || self.hashes.comes_again(last)
    }

    /// Opens a link, or completes the one that this key opened, for which `completed` is called. Returns whether there was
    /// room for the key: if not, nothing has been done. A link that is `opened` is to be [remembered](LinkStrand::remember).
    ///
    /// `at` is the byte of the event; the keys are those of a shard with this number.
    #[inline(always)]
    pub(crate) fn add(
        &mut self,
        (keys, shard): (&mut impl Keeper, u8),
        half: HalfLink,
        written: WrittenKey<'_>,
        at: u64,
        opened: &mut Vec<Opened>,
        completed: impl FnOnce(NewLink),
    ) -> Result<bool, Refused> {
        let WrittenKey { short, hash, .. } = written;
        let is = |open: &OpenLink| keys.has_at(written, open.key.place());
        let Some(slot) = self.open.find(hash, short, is) else {
            let Some(key) = keys.keep(written) else { return Ok(false) };
            if self.keys != KeyMemory::Nothing {
                opened.push(Opened { hash, at, key });
            }
            let key = KeyPlace::new(shard, key, hash as u32);
            self.open.insert(OpenLink::new((hash, *short), half, key, at));
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

    /// Completes the link that this key opened, with the value that it was opened with.
    #[cold]
    pub(crate) fn complete_as_begun(
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

    /// Remembers the keys of links that were opened. Memory fetches what is needed for them side by side, rather than one after
    /// the other. If it `is_far`, others have been replayed since this was done last.
    /// `locate` finds a key in its file by the byte of its event.
    pub(crate) fn remember(
        &mut self,
        is_far: bool,
        opened: &mut Vec<Opened>,
        mut locate: impl FnMut(u64) -> KeyInFile,
    ) {
        self.filter.touch(is_far, opened.iter().map(|opened| opened.hash));
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

    /// Bytes of the events of the links that lack an end, and the places of their keys.
    pub(crate) fn open(&self) -> impl Iterator<Item = (u64, KeyPlace)> + '_ {
        self.open.iter().map(|open| (open.at, open.key))
    }

    /// Number of links that lack an end.
    pub(crate) fn open_count(&self) -> u64 {
        self.open.len() as u64
    }

    /// Carries what is open over to a new store.
    pub(crate) fn start_afresh(&mut self, old: &Store, new: &mut Store) {
        for open in self.open.iter_mut() {
            open.key = open.key.moved(new.keys.push(old.keys.get(open.key.place())));
            let extra = ExtraPair { opening: open.extra, closing: 0 };
            open.extra = new.carry_extras(old, extra).opening;
        }
    }

    /// The container ends: what is open will never be complete.
    pub(crate) fn close(&mut self) {
        let had_key_again = self.has_key_again(true);
        *self = LinkStrand { had_key_again, ..LinkStrand::new(self.keys) };
    }
}

/// The link of two halves, of which `open` came first.
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
        // In the order of the file: PajeNG 1.3.6 behaviour.
        extra: ExtraPair { opening: other.extra, closing: half.extra },
    }
}
