//! Words that are zeros at first, and are written to without order.

use std::ops::{Deref, DerefMut};

use crate::memory::reserve::{Share, in_huge_pages};

/// Words in no order: each page would be asked of the system twice, when it is read and when it is written. Of many words,
/// all pages are asked for at once.
#[derive(Debug)]
pub(crate) struct Zeros(Words);

#[derive(Debug)]
enum Words {
    Few(Vec<u64>),
    Many(Share),
}

/// Number of words from which on they have a mapping of their own.
const MANY: usize = (256 << 10) / 8;

impl Default for Zeros {
    fn default() -> Self {
        Zeros(Words::Few(Vec::new()))
    }
}

impl Zeros {
    /// So many of them.
    pub(crate) fn new(words: usize) -> Self {
        let many = (words >= MANY).then(|| in_huge_pages(words)).flatten();
        Zeros(many.map_or_else(
            || Words::Few(vec![0; words]),
            |map| {
                // Older systems have no such call; a page is then there when it is first used.
                #[cfg(target_os = "linux")]
                let _ = map.advise(memmap2::Advice::PopulateWrite);
                Words::Many(Share::of(map))
            },
        ))
    }
}

impl Deref for Zeros {
    type Target = [u64];

    #[inline(always)]
    fn deref(&self) -> &[u64] {
        match &self.0 {
            Words::Few(words) => words,
            Words::Many(words) => words,
        }
    }
}

impl DerefMut for Zeros {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u64] {
        match &mut self.0 {
            Words::Few(words) => words,
            Words::Many(words) => words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many() {
        for words in [0, 1, MANY - 1, MANY, 3 * MANY + 5] {
            let mut zeros = Zeros::new(words);
            assert_eq!(zeros.len(), words);
            assert!(zeros.iter().all(|word| *word == 0));
            zeros.fill(7);
            assert_eq!(zeros.iter().sum::<u64>(), 7 * words as u64);
        }
    }
}
