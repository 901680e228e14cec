//! Cache of encoded names.

use std::borrow::Cow;

use paje_console::Quotes;
use paje_sim::{Name, Selected, Trace, TypeNature, ValueId};

#[derive(Debug, Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[at]]
    }
}

#[derive(Debug, Default)]
pub(crate) struct ValueTexts(Vec<Texts>);

impl ValueTexts {
    pub(crate) fn extend(
        &mut self,
        trace: &Trace,
        selected: &Selected,
        mut write: impl FnMut(Name<'_>, &mut Vec<u8>),
    ) {
        let types = trace.types();
        self.0.resize_with(types.len(), Texts::default);
        for (type_, texts) in types.ids().zip(&mut self.0) {
            if has_values(types.nature(type_)) && selected.wants_type(type_) {
                for value in texts.len() as u32..types.value_count(type_) as u32 {
                    texts.push(|out| write(types.value_name(type_, ValueId(value)), out));
                }
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self, type_: paje_sim::TypeId, value: ValueId) -> &[u8] {
        self.0[type_.index()].get(value.index())
    }
}

pub(crate) const fn has_values(nature: TypeNature) -> bool {
    matches!(nature, TypeNature::State | TypeNature::Event | TypeNature::Link)
}

/// Returns a name as it is shown, with its quotes only if they are kept.
pub(crate) fn shown(quotes: Quotes, name: Name<'_>) -> Cow<'_, [u8]> {
    let mut raw = Vec::new();
    match quotes {
        Quotes::Keep => name.write_raw(&mut raw),
        Quotes::Auto | Quotes::Strip => return Cow::Borrowed(name.text),
    }
    Cow::Owned(raw)
}
