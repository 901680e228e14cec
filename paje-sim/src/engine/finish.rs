use std::sync::Arc;
use std::time::{Duration, Instant};

use paje_workers::exclusive;

use super::Engine;
use super::endings::TOGETHER;
use super::resolving::unfinished_definition;
use crate::trace::{Counted, Trace};
use paje_decode::input::feed::Feed;
use paje_model::model::Ending;
use paje_model::names::error::{Error, Problem};
use paje_model::names::ids::ContainerId;
use paje_model::names::progress::Times;
use paje_model::names::recovered::{Recovery, Remedy};

impl Engine<'_> {
    /// Ends the containers that no event destroyed.
    fn end_all(&mut self, time: f64) -> Result<(), Error> {
        let containers = &self.model.containers;
        let alive: Vec<ContainerId> =
            containers.ids().filter(|id| !containers.is_destroyed(*id)).collect();
        for together in alive.chunks(TOGETHER) {
            self.lanes.expect_endings(&self.model, together.iter().copied());
            for container in together.iter().copied() {
                self.model.containers.set_end(container, time, None);
                let ending = Ending { container, time, at: self.read.bytes, named: false };
                if self.findings.tally.is_some() {
                    let at_end = |(_, problem)| Some(Error::invalid(problem, None));
                    self.end_damaged(&ending, |_, failed| at_end(failed));
                    continue;
                }
                let ended = self.lanes.end_container(&self.model, self.job.options, &ending);
                ended.map_err(|(_, problem)| Error::invalid(problem, None))?;
                if let Some(portions) = &mut self.portions {
                    portions.ended(container);
                }
            }
            self.lanes.close_ended(self.job.workers);
        }
        Ok(())
    }

    pub(super) fn finish(
        mut self,
        feed: &Feed<'_>,
        began: Instant,
        rounds: Duration,
    ) -> Result<Trace, Error> {
        if self.read.bytes == 0 {
            return Err(Error::invalid(Problem::EmptyTrace, None));
        }
        if let Some((error, count)) = self.reused_in(None) {
            self.findings.judge(Remedy::Kept, count, error);
        }
        if self.definitions.current().is_open() {
            let file = self.files.path(self.definitions.file());
            let error = unfinished_definition().in_file(file.as_ref());
            self.findings.cut_off(error.of_line_at(self.read.bytes));
        }
        if let Some(first) = self.findings.first.take() {
            return Err(first);
        }
        self.end_deferred()?;
        let (open_states, open_count) = self.open_states();
        self.settle_usage(true);
        self.count_open_states();
        // A trace without any time begins and ends at 0: PajeNG 1.3.6 behaviour.
        let last = if self.read.last_time.is_finite() { self.read.last_time } else { 0.0 };
        let time = self.job.options.stop_at.unwrap_or(last);
        self.end_all(time)?;
        let mut recovery = Recovery { open_states, open_count, ..self.findings.take_recovery() };
        for problem in &mut recovery.problems {
            problem.move_to(|file, position| feed.original(file, position));
        }
        let wall = began.elapsed();
        let desks = self.team.desks.iter_mut().map(exclusive);
        let mut workers: Vec<_> = desks.map(|desk| desk.times).collect();
        workers.resize_with(self.job.workers.threads(), Default::default);
        let read = Counted {
            bytes: self.read.bytes - feed.added(),
            lines: self.read.lines,
            events: self.read.events,
            times: Times { wall, serial: wall.saturating_sub(rounds), workers },
        };
        let warnings =
            self.findings.warnings.into_list(|file, position| feed.original(file, position));
        // Frees memory for the last portion.
        drop(self.team);
        let rows = self.lanes.finish();
        let defs = Arc::clone(self.definitions.current());
        let times = self.read.times.unwrap_or_default();
        let mut trace = Trace::new(self.model, rows, defs, warnings, time, times, read);
        trace.recovery = recovery;
        trace.files = self.files.paths();
        trace.comments = self.read.comments;
        trace.usage = self.read.usage;
        if let Some(portions) = self.portions {
            portions.finish(&trace)?;
        }
        Ok(trace)
    }
}
