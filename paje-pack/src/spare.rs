//! Lists that each segment fills again: a thread reuses their memory.

use std::cell::RefCell;
use std::thread::LocalKey;

/// Maximum number of unused lists of each kind per thread, more than a segment needs.
const MOST: usize = 16;

/// Minimum size of lists that are reused.
const LEAST: usize = 1 << 10;

/// Unused lists.
pub(crate) type Lists<T> = RefCell<Vec<Vec<T>>>;

/// Types with reusable lists.
pub(crate) trait Kept: Sized + 'static {
    /// Returns the unused lists of this thread.
    fn lists() -> &'static LocalKey<Lists<Self>>;
}

/// Makes lists of these types reusable.
macro_rules! kept {
    ($($of:ty),*) => {
        $(impl $crate::spare::Kept for $of {
            fn lists() -> &'static std::thread::LocalKey<$crate::spare::Lists<Self>> {
                thread_local! {
                    static LISTS: $crate::spare::Lists<$of> = const { std::cell::RefCell::new(Vec::new()) };
                }
                &LISTS
            }
        })*
    };
}
pub(crate) use kept;

kept! { u8, u32, u64, (u32, u64) }

/// Returns a list with its old contents.
pub(crate) fn take<T: Kept>() -> Vec<T> {
    T::lists().with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Returns a list with its old contents: the smallest one with room for `len` elements, or else the largest.
pub(crate) fn take_for<T: Kept>(len: usize) -> Vec<T> {
    T::lists().with_borrow_mut(|lists| {
        // Lists with too little room come last, the largest first.
        let waste = |list: &Vec<T>| match list.capacity() {
            room if room < len => (true, usize::MAX - room),
            room => (false, room),
        };
        let best = (0..lists.len()).min_by_key(|place| waste(&lists[*place]));
        best.map(|place| lists.swap_remove(place)).unwrap_or_default()
    })
}

/// Gives a list back.
pub(crate) fn give<T: Kept>(list: Vec<T>) {
    if list.capacity() < LEAST {
        return;
    }
    // A thread that ends has no lists.
    let _ = T::lists().try_with(|lists| {
        let mut lists = lists.borrow_mut();
        if lists.len() < MOST {
            lists.push(list);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Short lists are not kept, and at most `MOST` lists.
    #[test]
    fn lists_come_back() {
        give(vec![1_u64]);
        assert!(take::<u64>().is_empty());
        (0..2 * MOST).for_each(|_| give(vec![7_u64; LEAST]));
        let all = std::iter::from_fn(|| Some(take::<u64>()).filter(|list| list.capacity() > 0));
        assert_eq!(all.map(|list| list.len()).collect::<Vec<_>>(), [LEAST; MOST]);
    }

    /// The list that fits best is taken.
    #[test]
    fn lists_with_enough_room_come_first() {
        assert_eq!(take_for::<u8>(10).capacity(), 0);
        for times in [3, 1, 4, 2] {
            give(Vec::<u8>::with_capacity(times * LEAST));
        }
        let room = |len| take_for::<u8>(len * LEAST).capacity() / LEAST;
        assert_eq!([room(2), room(5), room(2), room(2)], [2, 4, 3, 1]);
    }
}
