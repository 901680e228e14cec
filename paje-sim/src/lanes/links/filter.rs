//! Filter of the keys that may have been used.

/// A few bits of each key's hash. A set of the keys themselves would look at a place in memory that
/// nothing has looked at for long, for every link; these bits stay in the cache. What they cannot
/// tell apart is looked into when the lane ends: see [`crate::lanes::links::first_reused`].
#[derive(Debug, Default)]
pub(crate) struct Filter {
    /// Each is full but the last. One is enough most of the time: see [`Filter::is_scattered`].
    parts: Vec<Vec<u64>>,
    /// Number of keys in the last part.
    keys: usize,
}

/// Bits for each key when a part is full: about one key in a thousand is then suspected wrongly.
const BITS: usize = 24;
const SMALLEST: usize = 16;

/// Words of a part from which on the next is not much larger.
const LARGE: usize = 1 << 15;

impl Filter {
    /// Adds a key; whether it may have been there.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        let bits = bits(hash);
        let known = match &self.parts[..] {
            [one] => has(one, hash, bits),
            parts => parts.iter().any(|part| has(part, hash, bits)),
        };
        if self.parts.last().is_none_or(|last| (self.keys + 1) * BITS > last.len() * 64) {
            // In large steps, for all keys are asked for again sooner or later; but not where that
            // would be megabytes for nothing.
            let step = |len: usize| if len < LARGE { len * 8 } else { len * 2 };
            let words = self.parts.last().map_or(SMALLEST, |last| step(last.len()));
            self.parts.push(vec![0; words]);
            self.keys = 0;
        }
        if let Some(last) = self.parts.last_mut() {
            let mask = last.len() - 1;
            last[(hash >> 12) as usize & mask] |= bits;
        }
        self.keys += 1;
        known
    }

    /// Fetches the words of these keys, if they are somewhere in much memory.
    pub(crate) fn touch(&self, hashes: impl Iterator<Item = u64>) {
        if let Some(last) = self.parts.last().filter(|last| last.len() >= LARGE) {
            let mask = last.len() - 1;
            let word = |hash: u64| last[(hash >> 12) as usize & mask];
            std::hint::black_box(hashes.fold(0, |sum, hash| sum ^ word(hash)));
        }
    }

    /// True if looking a key up takes more than two looks; [`Filter::gather`] mends that.
    pub(crate) fn is_scattered(&self) -> bool {
        self.parts.len() > 2
    }

    /// Starts again with room for as many keys as were added, and these, which must be all of them.
    pub(crate) fn gather(&mut self, hashes: impl Iterator<Item = u64>) {
        let room = self.parts.last().map_or(SMALLEST, Vec::len);
        self.parts.clear();
        self.parts.push(vec![0; room]);
        self.keys = 0;
        for hash in hashes {
            self.insert(hash);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::hash::hash_bytes;

    fn hash(i: u32) -> u64 {
        hash_bytes(&i.to_le_bytes())
    }

    #[test]
    fn knows_every_key_and_few_others() {
        let mut filter = Filter::default();
        let doubts = (0..50_000).filter(|i| filter.insert(hash(*i))).count();
        assert!(doubts < 1_000, "{doubts}");
        assert!(filter.is_scattered());
        assert!((0..50_000).all(|i| filter.insert(hash(i))));
        filter.gather((0..50_000).map(hash));
        assert!(!filter.is_scattered());
        assert!((0..50_000).all(|i| filter.parts.iter().any(|part| has(
            part,
            hash(i),
            bits(hash(i))
        ))));
    }
}
