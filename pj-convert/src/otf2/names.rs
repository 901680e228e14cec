//! The strings of an archive, and the definitions that are named after types and values.

use std::collections::HashMap;

use paje_sim::{Trace, TypeId, TypeNature, ValueId};

#[derive(Debug, Default)]
pub(super) struct Names {
    /// All strings, in the order of their identifiers.
    pub(super) texts: Vec<Vec<u8>>,
    ids: HashMap<Vec<u8>, u32>,
    /// Names of regions.
    pub(super) regions: Vec<u32>,
    /// Names of metrics: the types of variables.
    pub(super) metrics: Vec<u32>,
    /// Names of parameters: the types of events.
    pub(super) parameters: Vec<u32>,
    /// Number of the metric or the parameter of each type.
    numbers: Vec<u32>,
    /// Region or string of each value of each type.
    values: Vec<Vec<u32>>,
}

impl Names {
    pub(super) fn new(trace: &Trace) -> Self {
        let (mut names, types) = (Names::default(), trace.types());
        let mut regions = HashMap::new();
        for type_ in types.ids() {
            let name = names.id(types.name(type_).text);
            let (mut number, mut values) = (0, Vec::new());
            match types.nature(type_) {
                TypeNature::State => {
                    for value in types.values(type_) {
                        let name = names.id(types.value_name(type_, value).text);
                        values.push(*regions.entry(name).or_insert_with(|| {
                            names.regions.push(name);
                            names.regions.len() as u32 - 1
                        }));
                    }
                }
                TypeNature::Event => {
                    number = push(&mut names.parameters, name);
                    for value in types.values(type_) {
                        values.push(names.id(types.value_name(type_, value).text));
                    }
                }
                TypeNature::Variable => number = push(&mut names.metrics, name),
                TypeNature::Container | TypeNature::Link => {}
            }
            names.numbers.push(number);
            names.values.push(values);
        }
        names
    }

    /// Returns the identifier of a string.
    pub(super) fn id(&mut self, text: &[u8]) -> u32 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = push(&mut self.texts, text.to_owned());
        self.ids.insert(text.to_owned(), id);
        id
    }

    /// Returns the number of the metric or the parameter of a type.
    pub(super) fn number(&self, type_: TypeId) -> u32 {
        self.numbers[type_.index()]
    }

    /// Returns the region of a state's value, or the string of an event's value.
    pub(super) fn value(&self, type_: TypeId, value: ValueId) -> u32 {
        self.values[type_.index()][value.0 as usize]
    }
}

fn push<T>(all: &mut Vec<T>, it: T) -> u32 {
    all.push(it);
    all.len() as u32 - 1
}
