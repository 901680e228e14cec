//! Settles a wave after its replay: ends containers in file order and finds its first problem.

use paje_parser::FieldName;

use crate::engine::round::Wave;
use crate::engine::{Engine, diagnostics};
use crate::resolve::Deferred;
use paje_model::model::Failed;
use paje_model::names::error::Error;
use paje_replay::problems::found::{earliest, earliest_byte};

/// Number of containers that end together. Their prefetched lanes fit into a core's second-level cache.
pub(super) const TOGETHER: usize = 1024;

impl Engine<'_> {
    /// Settles a wave whose lanes have been replayed.
    ///
    /// # Errors
    /// Returns the first problem of the trace, if it is already known.
    pub(crate) fn settle(&mut self, wave: &Wave) -> Result<(), Error> {
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
        let follower = self.follower.as_ref();
        self.findings.warn(wave, &self.definitions, &mut self.lanes, follower);
        Ok(())
    }

    pub(crate) fn settle_to(&mut self, wave: &Wave, limit: u64) -> Result<(), Error> {
        if self.findings.tally.is_some() {
            self.settle_damaged(wave, limit);
            return Ok(());
        }
        let mut found = diagnostics::first_refused(&self.model, &mut self.lanes, wave);
        let first = earliest_byte(&[&found, &self.findings.first]).min(limit);
        let mut endings = std::mem::take(&mut self.effects.endings);
        // Containers that ended after a file was named may still get events.
        let known = first.min(self.lanes.cuts.named_from.unwrap_or(u64::MAX));
        let now = endings.partition_point(|ending| ending.at < known);
        'all: for together in endings[..now].chunks(TOGETHER) {
            let containers = together.iter().map(|ending| ending.container);
            self.lanes.expect_endings(&self.model, containers);
            for ending in together {
                let reused = self.reused_in(Some(ending)).map(|(found, _)| found);
                found = earliest(found, reused);
                let ended = self.lanes.end_container(&self.model, self.job.options, ending);
                if let Err((field, problem)) = ended {
                    found = earliest(found, diagnostics::error_at(wave, ending.at, field, problem));
                    break 'all;
                }
                if let Some(portions) = &mut self.portions {
                    portions.ended(ending.container);
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

    /// Ends the containers that other files might have continued.
    pub(crate) fn end_deferred(&mut self) -> Result<(), Error> {
        for ending in std::mem::take(&mut self.effects.endings) {
            if self.findings.tally.is_some() {
                self.end_damaged(&ending, |engine, failed| {
                    Some(deferred_error(&engine.deferred, ending.at, failed))
                });
                continue;
            }
            let ended = self.lanes.end_container(&self.model, self.job.options, &ending);
            ended.map_err(|failed| deferred_error(&self.deferred, ending.at, failed))?;
            self.lanes.close_ended(self.job.workers);
            if let Some(portions) = &mut self.portions {
                portions.ended(ending.container);
            }
        }
        Ok(())
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
