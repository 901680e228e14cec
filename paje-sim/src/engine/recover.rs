//! Replay of damaged traces after a problem.

use splitter::ReadError;

use crate::engine::round::Wave;
use crate::engine::{Engine, diagnostics};
use paje_decode::decode::block::DecodedBlock;
use paje_model::model::{Ending, Failed};
use paje_model::names::error::Error;
use paje_model::names::ids::TypeId;
use paje_model::names::ledger::LineRemedy;
use paje_model::names::recovered::{OpenState, Recovery, Remedy};
use paje_replay::lanes::refusal::{Refusals, Refused};

/// Returns the remedy for an event that a lane of this type refused.
const fn remedy_of(refused: Refused, type_: TypeId) -> LineRemedy {
    match refused {
        Refused::Earlier(_)
        | Refused::EmptyStack
        | Refused::KeyRepeated(_)
        | Refused::Nowhere(_) => LineRemedy::Skipped,
        Refused::LateLink(_) => LineRemedy::Kept,
        Refused::Unset => LineRemedy::Unset,
        Refused::ValuesDiffer { other, .. } => LineRemedy::OtherValue(type_, other),
    }
}

impl Engine<'_> {
    /// Records the events that lanes refused in the wave, and ends containers that ended before byte `limit`.
    pub(crate) fn settle_damaged(&mut self, wave: &Wave, limit: u64) {
        let Refusals { first, all } = self.lanes.take_refusals();
        if let Some(follower) = &self.follower {
            for refusal in all.unwrap_or_default() {
                let type_ = self.model.lanes[refusal.lane.index()].type_;
                follower.mend(refusal.at, remedy_of(refusal.why, type_));
            }
            for (at, container) in self.effects.made_up.drain(..) {
                follower.mend(at, LineRemedy::Created(container));
            }
        }
        for (refusal, count) in first.into_iter().flatten() {
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
            self.end_damaged(&ending, |_, (field, problem)| {
                diagnostics::error_at(wave, ending.at, field, problem)
            });
        }
        self.effects.endings = endings;
    }

    /// Ends a container despite all problems. `error` returns the error for a problem.
    pub(crate) fn end_damaged(
        &mut self,
        ending: &Ending,
        error: impl Fn(&Self, Failed) -> Option<Error>,
    ) {
        let mut ending = *ending;
        let mut failures = Vec::new();
        if let Some((failed, last)) = self.lanes.ends_too_early(&self.model, &ending) {
            self.model.containers.prolong(ending.container, last);
            ending.time = last;
            failures.push((failed, Remedy::Kept, 1));
        }
        let open = self.lanes.drop_open_links(&self.model, self.job.options, ending.container);
        if let (Some((_, _, all)), Some(follower)) = (&open, &self.follower) {
            all.iter().for_each(|at| follower.mend(*at, LineRemedy::Skipped));
        }
        let open = open.map(|(failed, count, _)| (failed, count));
        failures.extend(open.map(|(failed, count)| (failed, Remedy::Skipped, count)));
        for (failed, remedy, count) in failures {
            let code = failed.1.code();
            let Some(error) = error(self, failed) else { continue };
            if let Some(tally) = &mut self.findings.tally {
                tally.add(code, remedy, ending.at, count, || error);
            }
        }
        let ended = self.lanes.end_container(&self.model, self.job.options, &ending);
        debug_assert!(ended.is_ok(), "mended");
        self.lanes.close_ended(self.job.workers);
        if let Some(portions) = &mut self.portions {
            portions.ended(ending.container);
        }
    }

    /// Records that the text after the block could not be read.
    pub(crate) fn note_unread(&mut self, block: &DecodedBlock, error: ReadError) {
        let is_line = matches!(error, ReadError::LineTooLong { .. });
        let error = self.failed(block, error);
        if is_line {
            // The line is lost, but counts as a line.
            self.read.lines += 1;
            self.findings.judge(Remedy::Skipped, 1, error);
            return;
        }
        if let Some(tally) = &mut self.findings.tally {
            tally.broken = Some(block.origin.file);
        }
        self.findings.cut_off(error);
    }

    /// Resolves the values that were used before their types were known.
    pub(crate) fn resolve_awaited(&mut self) {
        for maps in &mut self.team.maps {
            maps.resolve_pending(&mut self.model);
        }
    }

    /// Returns the first open states and their number, if the trace was cut off.
    pub(crate) fn open_states(&mut self) -> (Vec<OpenState>, u64) {
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
}
