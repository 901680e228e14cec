//! Interners, which look up every field of every event.
//!
//! They are hash tables with open addressing and exact 16-byte words as keys. A name of up to 16 bytes is compared as
//! two integers, without reading the text. For a longer name, its hash is compared first. A context, such as the type
//! of a value, is part of the key. Almost every lookup finds its symbol. Measured by `cargo bench -p benches --bench
//! stages decode`.

use paje_parser::Span;

use paje_model::names::hash::{Word, bare, hash_bytes, hash_salted, hash_word, word};
use paje_model::names::text::{Name, TextArena, TextRef};

/// Number of a text in a context. Symbols are numbered from 0 in the order of first use.
pub type Symbol = u32;

#[derive(Clone, Copy, Debug, Default)]
struct Slot<V> {
    word: Word,
    /// Second part of the key, or `FREE` for a free slot.
    context: u64,
    value: V,
}

impl<V: Default> Slot<V> {
    fn free() -> Self {
        Slot { context: FREE, ..Slot::default() }
    }
}

const FREE: u64 = u64::MAX;

/// Maps words in contexts to small values. With `FEW`, a word has at most a few contexts that differ only in their
/// lowest `WordTable::SALT` bits.
#[derive(Clone, Debug)]
pub struct WordTable<V = Symbol, const FEW: bool = false> {
    slots: Vec<Slot<V>>,
    len: usize,
}

impl<V: Copy + Default, const FEW: bool> Default for WordTable<V, FEW> {
    fn default() -> Self {
        WordTable { slots: vec![Slot::free(); 64], len: 0 }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Words<'a, V> {
    slots: &'a [Slot<V>],
}

impl<V: Copy> Words<'_, V> {
    /// Looks up a word in a table with `FEW`. `salt` is the hashed part of the context.
    #[inline(always)]
    pub(super) fn find_salted(self, word: Word, context: u64, salt: u64) -> Option<V> {
        let context = context | salt << WordTable::<Symbol, true>::SALT;
        self.find_from(hash_salted(word, salt), word, context, |_| true)
    }

    #[inline(always)]
    fn find_from(self, hash: u64, word: Word, context: u64, is: impl Fn(V) -> bool) -> Option<V> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots.get(at)?;
            // A single branch decides all comparisons.
            let differs = slot.word[0] ^ word[0] | slot.word[1] ^ word[1] | slot.context ^ context;
            if differs == 0 && is(slot.value) {
                return Some(slot.value);
            }
            if slot.context == FREE {
                return None;
            }
            at = (at + 1) & mask;
        }
    }
}

impl<V: Copy + Default> WordTable<V, true> {
    #[inline(always)]
    pub(super) fn slots(&self) -> Words<'_, V> {
        Words { slots: &self.slots }
    }
}

impl<V: Copy + Default, const FEW: bool> WordTable<V, FEW> {
    /// Number of low bits of a context that are not hashed in tables with `FEW`.
    pub(super) const SALT: u32 = 16;

    #[inline(always)]
    fn hash(word: Word, context: u64) -> u64 {
        match FEW {
            true => hash_salted(word, context >> Self::SALT),
            false => hash_word(word, context),
        }
    }

    #[inline(always)]
    pub fn find(&self, word: Word, context: u64) -> Option<V> {
        self.find_where(word, context, |_| true)
    }

    #[inline(always)]
    fn find_where(&self, word: Word, context: u64, is: impl Fn(V) -> bool) -> Option<V> {
        let words = Words { slots: &self.slots };
        words.find_from(Self::hash(word, context), word, context, is)
    }

    pub fn insert(&mut self, word: Word, context: u64, value: V) {
        // A small table is kept sparse, because a second probe costs a misprediction. A large table is not in the
        // caches anyway, and a second probe mostly reads the same cache line.
        let full = match self.slots.len() {
            ..=4096 => self.slots.len() / 4,
            4097..=65_536 => self.slots.len() / 2,
            len => len / 4 * 3,
        };
        if self.len + 1 > full {
            let larger = vec![Slot::free(); self.slots.len() * 2];
            for slot in std::mem::replace(&mut self.slots, larger) {
                if slot.context != FREE {
                    self.place(slot);
                }
            }
        }
        self.len += 1;
        self.place(Slot { word, context, value });
    }

    pub fn clear(&mut self) {
        self.slots.fill(Slot::free());
        self.len = 0;
    }

    fn place(&mut self, slot: Slot<V>) {
        let mask = self.slots.len() - 1;
        let mut at = Self::hash(slot.word, slot.context) as usize & mask;
        while self.slots[at].context != FREE {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }
}

/// A text in its context. It is packed, because there may be millions.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(super) struct Entry {
    pub(super) text: TextRef,
    pub(super) context: u32,
}

impl Entry {
    /// Returns the text, which `arena` holds, and its context.
    pub(super) fn of(self, arena: &TextArena) -> (Name<'_>, u32) {
        (arena.get(self.text), self.context)
    }
}

/// Texts in contexts, numbered in the order of their first use.
#[derive(Clone, Debug, Default)]
pub struct SymbolTable {
    words: WordTable,
    entries: Vec<Entry>,
    arena: TextArena,
}

/// Used in place of the length if a text is longer than 16 bytes. The word of such a text is a
/// hash.
const LONG: u64 = 17;

#[inline(always)]
const fn with_len(context: u32, len: u64) -> u64 {
    (context as u64) << 5 | len
}

impl SymbolTable {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn clear(&mut self) {
        self.words.clear();
        self.entries.clear();
        self.arena.clear();
    }

    #[inline]
    pub fn get(&self, symbol: Symbol) -> (Name<'_>, u32) {
        self.entries[symbol as usize].of(&self.arena)
    }

    #[inline]
    pub fn context(&self, symbol: Symbol) -> u32 {
        self.entries[symbol as usize].context
    }

    /// Returns the symbol of the text at `start..end` of `padded` in `context`, if it is known and short.
    #[inline(always)]
    pub fn find_short(
        &self,
        padded: &[u8],
        start: usize,
        end: usize,
        context: u32,
    ) -> Option<Symbol> {
        let len = end - start;
        self.words.find(word(padded, start, len)?, with_len(context, len as u64))
    }

    /// Adds a symbol for a text in the current block, even if it already has one. Lookups do not find the added symbol.
    #[inline]
    pub fn append_span(&mut self, span: Span, context: u32) -> Symbol {
        let symbol = self.entries.len() as Symbol;
        self.entries.push(Entry { text: TextRef::of_halves(span.start, span.end), context });
        symbol
    }

    pub fn span(&self, symbol: Symbol) -> Span {
        let text = self.entries[symbol as usize].text;
        let (start, end) = text.halves();
        Span { start, end }
    }

    fn append(&mut self, name: Name<'_>, context: u32) -> Symbol {
        let symbol = self.entries.len() as Symbol;
        let text = self.arena.push(name);
        self.entries.push(Entry { text, context });
        symbol
    }

    /// Returns the symbol of the field at `span` of `padded` in `context`. Quotes are not part of the text.
    ///
    /// If the symbol equals the previous length of the table, it is new.
    pub fn intern(&mut self, padded: &[u8], span: Span, context: u32) -> Symbol {
        let (start, end) = bare(padded, span);
        let text = &padded[start..end];
        let (word, key) = match word(padded, start, text.len()) {
            Some(word) => (word, with_len(context, text.len() as u64)),
            None => ([hash_bytes(text), text.len() as u64], with_len(context, LONG)),
        };
        let found = self
            .words
            .find_where(word, key, |symbol| text.len() <= 16 || self.get(symbol).0.text == text);
        found.unwrap_or_else(|| {
            let symbol = self.append(Name::from(span.of(padded)), context);
            self.words.insert(word, key, symbol);
            symbol
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn check(texts: &[(Vec<u8>, bool, u32)]) {
        let mut table = SymbolTable::default();
        let mut plain: HashMap<(Vec<u8>, u32), Symbol> = HashMap::new();
        for (text, quoted, context) in texts {
            let mut padded = b"before ".to_vec();
            let start = padded.len() as u32;
            let quote: &[u8] = if *quoted || text.starts_with(b"\"") { b"\"" } else { b"" };
            padded.extend([quote, text, quote].concat());
            let end = padded.len() as u32;
            padded.extend([b'x'; 16]);
            let next = plain.len() as Symbol;
            let expected = *plain.entry((text.clone(), *context)).or_insert(next);
            assert_eq!(table.intern(&padded, Span { start, end }, *context), expected);
            let (name, found) = table.get(expected);
            assert_eq!((name.text, found), (&text[..], *context));
        }
        assert_eq!(table.len(), plain.len());
    }

    #[test]
    fn length_is_part_of_a_text() {
        check(&[
            (b"a".to_vec(), false, 0),
            (b"a\0".to_vec(), false, 0),
            (b"".to_vec(), true, 0),
            (b"a".to_vec(), true, 0),
            (b"a".to_vec(), false, 1),
            (b"exactly16bytes!!".to_vec(), false, 0),
            (b"exactly17bytes!!!".to_vec(), false, 0),
            (b"exactly17bytes!!?".to_vec(), true, 0),
            (b"exactly17bytes!!!".to_vec(), true, 2),
        ]);
    }

    #[test]
    fn many() {
        let texts =
            (0..20_000u32).map(|i| (format!("{}", i % 7000).into_bytes(), i % 2 == 0, i % 3));
        check(&texts.collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn equals_a_plain_map(
            texts in proptest::collection::vec(("[a-c]{0,20}".prop_map(String::into_bytes), any::<bool>(), 0..3u32), 0..200)
        ) {
            let bare_is_not_empty = |(text, quoted, context): (Vec<u8>, bool, u32)| {
                let quoted = quoted || text.is_empty();
                (text, quoted, context)
            };
            check(&texts.into_iter().map(bare_is_not_empty).collect::<Vec<_>>());
        }
    }
}
