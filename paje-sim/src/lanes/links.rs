//! Links of one container and type: each has two ends that share a key.

mod filter;
mod reused;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use paje_parser::{Field, LinkEnd, Span};

pub(crate) use crate::lanes::links::filter::Filter;
pub(crate) use crate::lanes::links::reused::first_reused;
use crate::lanes::refusal::Refused;
use crate::memory::{ExtraPair, NewLink, Store};
use crate::names::error::Place;
use crate::names::hash::{Word, bare, word};
use crate::names::ids::{ContainerId, ValueId};

/// The replay of one strand of a link lane: the links whose keys' hashes put them there. The rows of
/// the lane are merged from all its strands, in order of completion: see `replay::link_homes`.
#[derive(Debug, Default)]
pub(crate) struct LinkStrand {
    /// Links that lack an end, by key.
    open: HashTable<OpenLink>,
    /// The keys of all links, open and completed: a key may not be used again.
    pub(crate) filter: Filter,
    pub(crate) suspects: Vec<Suspect>,
    keys: KeyMemory,
    /// The hashes of the keys of all links, if they are what is remembered.
    hashes: HashTable<u64>,
    /// One of them came again.
    has_key_again: bool,
}

/// What is remembered of the keys of completed links, which may not be used again.
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

#[derive(Clone, Copy, Debug)]
struct OpenLink {
    hash: u64,
    key: u64,
    short: ShortKey,
    half: HalfLink,
    /// The byte of its event.
    at: u64,
}

/// A key of up to sixteen bytes, which is compared without a look at where it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ShortKey {
    word: Word,
    /// [`LONG`] for a longer key, which is not here.
    len: u32,
}

const LONG: u32 = u32::MAX;

impl ShortKey {
    /// Of a key that stands between two places of a block.
    #[inline(always)]
    fn new(padded: &[u8], start: usize, end: usize) -> Self {
        match word(padded, start, end - start) {
            Some(word) => ShortKey { word, len: (end - start) as u32 },
            None => ShortKey { word: Word::default(), len: LONG },
        }
    }

    #[inline(always)]
    fn is(self, other: Self) -> bool {
        let differs = self.word[0] ^ other.word[0] | self.word[1] ^ other.word[1];
        differs | u64::from(self.len ^ other.len) == 0
    }
}

/// A key as a line names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenKey<'a> {
    /// The block.
    pub(crate) padded: &'a [u8],
    /// With its quotes.
    pub(crate) raw: Span,
    /// Of its text without quotes.
    pub(crate) hash: u64,
}

impl<'a> WrittenKey<'a> {
    fn raw(self) -> &'a [u8] {
        &self.padded[self.raw.start as usize..self.raw.end as usize]
    }
}

/// What one event says of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfLink {
    pub(crate) end: LinkEnd,
    pub(crate) time: f64,
    pub(crate) value: ValueId,
    pub(crate) container: ContainerId,
    pub(crate) extra: u32,
}

/// A link whose key may have been used before.
#[derive(Clone, Debug)]
pub(crate) struct Suspect {
    pub(crate) hash: u64,
    /// Its first event.
    pub(crate) at: u64,
    /// The place of its key in the file, once somebody has found it.
    pub(crate) place: Option<Place>,
    /// Where its key is kept.
    pub(crate) key: u64,
}

impl LinkStrand {
    pub(crate) fn new(keys: KeyMemory) -> Self {
        LinkStrand { keys, ..LinkStrand::default() }
    }

    /// Whether there may be links with keys that had been used.
    pub(crate) const fn has_key_again(&self) -> bool {
        self.has_key_again
    }

    /// Opens a link, or completes the one that this key opened, and returns it.
    ///
    /// `at` is the byte of the event.
    #[inline]
    pub(crate) fn add(
        &mut self,
        store: &mut Store,
        half: HalfLink,
        written: WrittenKey<'_>,
        at: u64,
    ) -> Result<Option<NewLink>, Refused> {
        let hash = written.hash;
        let (start, end) = bare(written.padded, written.raw);
        let short = ShortKey::new(written.padded, start, end);
        let found = self.open.find_entry(hash, |open| {
            open.hash == hash
                && open.short.is(short)
                && (short.len != LONG
                    || bare_key(store.keys.get(open.key)) == &written.padded[start..end])
        });
        match found {
            Ok(entry) => {
                let other = entry.get();
                if other.half.end == half.end {
                    return Err(Refused::KeyRepeated(half.end));
                }
                if other.half.value != half.value {
                    let (value, other) = (half.value, other.half.value);
                    return Err(Refused::ValuesDiffer { value, other });
                }
                let (other, _) = entry.remove();
                Ok(Some(complete(&other, half)))
            }
            Err(_) => {
                let key = store.keys.push(written.raw());
                match self.keys {
                    KeyMemory::Keys if self.filter.insert(hash) => {
                        self.suspects.push(Suspect { hash, at, place: None, key });
                    }
                    KeyMemory::Hashes => self.remember(hash),
                    _ => {}
                }
                let open = OpenLink { hash, key, short, half, at };
                self.open.insert_unique(hash, open, |open| open.hash);
                Ok(None)
            }
        }
    }

    fn remember(&mut self, hash: u64) {
        match self.hashes.entry(hash, |known| *known == hash, |known| *known) {
            Entry::Occupied(_) => self.has_key_again = true,
            Entry::Vacant(free) => {
                free.insert(hash);
            }
        }
    }

    /// Completes the link that this key opened, with the value that it was opened with.
    #[cold]
    pub(crate) fn complete_as_begun(
        &mut self,
        store: &Store,
        half: HalfLink,
        written: WrittenKey<'_>,
    ) -> Option<NewLink> {
        let key = bare_key(written.raw());
        let found = self.open.find_entry(written.hash, |open| {
            open.hash == written.hash && bare_key(store.keys.get(open.key)) == key
        });
        let (other, _) = found.ok()?.remove();
        Some(complete(&other, HalfLink { value: other.half.value, ..half }))
    }

    /// To be called with the hashes of the keys that will be added next: memory then fetches what is
    /// needed for them side by side, rather than one after the other.
    pub(crate) fn expect(&self, hashes: impl Iterator<Item = u64>) {
        self.filter.touch(hashes);
    }

    /// Where the keys of the links that lack an end are kept, and the bytes of their events.
    pub(crate) fn open(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.open.iter().map(|open| (open.at, open.key))
    }

    /// How many links lack an end.
    pub(crate) fn open_count(&self) -> u64 {
        self.open.len() as u64
    }

    /// Carries what is open over to a new store.
    pub(crate) fn start_afresh(&mut self, old: &Store, new: &mut Store) {
        for open in &mut self.open {
            open.key = new.keys.push(old.keys.get(open.key));
            let extra = ExtraPair { opening: open.half.extra, closing: 0 };
            open.half.extra = new.carry_extras(old, extra).opening;
        }
    }

    /// The container ends: what is open will never be complete.
    pub(crate) fn close(&mut self) {
        let has_key_again = self.has_key_again;
        *self = LinkStrand { has_key_again, ..LinkStrand::new(self.keys) };
    }
}

fn complete(other: &OpenLink, half: HalfLink) -> NewLink {
    let (start, end) = match half.end {
        LinkEnd::Start => (half, other.half),
        LinkEnd::End => (other.half, half),
    };
    NewLink {
        start: start.time,
        end: end.time,
        value: half.value,
        from: start.container,
        to: end.container,
        key: other.key,
        // In the order of the file: PajeNG 1.3.6 behaviour.
        extra: ExtraPair { opening: other.half.extra, closing: half.extra },
    }
}

/// The key without its quotes.
pub(crate) fn bare_key(raw: &[u8]) -> &[u8] {
    let whole = Span { start: 0, end: raw.len() as u32 };
    let field: Field<'_> = whole.of(raw);
    field.bare()
}
