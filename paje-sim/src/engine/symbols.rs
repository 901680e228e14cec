//! Bytes to small numbers: the tables that every field of every event goes through.
//!
//! Open addressing on exact 16-byte words: a name of up to 16 bytes is compared as two integers,
//! without looking at memory elsewhere; a longer one by its hash first. A context (the type of a
//! value, say) is part of the key, so that one look-up finds what two would. Tables live as long
//! as the worker that fills them: in a block, almost every look-up finds its symbol.
//! Measured by `cargo bench -p benches --bench stages decode`.

use paje_parser::Span;

use crate::text::{Name, TextArena, TextRef};

/// A number that stands for a text in a context, from 0 in the order of first use.
pub(crate) type Symbol = u32;

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The text padded with zeros, or for a long text its hash.
    word: [u64; 2],
    context: u32,
    /// Length of the text in bytes; `EMPTY` for a free slot.
    len: u32,
    symbol: Symbol,
}

const EMPTY: u32 = u32::MAX;
const FREE: Slot = Slot { word: [0; 2], context: 0, len: EMPTY, symbol: 0 };

/// A text in its context.
#[derive(Clone, Copy, Debug)]
struct Entry {
    text: TextRef,
    context: u32,
}

/// Texts, each in a context, numbered in the order of their first use.
#[derive(Clone, Debug)]
pub(crate) struct SymbolTable {
    slots: Vec<Slot>,
    entries: Vec<Entry>,
    arena: TextArena,
}

impl Default for SymbolTable {
    fn default() -> Self {
        SymbolTable { slots: vec![FREE; 64], entries: Vec::new(), arena: TextArena::default() }
    }
}

impl SymbolTable {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The text and the context of a symbol.
    pub(crate) fn get(&self, symbol: Symbol) -> (Name<'_>, u32) {
        let entry = &self.entries[symbol as usize];
        (self.arena.get(entry.text), entry.context)
    }

    /// The symbol of the field at `span` of `padded`, without its quotes, in `context`.
    ///
    /// A symbol that equals the table's length before the call is new.
    #[inline]
    pub(crate) fn intern(&mut self, padded: &[u8], span: Span, context: u32) -> Symbol {
        let (start, end) = bare(padded, span);
        let len = end - start;
        let word = match word(padded, start, len) {
            Some(word) => word,
            None => [hash_bytes(&padded[start..end]), u64::MAX],
        };
        let mask = self.slots.len() - 1;
        let mut at = hash_word(word, context) as usize & mask;
        loop {
            let slot = &self.slots[at];
            if slot.word == word && slot.len == len as u32 && slot.context == context {
                let short = len <= 16;
                if short || self.get(slot.symbol).0.text == &padded[start..end] {
                    return slot.symbol;
                }
            }
            if slot.len == EMPTY {
                return self.insert(padded, span, word, context);
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, padded: &[u8], span: Span, word: [u64; 2], context: u32) -> Symbol {
        if (self.entries.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let name = Name::from(span.of(padded));
        let symbol = self.entries.len() as Symbol;
        self.place(Slot { word, context, len: name.text.len() as u32, symbol });
        let text = self.arena.push(name);
        self.entries.push(Entry { text, context });
        symbol
    }

    fn place(&mut self, slot: Slot) {
        let mask = self.slots.len() - 1;
        let mut at = hash_word(slot.word, slot.context) as usize & mask;
        while self.slots[at].len != EMPTY {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }

    fn grow(&mut self) {
        let larger = vec![FREE; self.slots.len() * 4];
        for slot in std::mem::replace(&mut self.slots, larger) {
            if slot.len != EMPTY {
                self.place(slot);
            }
        }
    }
}

/// Where the field's text stands without its quotes.
#[inline]
pub(crate) fn bare(padded: &[u8], span: Span) -> (usize, usize) {
    let (start, end) = (span.start as usize, span.end as usize);
    if padded[start] != b'"' {
        return (start, end);
    }
    let closed = end - start > 1 && padded[end - 1] == b'"';
    (start + 1, end - usize::from(closed))
}

/// A text of up to 16 bytes as two integers, padded with zeros.
#[inline]
fn word(padded: &[u8], start: usize, len: usize) -> Option<[u64; 2]> {
    let bytes = padded.get(start..)?.first_chunk::<16>()?;
    let whole = u128::from_le_bytes(*bytes);
    let kept = match len {
        0 => 0,
        1..=16 => whole & (u128::MAX >> (128 - 8 * len)),
        _ => return None,
    };
    Some([kept as u64, (kept >> 64) as u64])
}

/// Both halves of a product: every bit of the input reaches the low bits of the result.
#[inline]
const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

#[inline]
const fn hash_word(word: [u64; 2], context: u32) -> u64 {
    fold(
        word[0] ^ 0x9e37_79b9_7f4a_7c15,
        word[1] ^ 0xe703_7ed1_a0b4_28db ^ ((context as u64) << 32 | context as u64),
    )
}

/// A hash of any number of bytes.
#[inline]
pub(crate) fn hash_bytes(text: &[u8]) -> u64 {
    let (chunks, tail) = text.as_chunks::<8>();
    let mut last = [0; 8];
    last[..tail.len()].copy_from_slice(tail);
    let step =
        |hash: u64, chunk: [u8; 8]| fold(hash ^ u64::from_le_bytes(chunk), 0xa076_1d64_78bd_642f);
    let hash = chunks.iter().fold(text.len() as u64, |hash, chunk| step(hash, *chunk));
    fold(step(hash, last), 0xe703_7ed1_a0b4_28db)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// Interns each text, quoted or bare, and compares with a plain map.
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
