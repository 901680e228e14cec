use paje_model::names::prefetch::prefetch;

/// Bloom filter of link keys. It stays in the cache, while a set of the keys would cost a cache
/// miss for each link. `replay::lanes::reused_keys` checks the doubtful keys when a lane ends.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    last: Vec<u64>,
    /// Number of keys that still fit into `last`.
    room: usize,
    /// Full parts. There is rarely more than one; see [`Filter::is_scattered`].
    full: Vec<Vec<u64>>,
}

/// Number of bits for each key in a full part. With 24 bits, the filter reports one new key in a thousand by mistake.
const BITS: usize = 24;
const SMALLEST: usize = 16;

/// Number of words above which the parts grow more slowly.
const LARGE: usize = 1 << 15;

impl Filter {
    /// Adds a key. Returns whether it may already have been in the filter.
    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        let bits = bits(hash);
        if self.room == 0 {
            self.grow();
        }
        self.room -= 1;
        let before = self.full.iter().any(|part| has(part, hash, bits));
        let last = &mut self.last[..];
        let mask = last.len().wrapping_sub(1);
        let Some(word) = last.get_mut((hash >> 12) as usize & mask) else { return before };
        let known = *word & bits == bits;
        *word |= bits;
        before | known
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        // Parts grow in large steps, because rebuilding a filter adds all keys again. Large parts grow more slowly,
        // because large steps would waste megabytes.
        let words = match self.last.len() {
            0 => SMALLEST,
            len @ ..LARGE => len * 8,
            len => len * 2,
        };
        let full = std::mem::replace(&mut self.last, vec![0; words]);
        if !full.is_empty() {
            self.full.push(full);
        }
        self.room = words * 64 / BITS;
    }

    /// Prefetches the words of these keys in large parts. If the words have left the caches (`is_far`), also prefetches
    /// words in parts of medium size.
    pub(crate) fn prefetch(&self, is_far: bool, hashes: impl Iterator<Item = u64> + Clone) {
        let from = if is_far { LARGE / 8 } else { LARGE };
        for part in self.full.iter().chain([&self.last]).filter(|part| part.len() >= from) {
            let (words, mask) = (&part[..], part.len() - 1);
            let word = |hash: u64| words[(hash >> 12) as usize & mask];
            prefetch(hashes.clone().map(word));
        }
    }

    /// Returns whether a look-up takes more than two cache misses. Three cache misses are accepted if rebuilding would
    /// take long.
    pub(crate) fn is_scattered(&self) -> bool {
        self.full.len() > 1 + usize::from(self.last.len() > 2 * LARGE)
    }

    /// Rebuilds the filter, with room for all keys. `hashes` are the hashes of these keys.
    pub(crate) fn gather(&mut self, hashes: impl Iterator<Item = u64>) {
        let words = self.last.len().max(SMALLEST);
        self.full.clear();
        match self.last.len() == words {
            true => self.last.fill(0),
            false => self.last = vec![0; words],
        }
        self.room = words * 64 / BITS;
        // `for_each` goes through nested iterators faster than a loop.
        hashes.for_each(|hash| {
            self.insert(hash);
        });
    }
}

#[inline]
fn bits(hash: u64) -> u64 {
    let bit = |shift: u32| 1 << (hash >> shift & 63);
    bit(0) | bit(6) | bit(38) | bit(44)
}

#[inline]
fn has(words: &[u64], hash: u64, bits: u64) -> bool {
    words[(hash >> 12) as usize & (words.len() - 1)] & bits == bits
}

/// Approximate set of hashes. It rarely reports a hash that is not in the set.
pub(crate) struct Hashes {
    bits: Vec<u64>,
}

impl Hashes {
    pub(crate) fn of(hashes: impl ExactSizeIterator<Item = u64>) -> Self {
        let words = hashes.len().next_power_of_two().max(16);
        let mut bits = vec![0; words];
        for hash in hashes {
            bits[(hash >> 6) as usize & (words - 1)] |= 1 << (hash & 63);
        }
        Hashes { bits }
    }

    #[inline]
    pub(crate) fn has(&self, hash: u64) -> bool {
        let word = self.bits[(hash >> 6) as usize & (self.bits.len() - 1)];
        word >> (hash & 63) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::Rng;

    fn hash(i: u64) -> u64 {
        Rng::new(i).bits()
    }

    #[test]
    fn finds_every_key_and_few_others() {
        let mut filter = Filter::default();
        let doubts = (0..50_000).filter(|i| filter.insert(hash(*i))).count();
        assert!(doubts < 1_000, "{doubts}");
        assert!(filter.is_scattered());
        assert!((0..50_000).all(|i| filter.insert(hash(i))));
        filter.gather((0..50_000).map(hash));
        assert!(!filter.is_scattered());
        assert!(filter.full.is_empty());
        assert!((0..50_000).all(|i| has(&filter.last, hash(i), bits(hash(i)))));
    }
}
