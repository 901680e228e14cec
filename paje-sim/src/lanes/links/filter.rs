//! Filter of the keys that may have been used.

/// A few bits of each key's hash. A set of the keys themselves would look at a place in memory that
/// nothing has looked at for long, for every link; these bits stay in the cache. What they cannot
/// tell apart is looked into when the lane ends: see `replay::lanes::reused_keys`.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    /// The bits of keys that are not full yet.
    last: Vec<u64>,
    /// Keys that there is still room for.
    room: usize,
    /// Those that are. One is enough most of the time: see [`Filter::is_scattered`].
    full: Vec<Vec<u64>>,
}

/// Bits for each key when a part is full: about one key in a thousand is then suspected wrongly.
const BITS: usize = 24;
const SMALLEST: usize = 16;

/// Words of a part from which on the next is not much larger.
const LARGE: usize = 1 << 15;

impl Filter {
    /// Adds a key; whether it may have been there.
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

    /// Another part.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        // In large steps, for all keys are asked for again sooner or later; but not where that
        // would be megabytes for nothing.
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

    /// Fetches the words of these keys, if they are somewhere in much memory, or in some that nobody has looked at for long.
    pub(crate) fn touch(&self, is_far: bool, hashes: impl Iterator<Item = u64> + Clone) {
        let from = if is_far { LARGE / 8 } else { LARGE };
        for part in self.full.iter().chain([&self.last]).filter(|part| part.len() >= from) {
            let (words, mask) = (&part[..], part.len() - 1);
            let word = |hash: u64| words[(hash >> 12) as usize & mask];
            std::hint::black_box(hashes.clone().fold(0, |sum, hash| sum ^ word(hash)));
        }
    }

    /// True if looking a key up takes more looks than two or, where gathering would take long, three;
    /// [`Filter::gather`] mends that.
    pub(crate) fn is_scattered(&self) -> bool {
        self.full.len() > 1 + usize::from(self.last.len() > 2 * LARGE)
    }

    /// Starts again with room for as many keys as were added, and these, which must be all of them.
    pub(crate) fn gather(&mut self, hashes: impl Iterator<Item = u64>) {
        let words = self.last.len().max(SMALLEST);
        self.full.clear();
        match self.last.len() == words {
            true => self.last.fill(0),
            false => self.last = vec![0; words],
        }
        self.room = words * 64 / BITS;
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

/// Some bits of hashes: almost always enough to know that a hash is none of them.
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
    use testkit::SplitMix;

    /// Spread as if by chance, and the same in each process.
    fn hash(i: u64) -> u64 {
        SplitMix(i).next()
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
        assert!(filter.full.is_empty());
        assert!((0..50_000).all(|i| has(&filter.last, hash(i), bits(hash(i)))));
    }
}
