//! Interner for the names of lanes.
//!
//! A decoder finds the lanes of almost all lines by pairs of texts, and looks up names only if a pair is new. So this
//! table is small rather than fast: its index holds only symbols, and texts are compared in the arena.

use hashbrown::HashTable;
use paje_parser::Span;

use crate::decode::symbols::{Entry, Symbol};
use paje_model::names::hash::{bare, hash_bytes, hash_text};
use paje_model::names::text::{Name, TextArena};

/// Texts in contexts, numbered in the order of their first use.
#[derive(Clone, Debug, Default)]
pub struct NameTable {
    known: HashTable<Symbol>,
    entries: Vec<Entry>,
    arena: TextArena,
}

const fn within(hash: u64, context: u32) -> u64 {
    // Hash tables use both ends of a hash, so the context must change both ends.
    hash ^ (context as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl NameTable {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn clear(&mut self) {
        self.known.clear();
        self.entries.clear();
        self.arena.clear();
    }

    #[inline]
    pub fn context(&self, symbol: Symbol) -> u32 {
        self.entries[symbol as usize].context
    }

    #[inline]
    pub fn get(&self, symbol: Symbol) -> (Name<'_>, u32) {
        self.entries[symbol as usize].of(&self.arena)
    }

    /// Returns the symbol of the field at `span` of `padded` in `context`, and the hash of its text. Quotes are not
    /// part of the text.
    ///
    /// If the symbol equals the previous length of the table, it is new.
    pub fn intern(&mut self, padded: &[u8], span: Span, context: u32) -> (Symbol, u64) {
        let (start, end) = bare(padded, span);
        let text = &padded[start..end];
        let hash = hash_text(padded, start, end);
        let same = |symbol: &Symbol| {
            let entry = &self.entries[*symbol as usize];
            entry.context == context && self.arena.get(entry.text).text == text
        };
        if let Some(symbol) = self.known.find(within(hash, context), same) {
            return (*symbol, hash);
        }
        let symbol = self.entries.len() as Symbol;
        let text = self.arena.push(Name::from(span.of(padded)));
        self.entries.push(Entry { text, context });
        if self.known.len() == self.known.capacity() {
            self.grow();
        }
        self.known.insert_unique(within(hash, context), symbol, |_| 0);
        (symbol, hash)
    }

    /// Grows the index in the order of the texts in memory. If the hash table grew by itself, it would read the texts
    /// in the order of their hashes.
    #[cold]
    fn grow(&mut self) {
        let NameTable { known, entries, arena } = self;
        let indexed = known.len();
        // The old index is freed first, so that memory holds only one index.
        *known = HashTable::new();
        *known = HashTable::with_capacity(2 * indexed.max(8));
        for (entry, symbol) in entries[..indexed].iter().zip(0..) {
            let hash = within(hash_bytes(arena.get(entry.text).text), entry.context);
            known.insert_unique(hash, symbol, |_| 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paje_model::names::hash::hash_bytes;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn equals_a_plain_map(
            texts in proptest::collection::vec(("[a-c]{1,20}", any::<bool>(), 0..3u32), 0..400)
        ) {
            let mut table = NameTable::default();
            for round in 0..2 {
                let mut plain: HashMap<(&str, u32), Symbol> = HashMap::new();
                for (text, quoted, context) in &texts {
                    let quote = if *quoted { "\"" } else { "" };
                    let mut padded = format!("before {quote}{text}{quote}").into_bytes();
                    let span = Span { start: 7, end: padded.len() as u32 };
                    padded.extend([b'x'; 16]);
                    let next = plain.len() as Symbol;
                    let expected = *plain.entry((text, *context)).or_insert(next);
                    let (symbol, hash) = table.intern(&padded, span, *context);
                    prop_assert_eq!(symbol, expected, "round {}", round);
                    prop_assert_eq!(hash, hash_bytes(text.as_bytes()));
                    let (name, found) = table.get(symbol);
                    prop_assert_eq!((name.text, found), (text.as_bytes(), *context));
                }
                prop_assert_eq!(table.len(), plain.len());
                table.clear();
            }
        }
    }
}
