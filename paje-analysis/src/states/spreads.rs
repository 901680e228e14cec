//! Quantiles of state durations.

use std::collections::BTreeSet;

use paje_sim::{ContainerId, TypeId, ValueId};
use rustc_hash::FxHashMap;

use super::{Key, States};
use crate::quantiles::Durations;
use crate::scope::Groups;

pub(super) struct Spreads<'s> {
    ended: FxHashMap<Key, Vec<&'s Durations>>,
    open: FxHashMap<Key, Vec<f64>>,
}

impl<'s> Spreads<'s> {
    pub(super) fn new(
        states: &'s States,
        by: &Groups<'_>,
        of_open: FxHashMap<Key, Vec<f64>>,
    ) -> Self {
        let mut spreads = Spreads { ended: FxHashMap::default(), open: FxHashMap::default() };
        for ((type_, value), spread) in &states.durations {
            for (container, durations) in &spread.by {
                if let Some(group) = by.group(*container) {
                    spreads.ended.entry((*type_, *value, group)).or_default().push(durations);
                }
            }
        }
        for ((type_, value, container), open) in of_open {
            if let Some(group) = by.group(container) {
                spreads.open.entry((type_, value, group)).or_default().extend(open);
            }
        }
        spreads
    }

    /// Returns the median and the 95th percentile of the durations of all these values.
    pub(super) fn quantiles(
        &self,
        group: ContainerId,
        type_: TypeId,
        ids: &BTreeSet<ValueId>,
    ) -> [f64; 2] {
        let keys = || ids.iter().map(|value| (type_, *value, group));
        let ended: Vec<&Durations> =
            keys().filter_map(|key| self.ended.get(&key)).flatten().copied().collect();
        let open: Vec<f64> =
            keys().filter_map(|key| self.open.get(&key)).flatten().copied().collect();
        let all = match (ended.as_slice(), open.as_slice()) {
            ([one], []) => one.quantiles([0.5, 0.95]),
            _ => {
                let mut all = Durations::Few(open);
                ended.into_iter().for_each(|durations| all.append(&mut durations.clone()));
                all.quantiles([0.5, 0.95])
            }
        };
        all.map(Option::unwrap_or_default)
    }
}
