//! Parses structural events as far as possible without earlier lines.
//!
//! One thread resolves structural events in file order. Some traces have many (a value or a container for each task),
//! so decoding already parses times, colours and types, and hashes names.

use paje_parser::color::Color;
use paje_parser::{EventDef, EventKind, FieldName, Span, number};

use crate::decode::decoded::{Decoded, Lifetime, StructuralKind, Structure, ValueDefinition};
use crate::decode::symbols::SymbolTable;
use paje_model::names::hash::{Word, bare, hash_text, hash_word, word};

pub(super) fn structure(
    def: &EventDef,
    index: usize,
    padded: &[u8],
    words: &[Span],
    types: &mut SymbolTable,
    colors: &mut Colors,
    decoded: &mut Decoded,
) -> u32 {
    let mut kind = StructuralKind::Words;
    let line = Words { def, padded, words };
    match def.kind() {
        EventKind::DefineEntityValue => {
            if let Some(value) = line.value_definition(types, colors) {
                kind = StructuralKind::Value(decoded.values.len() as u32);
                decoded.values.push(value);
            }
        }
        EventKind::CreateContainer | EventKind::DestroyContainer => {
            if let Some(lifetime) = line.lifetime(types) {
                kind = StructuralKind::Lifetime(decoded.lifetimes.len() as u32);
                decoded.lifetimes.push(lifetime);
            }
        }
        _ => {}
    }
    let first = decoded.words.len() as u32;
    decoded.words.extend_from_slice(words);
    let structure = Structure { def: index as u32, words: (first, words.len() as u32), kind };
    decoded.structures.push(structure);
    decoded.structures.len() as u32 - 1
}

/// Cache of colours, because even many values share a small number of colours.
#[derive(Debug, Default)]
pub(super) struct Colors([Option<(Word, usize, Color)>; 16]);

impl Colors {
    fn parse(&mut self, padded: &[u8], span: Span) -> Option<Color> {
        let (start, end) = bare(padded, span);
        let parse = || Color::parse(&padded[start..end]);
        let Some(text) = word(padded, start, end - start) else { return parse() };
        let slot = &mut self.0[hash_word(text, (end - start) as u64) as usize % 16];
        match *slot {
            Some((same, len, color)) if (same, len) == (text, end - start) => Some(color),
            _ => {
                let color = parse()?;
                *slot = Some((text, end - start, color));
                Some(color)
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Words<'t> {
    def: &'t EventDef,
    padded: &'t [u8],
    words: &'t [Span],
}

impl Words<'_> {
    fn find(&self, field: FieldName) -> Option<usize> {
        self.def.word_of(field).filter(|word| *word < self.words.len())
    }

    /// Returns the word of the alias, unless it is missing or empty.
    fn alias(&self) -> Option<usize> {
        let is_empty = |word: &usize| self.words[*word].of(self.padded).bare().is_empty();
        self.find(FieldName::Alias).filter(|word| !is_empty(word))
    }

    fn hash(&self, word: usize) -> u64 {
        let (start, end) = bare(self.padded, self.words[word]);
        hash_text(self.padded, start, end)
    }

    fn value_definition(
        self,
        types: &mut SymbolTable,
        colors: &mut Colors,
    ) -> Option<ValueDefinition> {
        let (name, alias) = (self.find(FieldName::Name)?, self.alias());
        let color = match self.find(FieldName::Color) {
            Some(word) => Some(colors.parse(self.padded, self.words[word])?),
            None => None,
        };
        Some(ValueDefinition {
            name: name as u32,
            alias: alias.map(|word| word as u32),
            type_: types.intern(self.padded, self.words[self.find(FieldName::Type)?], 0),
            color,
            hash: self.hash(alias.unwrap_or(name)),
        })
    }

    fn lifetime(self, types: &mut SymbolTable) -> Option<Lifetime> {
        // Lines with very many fields are parsed later, when they are resolved.
        if self.def.word_of(FieldName::Filename).is_some()
            || self.words.len() > usize::from(Lifetime::NO_WORD)
        {
            return None;
        }
        let (name, mut alias, mut parent) = (self.find(FieldName::Name)?, None, None);
        if self.def.kind() == EventKind::CreateContainer {
            alias = self.alias();
            parent = Some(self.find(FieldName::Container)?);
        }
        let (start, end) = bare(self.padded, self.words[self.find(FieldName::Time)?]);
        let place = |word: Option<usize>| word.map_or(Lifetime::NO_WORD, |word| word as u8);
        Some(Lifetime {
            time: number::parse_time_at(self.padded, start, end)?,
            type_: types.intern(self.padded, self.words[self.find(FieldName::Type)?], 0),
            name: name as u8,
            alias: place(alias),
            parent: place(parent),
            hash: self.hash(alias.unwrap_or(name)),
            parent_hash: parent.map_or(0, |parent| self.hash(parent)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_colours_equal_parsed_ones() {
        let mut colors = Colors::default();
        let texts = [
            "0.5 0 1",
            "0.5 0 1 ",
            "0 0 0",
            "1,1,1,0.25",
            "0.25 0.125 0.0625 1",
            "red",
            "ff0000",
            "",
        ];
        let numbers = (0..100).map(|i| format!("0.{i} 1 0.{}", i / 2));
        for text in texts.into_iter().map(str::to_owned).chain(numbers) {
            for _ in 0..2 {
                let padded = format!("x \"{text}\" 0 0 0 0 0 0 0 0 0 0");
                let span = Span { start: 2, end: text.len() as u32 + 4 };
                let found = colors.parse(padded.as_bytes(), span);
                assert_eq!(found, Color::parse(text.as_bytes()), "{text}");
            }
        }
    }
}
