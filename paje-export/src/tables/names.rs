//! Dictionaries of names: each distinct string once, with a code for each name.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use paje_sim::{Name, NameOrder};
use rustc_hash::FxBuildHasher;

use crate::tables::Error;

#[derive(Debug)]
pub(crate) struct Names {
    texts: Arc<StringArray>,
    codes: Vec<i32>,
}

impl Names {
    #[inline]
    pub(crate) fn code(&self, number: usize) -> i32 {
        self.codes[number]
    }

    pub(crate) fn codes_from(&self, number: usize) -> &[i32] {
        &self.codes[number..]
    }

    pub(crate) fn array(&self, codes: Vec<i32>) -> Result<ArrayRef, Error> {
        let array =
            DictionaryArray::try_new(Int32Array::from(codes), Arc::clone(&self.texts) as ArrayRef)?;
        Ok(Arc::new(array))
    }
}

#[derive(Debug)]
pub(crate) struct Coder {
    order: NameOrder,
    known: HashTable<i32>,
    builder: StringBuilder,
    too_much: bool,
    codes: Vec<i32>,
}

impl Coder {
    pub(crate) fn new(order: NameOrder) -> Self {
        let (known, builder) = (HashTable::new(), StringBuilder::new());
        Coder { order, known, builder, too_much: false, codes: Vec::new() }
    }

    pub(crate) fn push(&mut self, name: Name<'_>) {
        self.push_text(&spelled(name, self.order));
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        let (bytes, ends) = (self.builder.values_slice(), self.builder.offsets_slice());
        if self.too_much || bytes.len() + text.len() > i32::MAX as usize {
            self.too_much = true;
            return;
        }
        let code = self.known.len() as i32;
        let known =
            |code: &i32| &bytes[ends[*code as usize] as usize..ends[*code as usize + 1] as usize];
        let hash = |text: &[u8]| FxBuildHasher.hash_one(text);
        let same = |code: &i32| known(code) == text.as_bytes();
        match self.known.entry(hash(text.as_bytes()), same, |code| hash(known(code))) {
            Entry::Occupied(known) => self.codes.push(*known.get()),
            Entry::Vacant(place) => {
                place.insert(code);
                self.codes.push(code);
                self.builder.append_value(text);
            }
        }
    }

    pub(crate) fn finish(mut self, column: &'static str) -> Result<Names, Error> {
        if self.too_much {
            return Err(Error::TooMuchText(column));
        }
        let texts: StringArray = self.builder.finish();
        Ok(Names { texts: Arc::new(texts), codes: self.codes })
    }
}

pub(crate) fn spelled(name: Name<'_>, order: NameOrder) -> Cow<'_, str> {
    match order {
        NameOrder::Bare => text(name.text),
        NameOrder::Raw => {
            let mut raw = Vec::new();
            name.write_raw(&mut raw);
            Cow::Owned(text(&raw).into_owned())
        }
    }
}

/// Returns bytes as UTF-8, which Arrow requires. Other bytes are read as Latin-1, so distinct names
/// stay distinct.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;

    #[test]
    fn equal_texts_share_a_code() {
        let mut coder = Coder::new(NameOrder::Bare);
        for name in ["a", "b", "a", ""] {
            coder.push(Name::bare(name.as_bytes()));
        }
        let names = coder.finish("Value").expect("few names");
        assert_eq!((0..4).map(|n| names.code(n)).collect::<Vec<_>>(), [0, 1, 0, 2]);
        let array = names.array(vec![2, 0, 1]).expect("known codes");
        let array = array.as_dictionary::<arrow_array::types::Int32Type>();
        assert_eq!(array.values().len(), 3);
        let texts = array.downcast_dict::<StringArray>().expect("texts");
        assert_eq!(texts.into_iter().flatten().collect::<Vec<_>>(), ["", "a", "b"]);
    }

    #[test]
    fn other_bytes_are_read_as_latin_1() {
        assert_eq!(text("é".as_bytes()), "é");
        assert_eq!(text(b"\xe9t\xe9"), "été");
    }
}
