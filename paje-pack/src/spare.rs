//! Lists that each segment fills anew: a thread uses their memory again.

use std::cell::RefCell;
use std::thread::LocalKey;

/// Lists of each kind that a thread keeps: more than a segment fills.
const MOST: usize = 16;

/// Lists with less room are soon made.
const LEAST: usize = 1 << 10;

/// Lists that nobody uses.
pub(crate) type Lists<T> = RefCell<Vec<Vec<T>>>;

/// Elements of lists that are kept.
pub(crate) trait Kept: Sized + 'static {
    /// The lists of this thread.
    fn lists() -> &'static LocalKey<Lists<Self>>;
}

/// Lists of these are kept.
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

/// A list with whatever it had when it was given back.
pub(crate) fn take<T: Kept>() -> Vec<T> {
    T::lists().with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Gives a list back.
pub(crate) fn give<T: Kept>(list: Vec<T>) {
    if list.capacity() < LEAST {
        return;
    }
    // A thread that ends has none left.
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

    /// Short lists are not kept, and no more than so many.
    #[test]
    fn lists_come_back() {
        give(vec![1_u64]);
        assert!(take::<u64>().is_empty());
        (0..2 * MOST).for_each(|_| give(vec![7_u64; LEAST]));
        let all = std::iter::from_fn(|| Some(take::<u64>()).filter(|list| list.capacity() > 0));
        assert_eq!(all.map(|list| list.len()).collect::<Vec<_>>(), [LEAST; MOST]);
    }
}
