//! Append-only lists and tables whose clones share memory. Each block with definitions keeps a
//! clone.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Index;
use std::sync::Arc;

/// Number of items in a shared part. A clone copies fewer items than that.
const PART: usize = 1024;

/// An append-only list. Clones share all but the last items.
#[derive(Clone, Debug)]
pub struct Sequence<T> {
    full: Arc<Vec<Arc<Vec<T>>>>,
    last: Vec<T>,
}

impl<T> Default for Sequence<T> {
    fn default() -> Self {
        Sequence { full: Arc::default(), last: Vec::new() }
    }
}

impl<T> Sequence<T> {
    /// Returns the number of items.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.full.len() * PART + self.last.len()
    }

    /// Returns whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the item at an index.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        match self.full.get(index / PART) {
            Some(part) => part.get(index % PART),
            None => self.last.get(index - self.full.len() * PART),
        }
    }

    /// Returns the last item.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Iterates over all items in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.since(0)
    }

    /// Iterates over the items from an index on, in order.
    pub fn since(&self, first: usize) -> impl Iterator<Item = &T> {
        let parts = self.full.iter().map(|part| &***part).chain([&self.last[..]]);
        let skipped = (first / PART).min(self.full.len());
        parts.skip(skipped).flatten().skip(first - skipped * PART)
    }
}

impl<T: Clone> Sequence<T> {
    pub(super) fn push(&mut self, item: T) {
        self.last.push(item);
        if self.last.len() == PART {
            Arc::make_mut(&mut self.full).push(Arc::new(std::mem::take(&mut self.last)));
        }
    }
}

impl<T> Index<usize> for Sequence<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        match self.full.get(index / PART) {
            Some(part) => &part[index % PART],
            None => &self.last[index - self.full.len() * PART],
        }
    }
}

/// A table without removal. Clones share all but the last entries.
#[derive(Clone, Debug)]
pub(super) struct Table<K, V> {
    /// Layers of growing size. [`FAN`] layers of similar size are merged, so that there are few
    /// layers and entries are rarely copied.
    layers: Vec<Arc<HashMap<K, V>>>,
    last: HashMap<K, V>,
    len: usize,
}

const FAN: usize = 4;

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table { layers: Vec::new(), last: HashMap::new(), len: 0 }
    }
}

impl<K: Hash + Eq + Clone, V: Copy + PartialEq> Table<K, V> {
    pub(super) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let newest_first = self.layers.iter().rev().find_map(|layer| layer.get(key));
        self.last.get(key).or(newest_first).copied()
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        self.last.insert(key, value);
        self.len += 1;
        if self.last.len() < PART {
            return;
        }
        self.layers.push(Arc::new(std::mem::take(&mut self.last)));
        let mut size = PART;
        while let Some(first) = self.layers.len().checked_sub(FAN)
            && self.layers[first].len() <= size
        {
            let together: usize = self.layers[first..].iter().map(|layer| layer.len()).sum();
            let mut all = HashMap::with_capacity(together);
            for layer in self.layers.drain(first..) {
                all.extend(layer.iter().map(|(key, value)| (key.clone(), *value)));
            }
            size = all.len();
            self.layers.push(Arc::new(all));
        }
    }

    fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.layers.iter().flat_map(|layer| layer.iter()).chain(&self.last)
    }
}

impl<K: Hash + Eq + Clone, V: Copy + PartialEq> PartialEq for Table<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().all(|(key, value)| other.get(key) == Some(*value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_do_not_see_later_changes() {
        let (mut list, mut plain) = (Sequence::default(), Vec::new());
        let (mut table, mut copies) = (Table::default(), Vec::new());
        for i in 0..40_000_u32 {
            if i % 3001 == 0 || [PART as u32, 4 * PART as u32].contains(&i) {
                let mut aside = table.clone();
                aside.insert(u32::MAX, 0);
                copies.push((list.clone(), table.clone(), plain.len()));
            }
            list.push(i);
            plain.push(i);
            table.insert(i, i * 2);
        }
        assert!(table.layers.len() < 12, "{}", table.layers.len());
        copies.push((list, table, plain.len()));
        for (list, table, len) in &copies {
            assert_eq!((list.len(), list.is_empty()), (*len, *len == 0));
            assert!(list.iter().eq(&plain[..*len]));
            assert_eq!(list.last(), plain[..*len].last());
            assert_eq!(list.get(*len), None);
            for first in [0, 1, 1023, 1024, 5000].into_iter().filter(|first| first <= len) {
                assert!(list.since(first).eq(&plain[first..*len]));
            }
            assert!((0..*len).all(|i| list[i] == plain[i] && list.get(i) == Some(&plain[i])));
            assert!((0..*len as u32).all(|i| table.get(&i) == Some(i * 2)));
            assert_eq!((table.get(&(*len as u32)), table.get(&u32::MAX)), (None, None));
        }
        assert!(copies[0].1 != copies[1].1 && copies[1].1 == copies[1].1.clone());
    }
}
