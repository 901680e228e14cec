//! Links of one container and type: each has two ends that share a key.

use hashbrown::HashTable;
use paje_parser::{Field, LinkEnd, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::columns::Rows;
use crate::engine::lanes::Refused;
use crate::engine::symbols::hash_bytes;
use crate::error::Place;
use crate::ids::{ContainerId, ValueId};
use crate::store::{ExtraPair, NewLink, Store};

/// The replay of one link lane. Rows are in order of completion.
#[derive(Debug, Default)]
pub(crate) struct LinkLane {
    pub(crate) rows: Rows,
    /// Links that lack an end, by key.
    open: HashTable<OpenLink>,
    /// The keys of all links, open and completed: a key may not be used again.
    filter: Filter,
    pub(crate) suspects: Vec<Suspect>,
    /// Start and end of the last completed link.
    last: Option<(f64, f64)>,
    opened: u64,
}

#[derive(Clone, Copy, Debug)]
struct OpenLink {
    hash: u64,
    key: u64,
    half: HalfLink,
    /// How many links of the lane were opened before it.
    order: u64,
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

impl LinkLane {
    /// Opens a link, or completes the one that this key opened.
    ///
    /// `raw_key` is the key as it was written, `hash` that of its text without quotes.
    #[inline]
    pub(crate) fn add(
        &mut self,
        store: &mut Store,
        half: HalfLink,
        raw_key: &[u8],
        hash: u64,
        at: u64,
    ) -> Result<(), Refused> {
        let key = bare_key(raw_key);
        let found = self.open.find_entry(hash, |open| {
            open.hash == hash && bare_key(store.keys.get(open.key)) == key
        });
        match found {
            Ok(entry) => {
                let other = *entry.get();
                if other.half.end == half.end {
                    return Err(Refused::KeyRepeated);
                }
                if other.half.value != half.value {
                    return Err(Refused::ValuesDiffer(other.half.value));
                }
                if let Some((start, end)) = self.last
                    && (half.time < start || half.time < end)
                {
                    return Err(Refused::Earlier(start.max(end)));
                }
                entry.remove();
                self.complete(store, other, half);
                Ok(())
            }
            Err(_) => {
                let key = store.keys.push(raw_key);
                if self.filter.is_full() {
                    self.grow_filter(store);
                }
                if self.filter.insert(hash) {
                    self.suspects.push(Suspect { hash, at, place: None, key });
                }
                let order = self.opened;
                self.opened += 1;
                let open = OpenLink { hash, key, half, order };
                self.open.insert_unique(hash, open, |open| open.hash);
                Ok(())
            }
        }
    }

    /// To be called with the hashes of the keys that will be added next: memory then fetches what is
    /// needed for them side by side, rather than one after the other.
    pub(crate) fn expect(&self, hashes: impl Iterator<Item = u64>) {
        if let Some(mask) = self.filter.words.len().checked_sub(1) {
            let word = |hash: u64| self.filter.words[(hash >> 12) as usize & mask];
            std::hint::black_box(hashes.fold(0, |sum, hash| sum ^ word(hash)));
        }
    }

    fn complete(&mut self, store: &mut Store, other: OpenLink, half: HalfLink) {
        let (start, end) = match half.end {
            LinkEnd::Start => (half, other.half),
            LinkEnd::End => (other.half, half),
        };
        self.last = Some((start.time, end.time));
        let link = NewLink {
            start: start.time,
            end: end.time,
            value: half.value,
            from: start.container,
            to: end.container,
            key: other.key,
            // In the order of the file: PajeNG 1.3.6 behaviour.
            extra: ExtraPair { opening: other.half.extra, closing: half.extra },
        };
        store.link(&mut self.rows, link);
    }

    /// The keys of all links, without quotes, with their places in the store.
    fn keys<'s>(&'s self, store: &'s Store) -> impl Iterator<Item = &'s [u8]> {
        let completed = self.rows.chunks().flat_map(|(at, count)| store.links.key.slice(at, count));
        let open = self.open.iter().map(|open| &open.key);
        completed.chain(open).map(|place| bare_key(store.keys.get(*place)))
    }

    #[cold]
    fn grow_filter(&mut self, store: &Store) {
        // In large steps: each asks for all keys again.
        let words = vec![0; (self.filter.words.len() * 8).max(16)];
        let mut larger = Filter { words, keys: 0 };
        for key in self.keys(store) {
            larger.insert(hash_bytes(key));
        }
        self.filter = larger;
    }

    /// The first link, by its first event, whose key was used before, and the key.
    pub(crate) fn reused(&self, store: &Store) -> Option<(&Suspect, Vec<u8>)> {
        if self.suspects.is_empty() {
            return None;
        }
        let key_of = |suspect: &Suspect| bare_key(store.keys.get(suspect.key));
        // How many links and how many suspects have each suspected key.
        let mut counts: FxHashMap<&[u8], (u32, u32)> = FxHashMap::default();
        let hashes: FxHashSet<u64> = self.suspects.iter().map(|suspect| suspect.hash).collect();
        for suspect in &self.suspects {
            counts.entry(key_of(suspect)).or_default().1 += 1;
        }
        for key in self.keys(store).filter(|key| hashes.contains(&hash_bytes(key))) {
            if let Some((links, _)) = counts.get_mut(key) {
                *links += 1;
            }
        }
        // All links of a key but the first are suspects; the first may be one by mistake.
        let mut first_met: FxHashSet<&[u8]> = FxHashSet::default();
        let reused = self.suspects.iter().find(|suspect| {
            let key = key_of(suspect);
            let (links, suspects) = counts.get(key).copied().unwrap_or_default();
            suspects < links || !first_met.insert(key)
        })?;
        Some((reused, key_of(reused).to_vec()))
    }

    /// Keys of the links that lack an end, in the order of their events; at most `most` of them.
    pub(crate) fn open_keys(&self, store: &Store, most: usize) -> Vec<Vec<u8>> {
        let mut open: Vec<&OpenLink> = self.open.iter().collect();
        open.sort_unstable_by_key(|open| open.order);
        let keys = open.iter().take(most);
        keys.map(|open| bare_key(store.keys.get(open.key)).to_vec()).collect()
    }

    /// How many links lack an end.
    pub(crate) fn open_count(&self) -> u64 {
        self.open.len() as u64
    }

    /// The container ends: what is open will never be complete.
    pub(crate) fn close(&mut self) {
        self.open = HashTable::new();
        self.filter = Filter::default();
        self.suspects = Vec::new();
    }
}

/// Which keys may have been used: a few bits of each key's hash. A set of the keys themselves would
/// look at a place in memory that nothing has looked at for long, for every link; these bits stay in
/// the cache. What they cannot tell apart is looked into when the lane ends: see
/// [`LinkLane::reused`].
#[derive(Debug, Default)]
struct Filter {
    words: Vec<u64>,
    keys: usize,
}

impl Filter {
    /// Bits for each key when the filter is full: about 1 % of the keys are then suspected wrongly.
    const BITS: usize = 16;

    fn is_full(&self) -> bool {
        (self.keys + 1) * Self::BITS > self.words.len() * 64
    }

    /// Adds a key; whether it may have been there.
    #[inline]
    fn insert(&mut self, hash: u64) -> bool {
        let mask = self.words.len() - 1;
        let word = &mut self.words[(hash >> 12) as usize & mask];
        let bits = 1 << (hash & 63) | 1 << (hash >> 6 & 63);
        let known = *word & bits == bits;
        *word |= bits;
        self.keys += 1;
        known
    }
}

/// A link whose key may have been used before.
#[derive(Clone, Debug)]
pub(crate) struct Suspect {
    pub(crate) hash: u64,
    /// Its first event.
    pub(crate) at: u64,
    /// The place of its key in the file, once somebody has found it.
    pub(crate) place: Option<Place>,
    key: u64,
}

/// The key without its quotes.
pub(crate) fn bare_key(raw: &[u8]) -> &[u8] {
    let whole = Span { start: 0, end: raw.len() as u32 };
    let field: Field<'_> = whole.of(raw);
    field.bare()
}
