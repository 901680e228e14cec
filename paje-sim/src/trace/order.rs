use std::cmp::Ordering;

use paje_parser::Quoting;

use paje_model::names::text::Name;

/// Order of identifiers in output order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameOrder {
    /// Names are compared without quotes, as in every release of PajeNG up to 1.3.10.
    #[default]
    Bare,
    /// Names are compared as written, with quotes, as in PajeNG's development version since
    /// February 2026.
    Raw,
}

impl NameOrder {
    /// Returns the bytes of a name that are compared.
    #[must_use]
    #[doc(hidden)]
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

    pub(crate) fn sort<'n, T: Copy>(
        self,
        list: &mut [T],
        rank: impl Fn(T) -> u32,
        name: impl Fn(T) -> Name<'n>,
    ) {
        list.sort_by_key(|item| rank(*item));
        for same in list.chunk_by_mut(|one, other| rank(*one) == rank(*other)) {
            self.sort_names(same, &name);
        }
    }

    /// Sorts by name. There may be millions of names, so they are not copied, and sorting needs only twelve bytes for
    /// each name.
    fn sort_names<'n, T: Copy>(self, list: &mut [T], name: impl Fn(T) -> Name<'n>) {
        if list.len() < 2 {
            return;
        }
        let prefixes = list.iter().map(|item| self.prefix(name(*item)));
        let mut sorted: Vec<([u32; 2], u32)> = prefixes.zip(0..).collect();
        sorted.sort_unstable_by(|one, other| {
            let of = |place: u32| name(list[place as usize]);
            let by_name = || self.compare(of(one.1), of(other.1));
            one.0.cmp(&other.0).then_with(by_name).then(one.1.cmp(&other.1))
        });
        // Applies the permutation cycle by cycle.
        for start in 0..list.len() {
            let first = list[start];
            let mut free = start;
            loop {
                let from = std::mem::replace(&mut sorted[free].1, free as u32) as usize;
                if from == start {
                    break;
                }
                list[free] = list[from];
                free = from;
            }
            list[free] = first;
        }
    }

    /// Returns the first bytes of a name as numbers. The numbers have the same order as the names.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The names often share their first bytes. Quotes only matter in the raw order.
        #[test]
        fn sorting_equals_a_stable_sort_by_rank_and_key(
            named in prop::collection::vec((0..3u32, "[ab]{0,2}|container[ab]{0,2}", any::<bool>()), 0..60)
        ) {
            let name = |place: usize| {
                let (_, text, quoted) = &named[place];
                let quoting = if *quoted { Quoting::Quoted } else { Quoting::Bare };
                Name { text: text.as_bytes(), quoting }
            };
            for order in [NameOrder::Bare, NameOrder::Raw] {
                let mut sorted: Vec<usize> = (0..named.len()).collect();
                let mut expected = sorted.clone();
                expected.sort_by_key(|place| (named[*place].0, order.key(name(*place))));
                order.sort(&mut sorted, |place| named[place].0, name);
                prop_assert_eq!(sorted, expected);
            }
        }
    }
}
