//! Colours of values, from the trace or the palette.

use std::collections::{BTreeMap, BTreeSet};

use paje_parser::TypeNature;
use paje_pictures::colours::{Rgb, by_name};
use paje_sim::{TypeId, Types, ValueId};

#[derive(Clone, Debug, Default)]
pub(crate) struct Colors {
    by_name: BTreeMap<Vec<u8>, Rgb>,
}

impl Colors {
    pub(crate) fn of(types: &Types) -> Self {
        let mut names = BTreeSet::new();
        for id in types.ids() {
            if types.nature(id) == TypeNature::Variable {
                names.insert(types.name(id).text.to_vec());
            }
            let values = (0..types.value_count(id) as u32).map(ValueId);
            names.extend(values.map(|value| types.value_name(id, value).text.to_vec()));
        }
        Colors { by_name: by_name(names) }
    }

    pub(crate) fn value(&self, types: &Types, id: TypeId, value: ValueId) -> Rgb {
        match types.value_color(id, value) {
            Some(color) => [0, 1, 2].map(|i| (color.0[i].clamp(0.0, 1.0) * 255.0).round() as u8),
            None => self.name(types.value_name(id, value).text),
        }
    }

    pub(crate) fn variable(&self, types: &Types, id: TypeId) -> Rgb {
        self.name(types.name(id).text)
    }

    fn name(&self, name: &[u8]) -> Rgb {
        self.by_name.get(name).copied().unwrap_or([0x88; 3])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_come_from_the_trace_or_differ() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");
        let trace = paje_sim::Trace::open(path).expect("an example");
        let (types, colors) = (trace.types(), Colors::of(trace.types()));
        let mut seen = BTreeMap::new();
        for id in types.ids() {
            for value in (0..types.value_count(id) as u32).map(ValueId) {
                let (name, color) =
                    (types.value_name(id, value).to_string(), colors.value(types, id, value));
                if types.value_color(id, value).is_none() {
                    assert!(
                        seen.insert(color, name.clone()).is_none_or(|other| other == name),
                        "{name}"
                    );
                }
            }
        }
    }
}
