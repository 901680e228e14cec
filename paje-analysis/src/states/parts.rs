//! Profiles of parts of a trace, and their sum.
//!
//! A part may have been read by another process. So values have no identifiers here, which depend on
//! what was read, but texts. Containers and types have the same identifiers in all parts.

use std::collections::BTreeMap;
use std::ops::Range;

use paje_sim::{ContainerId, LaneView, TimeRange, Trace, TypeId};
use rustc_hash::FxHashMap;

use super::{By, Cell, Found, Group, Held, Lane, Row, Spread, States};
use crate::bytes::{Bytes, Left};
use crate::nesting::{Nested, Nesting, Part};
use crate::quantiles::Durations;
use crate::{Label, Scope};

/// Sum of the profiles of parts of a trace.
#[derive(Debug, Default)]
pub struct StatesParts {
    lanes: BTreeMap<(ContainerId, TypeId), BTreeMap<Label, Cell>>,
    /// By the value's name, and then by the text by which events refer to it, because several values
    /// may have the same name.
    durations: BTreeMap<(TypeId, Label), BTreeMap<Label, Spread>>,
}

impl Lane {
    /// Adds the states that begin in this range.
    pub(super) fn see_begun(
        &mut self,
        lane: LaneView<'_>,
        begins: &Range<f64>,
        by: &By,
        is_twofold: bool,
        found: &mut Found,
    ) {
        let group = if *by == By::Value { ContainerId::ROOT } else { lane.container() };
        let durations = &mut found.durations;
        let mut held = Held::default();
        let mut add = |state: &Nested, part: Option<Part>, parent: Option<&Nested>| {
            let Some(part) = part.filter(|_| begins.contains(&state.start)) else { return };
            self.has_states = true;
            let cell = self.cells.index(state.value);
            let cell = self.cells.at(cell);
            cell.add_one(part, part.inclusive);
            if !state.is_repeated {
                cell.inclusive += part.inclusive;
            }
            if let Some(parent) = parent.filter(|parent| parent.contains(state.start)) {
                let cell = self.cells.index(parent.value);
                self.cells.at(cell).exclusive -= part.inclusive;
            }
            let spread = durations.index((lane.type_id(), state.value, group));
            durations.at(spread).push(part.seconds);
        };
        Nesting::walk(lane, TimeRange::default(), &mut Vec::new(), |state, part, parent| {
            held.see(is_twofold, (state, part, parent), &mut add);
        });
        held.0.iter().for_each(|(first, part)| add(first, *part, None));
    }
}

impl States {
    /// Returns the profile of the states that [begin](Self::beginning_in) in a part of a trace.
    pub(crate) fn part(&self, trace: &Trace) -> StatesParts {
        let mut part = StatesParts::default();
        for lane in trace.lanes() {
            let kept = self.lanes.get(lane.id().index()).filter(|kept| kept.has_states);
            let Some(kept) = kept else { continue };
            let values = part.lanes.entry((lane.container(), lane.type_id())).or_default();
            for (value, cell) in kept.cells.iter() {
                values.entry(lane.value_name(*value).into()).or_default().add(cell);
            }
        }
        for ((type_, value), spread) in &self.durations {
            let types = trace.types();
            let key = (*type_, types.value_name(*type_, *value).into());
            let identifier = types.value_identifier(*type_, *value).into();
            part.durations.entry(key).or_default().insert(identifier, spread.clone());
        }
        part
    }
}

impl StatesParts {
    /// Encodes the profile for [`add`](Self::add).
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Bytes::default();
        out.number(self.lanes.len() as u64);
        for ((container, type_), values) in &self.lanes {
            out.number(container.index() as u64);
            out.number(type_.index() as u64);
            out.number(values.len() as u64);
            for (name, cell) in values {
                out.label(name.name());
                out.number(cell.count);
                [cell.sum, cell.inclusive, cell.exclusive]
                    .into_iter()
                    .for_each(|it| out.seconds(it));
                [cell.min, cell.max].into_iter().for_each(|time| out.float(time));
            }
        }
        out.number(self.durations.values().map(BTreeMap::len).sum::<usize>() as u64);
        for ((type_, name), values) in &self.durations {
            for (identifier, spread) in values {
                out.number(type_.index() as u64);
                out.label(name.name());
                out.label(identifier.name());
                out.number(spread.by.len() as u64);
                for (container, durations) in &spread.by {
                    out.number(container.index() as u64);
                    out.durations(durations);
                }
            }
        }
        out.0
    }

    /// Adds the profile of a part. Returns `None` if the bytes are no profile.
    pub(crate) fn add(&mut self, part: &[u8]) -> Option<()> {
        let mut left = Left(part);
        for _ in 0..left.number()? {
            let lane = (ContainerId(left.index()?), TypeId(left.index()?));
            let values = self.lanes.entry(lane).or_default();
            for _ in 0..left.number()? {
                let (name, count) = (left.label()?, left.number()?);
                let mut sum = || left.seconds();
                let (sum, inclusive, exclusive) = (sum()?, sum()?, sum()?);
                let (min, max) = (left.float()?, left.float()?);
                let cell = Cell { count, sum, inclusive, exclusive, min, max };
                values.entry(name).or_default().add(&cell);
            }
        }
        for _ in 0..left.number()? {
            let (type_, name) = (TypeId(left.index()?), left.label()?);
            let values = self.durations.entry((type_, name)).or_default();
            let spread = values.entry(left.label()?).or_default();
            for _ in 0..left.number()? {
                let container = ContainerId(left.index()?);
                spread.append(container, &mut left.durations()?);
            }
        }
        left.0.is_empty().then_some(())
    }

    /// Returns the rows as [`States::rows`] does for the whole trace. `trace` may have been read in
    /// part.
    pub(crate) fn rows(&self, trace: &Trace, scope: &Scope, by: &By) -> Vec<Row> {
        let (places, by) = (by.places(trace), by.groups(trace));
        let mut groups: BTreeMap<(Option<usize>, TypeId), Group> = BTreeMap::new();
        for ((container, type_), values) in &self.lanes {
            let Some(id) = by.group(*container) else { continue };
            let key = (places.get(&id).copied(), *type_);
            let group = groups.entry(key).or_insert_with(|| Group::new(id));
            group.count(scope.lifetime(trace, *container));
            values.iter().for_each(|(name, cell)| group.add_value(name, cell));
        }
        let mut spreads: BTreeMap<(TypeId, &Label, ContainerId), Durations> = BTreeMap::new();
        for ((type_, name), values) in &self.durations {
            for (container, durations) in values.values().flat_map(|spread| &spread.by) {
                if let Some(id) = by.group(*container) {
                    let all = spreads.entry((*type_, name, id)).or_default();
                    all.append(&mut durations.clone());
                }
            }
        }
        let rows = groups.into_iter().flat_map(|((_, type_), group)| {
            let quantiles = |name: &Label, _: &_| {
                let all = spreads.get(&(type_, name, group.id));
                all.map_or([0.0; 2], |all| {
                    all.quantiles([0.5, 0.95]).map(Option::unwrap_or_default)
                })
            };
            by.rows(type_, &group, quantiles)
        });
        rows.collect()
    }
}

impl Bytes {
    fn durations(&mut self, durations: &Durations) {
        match durations {
            Durations::Few(all) => {
                self.number(0);
                self.number(all.len() as u64);
                all.iter().for_each(|seconds| self.float(*seconds));
            }
            Durations::Many(buckets) => {
                self.number(1);
                self.number(buckets.len() as u64);
                for (bucket, count) in buckets {
                    self.number(u64::from(*bucket));
                    self.number(*count);
                }
            }
        }
    }
}

impl Left<'_> {
    fn durations(&mut self) -> Option<Durations> {
        let is_many = self.number()? == 1;
        let range = 0..self.number()?;
        if is_many {
            let mut buckets = FxHashMap::default();
            for _ in range {
                buckets.insert(u32::try_from(self.number()?).ok()?, self.number()?);
            }
            return Some(Durations::Many(buckets));
        }
        range.map(|_| self.float()).collect::<Option<Vec<_>>>().map(Durations::Few)
    }
}
