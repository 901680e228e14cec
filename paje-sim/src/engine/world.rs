//! The state of the trace so far: types, containers, lanes and problems. Between two rounds, containers end here in
//! file order, and the first problem of a wave is found.

use std::sync::Arc;

use paje_parser::FieldName;

use super::diagnostics;
use super::ledger::LedgerSink;
use super::portions::Portions;
use super::reading::Reading;
use super::round::Wave;
use super::state::{Findings, Job};
use crate::resolve::Deferred;
use crate::trace::Trace;
use crate::trace::selected::Selected;
use paje_decode::decode::definitions::DefinitionsByFile;
use paje_decode::decode::partitioning::Partitioning;
use paje_model::model::{Effects, Ending, Failed, Model};
use paje_model::names::error::{Error, Problem};
use paje_model::names::ids::ContainerId;
use paje_model::names::recovered::{OpenState, Recovery, Remedy};
use paje_model::names::usage::Usage;
use paje_replay::problems::found::earliest;
use paje_replay::problems::tally::ProblemTally;
use paje_replay::replay::lanes::Lanes;

/// Number of containers whose lanes are prefetched together. Such lanes fit into a core's second-level cache.
const TOGETHER: usize = 1024;

pub(super) struct World<'o> {
    pub(super) job: Job<'o>,
    pub(super) model: Model,
    pub(super) effects: Effects,
    /// Destructions of containers whose lanes only end when all files have been read.
    pub(super) deferred: Vec<Deferred>,
    pub(super) lanes: Lanes,
    /// Selection of the rows to keep, or `None` if all rows are kept.
    pub(super) selected: Option<Selected>,
    pub(super) findings: Findings,
    pub(super) portions: Option<Portions<'o>>,
    pub(super) follower: Option<LedgerSink<'o>>,
}

impl<'o> World<'o> {
    pub(super) fn new(
        job: Job<'o>,
        spread: Partitioning,
        portions: Option<Portions<'o>>,
        follower: Option<LedgerSink<'o>>,
    ) -> Self {
        let options = job.options;
        let mut model = Model::new(options.value_names);
        model.made_up = options.recover.then(Default::default);
        let tally = options.recover.then(ProblemTally::default);
        World {
            job,
            model,
            effects: Effects::default(),
            deferred: Vec::new(),
            lanes: Lanes::new(options, spread, portions.is_some()),
            selected: Selected::of(options),
            findings: Findings { tally, ..Findings::default() },
            portions,
            follower,
        }
    }

    /// Settles a wave whose lanes have been replayed.
    ///
    /// # Errors
    /// Returns the first problem of the trace, if it is already known.
    pub(super) fn settle(
        &mut self,
        wave: &Wave,
        definitions: &DefinitionsByFile,
    ) -> Result<(), Error> {
        self.lanes.relieve()?;
        self.settle_to(wave, u64::MAX)?;
        if let Some(last) = wave.blocks.last() {
            self.lanes.cuts.forget(last.origin.start);
        }
        if let Some(first) = self.findings.first.take() {
            let reused = self.reused_in(None).map(|(found, _)| found);
            let found = earliest(Some(first), reused);
            return found.map_or(Ok(()), Err);
        }
        self.findings.warn(wave, definitions, &mut self.lanes);
        Ok(())
    }

    pub(super) fn settle_to(&mut self, wave: &Wave, limit: u64) -> Result<(), Error> {
        if self.findings.tally.is_some() {
            self.settle_damaged(wave, limit);
            return Ok(());
        }
        let mut found = diagnostics::first_refused(&self.model, &mut self.lanes, wave);
        let errors = [&found, &self.findings.first].into_iter().flatten();
        let first = errors.map(Error::at).chain([limit]).min().unwrap_or(limit);
        let mut endings = std::mem::take(&mut self.effects.endings);
        // Containers that ended after a reference to another file may still get events.
        let known = first.min(self.lanes.cuts.named_from.unwrap_or(u64::MAX));
        let now = endings.partition_point(|ending| ending.at < known);
        'all: for together in endings[..now].chunks(TOGETHER) {
            let containers = together.iter().map(|ending| ending.container);
            self.lanes.expect_endings(&self.model, containers);
            for ending in together {
                let reused = self.reused_in(Some(ending)).map(|(found, _)| found);
                found = earliest(found, reused);
                if let Err((field, problem)) = self.end(ending) {
                    found = earliest(found, diagnostics::error_at(wave, ending.at, field, problem));
                    break 'all;
                }
            }
            self.lanes.close_ended(self.job.workers);
        }
        endings.drain(..now);
        self.effects.endings = endings;
        if found.is_some() {
            found = earliest(found, self.findings.first.take());
            found = earliest(found, self.reused_in(None).map(|(found, _)| found));
        }
        found.map_or(Ok(()), Err)
    }

    /// Settles a wave during recovery, and records the events that lanes refused in the wave.
    fn settle_damaged(&mut self, wave: &Wave, limit: u64) {
        for (refusal, count) in self.lanes.take_refusals().first.into_iter().flatten() {
            let Some(block) = wave.block_of(refusal.at) else { continue };
            let error = diagnostics::refused(&self.model, &refusal, block);
            if let Some(tally) = &mut self.findings.tally {
                tally.add_error(refusal.why.remedy(), count, error);
            }
        }
        let mut endings = std::mem::take(&mut self.effects.endings);
        let known = limit.min(self.lanes.cuts.named_from.unwrap_or(u64::MAX));
        let now = endings.partition_point(|ending| ending.at < known);
        for ending in endings.drain(..now) {
            if let Some((error, count)) = self.reused_in(Some(&ending)) {
                self.findings.judge(Remedy::Kept, count, error);
            }
            self.end_damaged(&ending, |(field, problem)| {
                diagnostics::error_at(wave, ending.at, field, problem)
            });
        }
        self.effects.endings = endings;
    }

    pub(super) fn end_deferred(&mut self) -> Result<(), Error> {
        let deferred = std::mem::take(&mut self.deferred);
        for ending in std::mem::take(&mut self.effects.endings) {
            let error = |failed| deferred_error(&deferred, ending.at, failed);
            if self.findings.tally.is_some() {
                self.end_damaged(&ending, |failed| Some(error(failed)));
                continue;
            }
            self.end(&ending).map_err(error)?;
            self.lanes.close_ended(self.job.workers);
        }
        Ok(())
    }

    /// At the end of the trace, ends the containers that no event destroyed. `bytes` is the size of the trace.
    pub(super) fn end_all(&mut self, time: f64, bytes: u64) -> Result<(), Error> {
        let containers = &self.model.containers;
        let alive: Vec<ContainerId> =
            containers.ids().filter(|id| !containers.is_destroyed(*id)).collect();
        for together in alive.chunks(TOGETHER) {
            self.lanes.expect_endings(&self.model, together.iter().copied());
            for container in together.iter().copied() {
                self.model.containers.set_end(container, time, None);
                let ending = Ending { container, time, at: bytes, named: false };
                if self.findings.tally.is_some() {
                    self.end_damaged(&ending, |(_, problem)| Some(Error::invalid(problem, None)));
                    continue;
                }
                self.end(&ending).map_err(|(_, problem)| Error::invalid(problem, None))?;
            }
            self.lanes.close_ended(self.job.workers);
        }
        Ok(())
    }

    fn end(&mut self, ending: &Ending) -> Result<(), Failed> {
        self.lanes.end_container(&self.model, self.job.options, ending)?;
        if let Some(portions) = &mut self.portions {
            portions.ended(ending.container);
        }
        Ok(())
    }

    /// Ends a container in spite of problems. `error` returns the error for a problem.
    fn end_damaged(&mut self, ending: &Ending, error: impl Fn(Failed) -> Option<Error>) {
        let mut ending = *ending;
        let mut failures = Vec::new();
        if let Some((failed, last)) = self.lanes.ends_too_early(&self.model, &ending) {
            self.model.containers.prolong(ending.container, last);
            ending.time = last;
            failures.push((failed, Remedy::Kept, 1));
        }
        let open = self.lanes.drop_open_links(&self.model, self.job.options, ending.container);
        failures.extend(open.map(|(failed, count)| (failed, Remedy::Skipped, count)));
        for (failed, remedy, count) in failures {
            let code = failed.1.code();
            let Some(error) = error(failed) else { continue };
            if let Some(tally) = &mut self.findings.tally {
                tally.add(code, remedy, ending.at, count, || error);
            }
        }
        let ended = self.end(&ending);
        debug_assert!(ended.is_ok(), "mended");
        self.lanes.close_ended(self.job.workers);
    }

    /// Returns the first link whose key was used before, and the number of such links. Searches the lanes of an ending
    /// container, or all lanes.
    pub(super) fn reused_in(&mut self, ending: Option<&Ending>) -> Option<(Error, u64)> {
        let found = match ending {
            Some(ending) => {
                let lanes = self.model.lanes_of(ending.container);
                self.lanes.first_reused(lanes, self.job.workers)
            }
            None => {
                let lanes = self.model.lane_ids().take(self.lanes.len());
                self.lanes.first_reused(lanes, self.job.workers)
            }
        };
        let (candidate, key, count) = found?;
        let (mut place, later) = candidate.written;
        if let Some(later) = later {
            place.text = later.text();
        }
        let error = Error::invalid(Problem::KeyReused { key }, Some(place));
        Some((error.of_line_at(candidate.at), count))
    }

    pub(super) fn show_portion(&mut self, read: &mut Reading) -> Result<(), Error> {
        let Some(mut portions) = self.portions.take() else { return Ok(()) };
        self.lanes.hide_open();
        let model = std::mem::replace(&mut self.model, Model::new(self.job.options.value_names));
        let (rows, defs) = (self.lanes.lend(), Arc::clone(read.definitions.current()));
        let mut usage = read.usage.take();
        if let Some(usage) = &mut usage {
            self.settle_usage(usage, false);
        }
        let mut trace = Trace::new(model, rows, defs, read.last_time);
        trace.usage = usage;
        trace.time_unit = self.job.options.time_unit;
        let shown = portions.show(&trace);
        let Trace { model, rows, usage, .. } = trace;
        read.usage = usage;
        self.model = model;
        self.lanes.take_back(rows);
        self.lanes.forget_rows();
        portions.end += portions.size;
        self.portions = Some(portions);
        shown
    }

    /// Returns the first open states and the number of all open states, if the trace was cut off.
    pub(super) fn open_states(&mut self) -> (Vec<OpenState>, u64) {
        let (mut first, mut count) = (Vec::new(), 0);
        if !self.findings.tally.as_ref().is_some_and(|tally| tally.is_cut) {
            return (first, count);
        }
        for container in self.model.containers.ids() {
            let mut lanes: Vec<_> = self.model.lanes_of(container).collect();
            lanes.reverse();
            for id in lanes {
                let type_ = self.model.lanes[id.index()].type_;
                for value in self.lanes.open_values(id) {
                    count += 1;
                    if first.len() < Recovery::LISTED {
                        let types = &self.model.types;
                        first.push(OpenState {
                            container: self.model.containers.name(container).text.to_vec(),
                            type_: types.name(type_).text.to_vec(),
                            value: types.value_name(type_, value).text.to_vec(),
                        });
                    }
                }
            }
        }
        (first, count)
    }

    /// Records doubtful parts of the trace that lanes found during the replay. Only the `last` call is sure to check
    /// everything.
    pub(super) fn settle_usage(&mut self, usage: &mut Usage, last: bool) {
        let has_warnings = !self.findings.warnings.is_empty();
        usage.is_doubtful |= has_warnings || self.lanes.may_reuse_keys(last);
    }

    pub(super) fn count_open_states(&mut self) -> u64 {
        let mut open = 0;
        for container in self.model.containers.ids() {
            if !self.model.containers.is_destroyed(container) {
                let lanes = self.model.lanes_of(container);
                open += lanes.map(|lane| self.lanes.open_values(lane).len() as u64).sum::<u64>();
            }
        }
        open
    }
}

fn deferred_error(deferred: &[Deferred], at: u64, (field, problem): Failed) -> Error {
    let found = deferred.binary_search_by_key(&at, |line| line.at);
    let place = found.ok().map(|index| {
        let Deferred { place, time_column, .. } = &deferred[index];
        let mut place = place.clone();
        if field == FieldName::Time {
            let start = place.position.byte.0 - place.position.column;
            place.position.byte.0 = start + time_column;
            place.position.column = *time_column;
        }
        place
    });
    Error::invalid(problem, place)
}
