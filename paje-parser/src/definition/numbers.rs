//! Event numbers and their definitions.

use std::sync::Arc;

use super::sequence::{Sequence, Table};

#[derive(Clone, Debug)]
pub(super) struct Numbers {
    by_id: Table<Arc<[u8]>, u32>,
    /// Index of the definition of each plain decimal number below 1,000, or `NONE`.
    small: Vec<u32>,
    order: Sequence<u32>,
    /// Identity of the map. If two maps have the same identity, one of them starts with all entries
    /// of the other.
    token: Arc<()>,
}

/// State of a table's event numbers: see
/// [`DefTable::numbered_since`](super::DefTable::numbered_since).
#[derive(Clone, Debug)]
pub struct Numbering {
    token: Arc<()>,
    len: usize,
}

const NONE: u32 = u32::MAX;
const SMALL: usize = 1000;

impl Default for Numbers {
    fn default() -> Self {
        Numbers {
            by_id: Table::default(),
            small: vec![NONE; SMALL],
            order: Sequence::default(),
            token: Arc::default(),
        }
    }
}

impl Numbers {
    #[inline]
    pub(super) fn find(&self, id: &[u8]) -> Option<usize> {
        let index = match small_number(id) {
            Some(number) => self.small[number],
            None => self.by_id.get(id).unwrap_or(NONE),
        };
        (index != NONE).then_some(index as usize)
    }

    pub(super) fn insert(&mut self, id: &[u8], index: u32) {
        match small_number(id) {
            Some(number) => self.small[number] = index,
            None => {
                self.by_id.insert(id.into(), index);
            }
        }
        self.order.push(index);
    }

    /// Gives the map a new identity, because other maps may add different entries to the same base.
    pub(super) fn branch(&mut self) {
        self.token = Arc::default();
    }

    pub(super) const fn order(&self) -> &Sequence<u32> {
        &self.order
    }

    pub(super) fn same(&self, other: &Numbers) -> bool {
        self.order.len() == other.order.len()
            && (Arc::ptr_eq(&self.token, &other.token)
                || (self.small == other.small && self.by_id == other.by_id))
    }

    pub(super) fn numbering(&self) -> Numbering {
        Numbering { token: Arc::clone(&self.token), len: self.order.len() }
    }

    /// Returns whether one of the maps is known to begin with all entries of the other map.
    pub(super) fn are_akin(&self, other: &Numbers) -> bool {
        Arc::ptr_eq(&self.token, &other.token)
    }

    /// Returns the length of `earlier`, if this map starts with its entries.
    pub(super) fn since(&self, earlier: &Numbering) -> Option<usize> {
        let same = Arc::ptr_eq(&self.token, &earlier.token);
        (same && earlier.len <= self.order.len()).then_some(earlier.len)
    }
}

/// Parses a plain decimal number below [`SMALL`] without leading zeros.
#[inline]
fn small_number(id: &[u8]) -> Option<usize> {
    let digit = |b: u8| b.is_ascii_digit().then(|| usize::from(b - b'0'));
    match *id {
        [a] => digit(a),
        [a @ b'1'..=b'9', b] => Some(10 * digit(a)? + digit(b)?),
        [a @ b'1'..=b'9', b, c] => Some(100 * digit(a)? + 10 * digit(b)? + digit(c)?),
        _ => None,
    }
}
