//! The order of names.

use std::cmp::Ordering;

use paje_parser::Quoting;

use crate::text::Name;

/// How identifiers are compared where output order asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameOrder {
    /// Without quotes: every release of PajeNG up to 1.3.10.
    #[default]
    Bare,
    /// As they were written, with quotes: PajeNG's development version since February 2026.
    Raw,
}

impl NameOrder {
    /// What is compared of a name.
    #[must_use]
    pub fn key(self, name: Name<'_>) -> Vec<u8> {
        match self {
            NameOrder::Bare => name.text.to_vec(),
            NameOrder::Raw => {
                let mut raw = Vec::new();
                name.write_raw(&mut raw);
                raw
            }
        }
    }

    /// Sorts by rank and name; what has the same of both keeps its order. Without a copy of each name:
    /// there may be millions.
    pub(crate) fn sort<'n, T: Copy>(self, list: &mut [T], key: impl Fn(T) -> (u32, Name<'n>)) {
        if list.len() < 2 {
            return;
        }
        let first = |item: &T| {
            let (rank, name) = key(*item);
            (rank, self.prefix(name))
        };
        let mut sorted: Vec<((u32, [u32; 2]), u32)> = list.iter().map(first).zip(0..).collect();
        let item = |place: u32| list[place as usize];
        sorted.sort_unstable_by(|one, other| {
            let by_name = || self.compare(key(item(one.1)).1, key(item(other.1)).1);
            one.0.cmp(&other.0).then_with(by_name).then(one.1.cmp(&other.1))
        });
        let sorted: Vec<T> = sorted.into_iter().map(|(_, place)| item(place)).collect();
        list.copy_from_slice(&sorted);
    }

    /// The first bytes of what is compared, as numbers that are ordered as they are.
    fn prefix(self, name: Name<'_>) -> [u32; 2] {
        let quoted = self == NameOrder::Raw && name.quoting != Quoting::Bare;
        let bytes = quoted.then_some(&b'"').into_iter().chain(name.text);
        let mut first = [[0; 4]; 2];
        for (place, byte) in first.as_flattened_mut().iter_mut().zip(bytes) {
            *place = *byte;
        }
        first.map(u32::from_be_bytes)
    }

    fn compare(self, one: Name<'_>, other: Name<'_>) -> Ordering {
        match self {
            NameOrder::Bare => one.text.cmp(other.text),
            NameOrder::Raw => self.key(one).cmp(&self.key(other)),
        }
    }
}
