//! Equality of values of two traces.

use std::borrow::Cow;

use paje_sim::{Name, Trace, TypeId, ValueId};
use rustc_hash::FxHashMap;

/// Whether the case of letters matters in names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// Names are compared byte by byte.
    #[default]
    Matters,
    /// The case of ASCII letters is ignored, as by C's `strcasecmp` in the C locale.
    Ignored,
}

impl Case {
    /// Returns the key that a name is compared by, without quotes.
    #[must_use]
    pub fn key(self, text: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Case::Ignored if text.iter().any(u8::is_ascii_uppercase) => {
                Cow::Owned(text.to_ascii_lowercase())
            }
            _ => Cow::Borrowed(text),
        }
    }
}

/// Function that returns the text by which a value is compared.
pub(crate) type ValueText = fn(&Trace, TypeId, ValueId) -> Name<'_>;

pub(crate) fn by_name(trace: &Trace, type_: TypeId, value: ValueId) -> Name<'_> {
    trace.types().value_name(type_, value)
}

pub(crate) fn by_identifier(trace: &Trace, type_: TypeId, value: ValueId) -> Name<'_> {
    trace.types().value_identifier(type_, value)
}

/// For each trace, numbers of the values of a type. Equal values of the two traces have equal
/// numbers.
#[derive(Debug)]
pub(crate) struct SameValues([Vec<u32>; 2]);

impl SameValues {
    pub(crate) fn of(
        traces: [&Trace; 2],
        types: [TypeId; 2],
        text: ValueText,
        case: Case,
    ) -> SameValues {
        let mut numbers: FxHashMap<Cow<'_, [u8]>, u32> = FxHashMap::default();
        let mut sides = [Vec::new(), Vec::new()];
        for ((trace, type_), side) in traces.into_iter().zip(types).zip(&mut sides) {
            for value in (0..trace.types().value_count(type_) as u32).map(ValueId) {
                let next = numbers.len() as u32;
                let key = case.key(text(trace, type_, value).text);
                side.push(*numbers.entry(key).or_insert(next));
            }
        }
        SameValues(sides)
    }

    #[inline]
    pub(crate) fn are_same(&self, values: [ValueId; 2]) -> bool {
        self.0[0][values[0].index()] == self.0[1][values[1].index()]
    }
}

/// [`SameValues`] of all types, created when needed.
#[derive(Debug)]
pub(crate) struct AllValues<'t> {
    traces: [&'t Trace; 2],
    text: ValueText,
    case: Case,
    of: Vec<Option<SameValues>>,
}

impl<'t> AllValues<'t> {
    pub(crate) fn new(traces: [&'t Trace; 2], text: ValueText, case: Case) -> Self {
        let of = traces[0].types().ids().map(|_| None).collect();
        AllValues { traces, text, case, of }
    }

    /// Returns the numbers for a pair of types. All calls for a type must pass the same
    /// counterpart.
    pub(crate) fn of(&mut self, types: [TypeId; 2]) -> &SameValues {
        let AllValues { traces, text, case, of } = self;
        of[types[0].index()].get_or_insert_with(|| SameValues::of(*traces, types, *text, *case))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_ignored_for_ascii_letters() {
        assert_eq!(Case::Matters.key(b"aB"), Cow::Borrowed(b"aB"));
        assert_eq!(&*Case::Ignored.key(b"aB\xc4"), b"ab\xc4");
        assert!(matches!(Case::Ignored.key(b"ab"), Cow::Borrowed(_)));
    }
}
