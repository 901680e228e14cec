//! Links of one container and type: each has two ends that share a key.

use hashbrown::HashTable;
use paje_parser::{Field, LinkEnd, Span};

use crate::columns::Rows;
use crate::engine::lanes::Refused;
use crate::ids::{ContainerId, ValueId};
use crate::store::{ExtraPair, NewLink, Store};

/// The replay of one link lane. Rows are in order of completion.
#[derive(Debug, Default)]
pub(crate) struct LinkLane {
    pub(crate) rows: Rows,
    /// Links that lack an end, by key.
    open: HashTable<OpenLink>,
    /// The keys of all links, open and completed: a key may not be used again.
    seen: Seen,
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
                if !self.seen.insert(hash) && self.is_used(store, key) {
                    return Err(Refused::KeyReused);
                }
                let key = store.keys.push(raw_key);
                let order = self.opened;
                self.opened += 1;
                let open = OpenLink { hash, key, half, order };
                self.open.insert_unique(hash, open, |open| open.hash);
                Ok(())
            }
        }
    }

    /// To be called with the hashes of the keys that will be added next.
    pub(crate) fn expect(&self, hashes: impl Iterator<Item = u64>) {
        self.seen.touch(hashes);
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
            extra: ExtraPair { opening: start.extra, closing: end.extra },
        };
        store.link(&mut self.rows, link);
    }

    /// Whether a completed link has this very key. Asked only when hashes meet, which is almost
    /// always because the trace is wrong.
    #[cold]
    fn is_used(&self, store: &Store, key: &[u8]) -> bool {
        self.rows.chunks().any(|(at, count)| {
            let keys = store.links.key.slice(at, count);
            keys.iter().any(|at| bare_key(store.keys.get(*at)) == key)
        })
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
        self.seen = Seen::default();
    }
}

/// Hashes of keys. Almost every key is new, and its place in memory has not been looked at for long:
/// see [`Seen::touch`].
#[derive(Debug, Default)]
struct Seen {
    /// Open addressing; 0 is a free slot.
    slots: Vec<u64>,
    len: usize,
}

impl Seen {
    /// Adds a hash; `false` if it was there.
    #[inline]
    fn insert(&mut self, hash: u64) -> bool {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        let hash = hash.max(1);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            if self.slots[at] == hash {
                return false;
            }
            at = (at + 1) & mask;
        }
        self.slots[at] = hash;
        self.len += 1;
        true
    }

    /// Looks where the hashes belong, so that memory fetches these places side by side rather than
    /// one after the other: 50 ns a link become 10.
    fn touch(&self, hashes: impl Iterator<Item = u64>) {
        if let Some(mask) = self.slots.len().checked_sub(1) {
            let sum = hashes.fold(0, |sum, hash| sum ^ self.slots[hash as usize & mask]);
            std::hint::black_box(sum);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![0; (self.slots.len() * 2).max(64)];
        self.len = 0;
        for hash in std::mem::replace(&mut self.slots, larger) {
            if hash != 0 {
                self.insert(hash);
            }
        }
    }
}

/// The key without its quotes.
pub(crate) fn bare_key(raw: &[u8]) -> &[u8] {
    let whole = Span { start: 0, end: raw.len() as u32 };
    let field: Field<'_> = whole.of(raw);
    field.bare()
}
