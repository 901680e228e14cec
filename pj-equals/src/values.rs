//! Which values of two traces are the same.

use std::borrow::Cow;

use paje_sim::{Name, Trace, TypeId, ValueId};
use rustc_hash::FxHashMap;

/// Case of letters in the comparison of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// Byte for byte.
    #[default]
    Matters,
    /// `A` is `a`, for ASCII letters, as for C's `strcasecmp` in the C locale.
    Ignored,
}

impl Case {
    /// Key that a name is compared by: quotes play no part.
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

/// Which of its texts a value is compared by.
pub(crate) type ValueText = fn(&Trace, TypeId, ValueId) -> Name<'_>;

/// Name of a value, as rows print it.
pub(crate) fn by_name(trace: &Trace, type_: TypeId, value: ValueId) -> Name<'_> {
    trace.types().value_name(type_, value)
}

/// Identifier of a value, as events have it.
pub(crate) fn by_identifier(trace: &Trace, type_: TypeId, value: ValueId) -> Name<'_> {
    trace.types().value_identifier(type_, value)
}

/// Numbers for the values of a type in one trace and its counterpart in the other: values whose texts
/// are the same have the same number.
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

    /// Returns whether a value of the first trace and one of the second are the same.
    #[inline]
    pub(crate) fn are_same(&self, values: [ValueId; 2]) -> bool {
        self.0[0][values[0].index()] == self.0[1][values[1].index()]
    }
}

/// [`SameValues`] of each type, made when they are first asked for.
#[derive(Debug)]
pub(crate) struct AllValues<'t> {
    traces: [&'t Trace; 2],
    text: ValueText,
    case: Case,
    /// By the first trace's type.
    of: Vec<Option<SameValues>>,
}

impl<'t> AllValues<'t> {
    pub(crate) fn new(traces: [&'t Trace; 2], text: ValueText, case: Case) -> Self {
        let of = traces[0].types().ids().map(|_| None).collect();
        AllValues { traces, text, case, of }
    }

    /// Of a type that always has the same counterpart.
    pub(crate) fn of(&mut self, types: [TypeId; 2]) -> &SameValues {
        let AllValues { traces, text, case, of } = self;
        of[types[0].index()].get_or_insert_with(|| SameValues::of(*traces, types, *text, *case))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_both_cases() {
        assert_eq!(Case::Matters.key(b"aB"), Cow::Borrowed(b"aB"));
        assert_eq!(&*Case::Ignored.key(b"aB\xc4"), b"ab\xc4");
        assert!(matches!(Case::Ignored.key(b"ab"), Cow::Borrowed(_)));
    }
}
