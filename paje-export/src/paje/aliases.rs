//! Short aliases of types and containers.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use paje_sim::{ContainerId, Name, Trace, TypeId};

use super::numbers::put_short;

#[derive(Debug)]
pub(super) struct Aliases {
    types: Vec<String>,
    containers: Vec<String>,
}

impl Aliases {
    /// Chooses short aliases. Siblings with the same name keep their aliases, which distinguish
    /// them.
    pub(super) fn new(trace: &Trace) -> Self {
        let (types, containers) = (trace.types(), trace.containers());
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
        }
    }

    pub(super) fn type_(&self, id: TypeId) -> &str {
        &self.types[id.index()]
    }

    pub(super) fn container(&self, id: ContainerId) -> &str {
        &self.containers[id.index()]
    }
}

/// Returns an alias for each item, given by its key and its name. The first item is the root.
fn aliases<K: Hash + Eq>(all: &[(K, Name<'_>)]) -> Vec<String> {
    let mut counts: HashMap<&K, u32> = HashMap::new();
    for (key, _) in &all[1..] {
        *counts.entry(key).or_default() += 1;
    }
    let is_kept = |key: &K| counts.get(key).is_some_and(|count| *count > 1);
    let kept = all[1..].iter().filter(|(key, _)| is_kept(key));
    let kept: HashSet<&[u8]> = kept.map(|(_, name)| name.text).collect();
    let mut numbers = (1..).map(short).filter(|word| !kept.contains(word.as_bytes()));
    let mut aliases = vec!["0".to_owned()];
    for (key, name) in &all[1..] {
        let word = if is_kept(key) { word(*name) } else { None };
        aliases.push(word.or_else(|| numbers.next()).unwrap_or_default());
    }
    aliases
}

/// Returns a name as one word, or `None` if it is not UTF-8.
fn word(name: Name<'_>) -> Option<String> {
    let mut word = Vec::new();
    super::put_name(name, &mut word);
    Some(String::from_utf8(word).ok()?.trim_start_matches(' ').to_owned())
}

fn short(number: u64) -> String {
    let mut word = Vec::new();
    put_short(number, &mut word);
    String::from_utf8_lossy(&word).into_owned()
}
