//! Huge pages that several arenas share.
//!
//! Several workers have dozens of arenas. If each waited until it can fill huge pages of its own, most of what they have
//! would lie in small ones, and to touch a small page first costs as much as replaying the events that fill it.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::MmapMut;

/// Words of a region: two huge pages of most systems.
const REGION: usize = (4 << 20) / 8;

/// Words that are asked for before there is a region: a small trace should not take a huge page.
const FROM: usize = (2 << 20) / 8;

/// Words of a cache line, which two workers should not both write to.
const CACHE_LINE: usize = 8;

/// Zeros for the arenas of some workers' shards.
#[derive(Debug, Default)]
pub(crate) struct Reserve(Mutex<Rest>);

#[derive(Debug, Default)]
struct Rest {
    /// Words that arenas took elsewhere, as it was too early.
    elsewhere: usize,
    /// The part of the last region that nobody has yet.
    region: Option<Share>,
}

/// Answer of a reserve.
#[derive(Debug)]
pub(super) enum Given {
    Share(Share),
    /// It is too early for huge pages: who asks takes words elsewhere, and [notes](Reserve::note) it.
    Early,
    /// There is no memory, or a new region would be more of it than the limit allows.
    Nothing,
}

impl Reserve {
    /// So many words were taken elsewhere.
    pub(super) fn note(&self, words: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).elsewhere += words;
    }

    /// Zeros: as many times so many words as fit into `at_most`, and into what is left of a region, but once at least.
    /// Before there is a new region, `is_too_much` is asked about its bytes.
    pub(super) fn take(
        &self,
        words: usize,
        at_most: usize,
        is_too_much: impl FnOnce(usize) -> bool,
    ) -> Given {
        let mut rest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Rest { elsewhere, region } = &mut *rest;
        if *elsewhere < FROM {
            return Given::Early;
        }
        if region.as_ref().is_none_or(|region| region.len() < words) {
            let new = words.next_multiple_of(REGION);
            if is_too_much(new * 8) {
                return Given::Nothing;
            }
            *region = in_huge_pages(new).map(Share::of);
        }
        let share = region.as_mut().and_then(|region| {
            let times = (at_most.min(region.len()) / words).max(1);
            region.split_off((times * words).next_multiple_of(CACHE_LINE).min(region.len()))
        });
        share.map_or(Given::Nothing, Given::Share)
    }
}

/// Words of a mapping that nobody else has.
#[derive(Debug)]
pub(super) struct Share {
    words: NonNull<[u64]>,
    /// Kept as long as anybody has words of it; nobody looks at it otherwise.
    map: Arc<MmapMut>,
}

// SAFETY: as of a boxed slice, for the words are this one's alone.
#[allow(unsafe_code)]
unsafe impl Send for Share {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for Share {}

impl Share {
    /// All words of a mapping.
    pub(super) fn of(mut map: MmapMut) -> Self {
        let words: &mut [u64] = bytemuck::cast_slice_mut(&mut map);
        // The mapping stays where it is while its owner moves.
        Share { words: NonNull::from(words), map: Arc::new(map) }
    }

    /// Lets go of its memory, where the system can: the words are zeros then.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn let_go(&mut self) {}

    /// Lets go of its memory: the words are zeros then.
    #[cfg(target_os = "linux")]
    pub(super) fn let_go(&mut self) {
        let page = rustix::param::page_size();
        let start = self.words.addr().get() - self.map.as_ptr().addr();
        let pages = start.next_multiple_of(page)..(start + size_of_val(&**self)) / page * page;
        if pages.is_empty() {
            return;
        }
        // SAFETY: the bytes are this one's alone, and nobody has borrowed them; the mapping is of no file, so that they are
        // zeros when somebody looks.
        #[allow(unsafe_code)]
        let _ = unsafe {
            let advice = memmap2::UncheckedAdvice::DontNeed;
            self.map.unchecked_advise_range(advice, pages.start, pages.len())
        };
    }

    /// The first words of it, which it has no more; `None` if it has fewer.
    fn split_off(&mut self, words: usize) -> Option<Share> {
        let (first, rest) = self.split_at_mut_checked(words)?;
        let (first, rest) = (NonNull::from(first), NonNull::from(rest));
        self.words = rest;
        Some(Share { words: first, map: Arc::clone(&self.map) })
    }
}

impl Deref for Share {
    type Target = [u64];

    #[inline(always)]
    fn deref(&self) -> &[u64] {
        // SAFETY: the words are of the mapping, which lives as long as this does. Two shares have none in common, for
        // the first of a mapping is made when nobody else has it, and each other one is split off from one that is then
        // without these words.
        #[allow(unsafe_code)]
        unsafe {
            self.words.as_ref()
        }
    }
}

impl DerefMut for Share {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above, and this one is borrowed for as long as the words are.
        #[allow(unsafe_code)]
        unsafe {
            self.words.as_mut()
        }
    }
}

/// Zeros in huge pages, as far as the system has any and gives them. A mapping of our own, which nothing has touched
/// before we ask: the allocator writes in front of what it gives away, which makes the first page of it a small one, and
/// then all that would be in a huge page with it.
pub(super) fn in_huge_pages(words: usize) -> Option<MmapMut> {
    let map = MmapMut::map_anon(words * 8).ok()?;
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of several regions, while some shares are gone already and other threads write to theirs.
    #[test]
    fn shares_have_nothing_in_common() {
        let reserve = Reserve::default();
        reserve.note(FROM - 1);
        assert!(matches!(reserve.take(1, 1, |_| false), Given::Early));
        reserve.note(1);
        let sizes = [(1, 1), (7, 700), (REGION / 3, REGION), (REGION / 2, 0), (REGION + 1, 9)];
        std::thread::scope(|scope| {
            for number in 1..=4 {
                let reserve = &reserve;
                scope.spawn(move || {
                    let mut kept = Vec::new();
                    for (index, (words, at_most)) in (0..).zip(sizes) {
                        let Given::Share(mut share) = reserve.take(words, at_most, |_| false)
                        else {
                            panic!("no memory");
                        };
                        assert!((words..=words.max(at_most) + CACHE_LINE).contains(&share.len()));
                        assert!(share.iter().all(|word| *word == 0));
                        let mark = number * 100 + index;
                        share.fill(mark);
                        if index != 2 {
                            kept.push((mark, share));
                        }
                    }
                    for (mark, share) in kept {
                        assert!(share.iter().all(|word| *word == mark));
                    }
                });
            }
        });
    }

    /// Its neighbours keep theirs.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_was_let_go_is_gone() {
        let mut region = Share::of(in_huge_pages(REGION).expect("memory"));
        let mut shares: Vec<Share> =
            (0..3).map(|_| region.split_off(3000).expect("words")).collect();
        shares.iter_mut().for_each(|share| share.fill(1));
        shares[1].let_go();
        let ones = |share: &Share| share.iter().filter(|word| **word == 1).count();
        assert_eq!((ones(&shares[0]), ones(&shares[2])), (3000, 3000));
        // Less than a page at either end stays.
        assert!(ones(&shares[1]) < 2 * rustix::param::page_size() / 8);
    }
}
