//! The files of `--type-hierarchy` and `--entity-hierarchy`.

use paje_sim::{Step, Trace, TypeNature, ValueId};

use super::Quotes;

/// Returns `Parent, Name, Nature` of each type except the root's, and of each value below its type.
#[must_use]
pub fn types(trace: &Trace, quotes: Quotes) -> Vec<u8> {
    let types = trace.types();
    let mut out = b"Parent, Name, Nature\n".to_vec();
    let mut columns = Columns { quotes, out: &mut out };
    trace.each_type(quotes.order(), |id, inside| {
        for child in inside {
            columns.row(&[types.name(id), types.name(*child)], types.nature(*child).name());
            let mut values: Vec<ValueId> =
                (0..types.value_count(*child) as u32).map(ValueId).collect();
            values.sort_by_cached_key(|value| {
                let mut key = Vec::new();
                quotes.write(types.value_identifier(*child, *value), &mut key);
                key
            });
            for value in values {
                columns.row(&[types.name(*child), types.value_name(*child, value)], "Value");
            }
        }
    });
    out
}

/// Returns `Parent, Name, Type, Nature` of each container, and of the types of its entities.
#[must_use]
pub fn entities(trace: &Trace, quotes: Quotes) -> Vec<u8> {
    let (types, containers) = (trace.types(), trace.containers());
    let mut out = b"Parent, Name, Type, Nature\n".to_vec();
    let mut columns = Columns { quotes, out: &mut out };
    for step in trace.walk(quotes.order()) {
        match step {
            Step::Container(id) => {
                let parent = containers.name(containers.parent(id));
                let type_ = types.name(containers.type_of(id));
                columns.row(&[parent, containers.name(id), type_], TypeNature::Container.name());
            }
            Step::Type(container, type_) => {
                let name = types.name(type_);
                columns.row(&[containers.name(container), name, name], types.nature(type_).name());
            }
        }
    }
    out
}

struct Columns<'o> {
    quotes: Quotes,
    out: &'o mut Vec<u8>,
}

impl Columns<'_> {
    fn row(&mut self, names: &[paje_sim::Name<'_>], nature: &str) {
        for name in names {
            self.quotes.write(*name, self.out);
            self.out.extend_from_slice(b", ");
        }
        self.out.extend_from_slice(nature.as_bytes());
        self.out.push(b'\n');
    }
}
