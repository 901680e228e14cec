//! Short aliases of types and containers.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use paje_sim::{ContainerId, Name, Trace, TypeId, ValueId};

use super::numbers::put_short;

#[derive(Debug)]
pub(super) struct Aliases {
    types: Vec<Vec<u8>>,
    containers: Vec<Vec<u8>>,
    all_kept: bool,
}

impl Aliases {
    /// Chooses short aliases. Siblings with the same name keep their aliases, which distinguish
    /// them. If `all_kept` is true, all types, values and containers keep their
    /// aliases.
    pub(super) fn new(trace: &Trace, all_kept: bool) -> Self {
        let (types, containers) = (trace.types(), trace.containers());
        if all_kept {
            return Aliases {
                types: types.ids().map(|id| word(types.identifier(id))).collect(),
                containers: containers.ids().map(|id| word(containers.identifier(id))).collect(),
                all_kept,
            };
        }
        let type_key = |id: TypeId| (types.parent(id), types.nature(id) as u8, types.name(id).text);
        let container_key = |id: ContainerId| {
            (containers.parent(id), containers.type_of(id), containers.name(id).text)
        };
        Aliases {
            types: aliases(
                &types.ids().map(|id| (type_key(id), types.identifier(id))).collect::<Vec<_>>(),
            ),
            containers: aliases(
                &containers
                    .ids()
                    .map(|id| (container_key(id), containers.identifier(id)))
                    .collect::<Vec<_>>(),
            ),
            all_kept,
        }
    }

    /// Appends a space and the alias of a value, which is its number unless all aliases are kept.
    pub(super) fn put_value(
        &self,
        trace: &Trace,
        type_: TypeId,
        value: ValueId,
        out: &mut Vec<u8>,
    ) {
        if self.all_kept {
            return super::put_name(trace.types().value_identifier(type_, value), out);
        }
        out.push(b' ');
        put_short(u64::from(value.0), out);
    }

    pub(super) fn type_(&self, id: TypeId) -> &[u8] {
        &self.types[id.index()]
    }

    pub(super) fn container(&self, id: ContainerId) -> &[u8] {
        &self.containers[id.index()]
    }
}

/// Returns an alias for each item, given by its key and its name. The first item is the root.
fn aliases<K: Hash + Eq>(all: &[(K, Name<'_>)]) -> Vec<Vec<u8>> {
    let mut counts: HashMap<&K, u32> = HashMap::new();
    for (key, _) in &all[1..] {
        *counts.entry(key).or_default() += 1;
    }
    let is_kept = |key: &K| counts.get(key).is_some_and(|count| *count > 1);
    let kept = all[1..].iter().filter(|(key, _)| is_kept(key));
    let kept: HashSet<&[u8]> = kept.map(|(_, name)| name.text).collect();
    let mut numbers = (1..).map(short).filter(|word| !kept.contains(&word[..]));
    let mut aliases = vec![b"0".to_vec()];
    for (key, name) in &all[1..] {
        let word = if is_kept(key) { word(*name) } else { numbers.next().unwrap_or_default() };
        aliases.push(word);
    }
    aliases
}

/// Returns a name as one word.
fn word(name: Name<'_>) -> Vec<u8> {
    let mut word = Vec::new();
    super::put_name(name, &mut word);
    // A blank precedes the name.
    word.split_off(1)
}

fn short(number: u64) -> Vec<u8> {
    let mut word = Vec::new();
    put_short(number, &mut word);
    word
}
