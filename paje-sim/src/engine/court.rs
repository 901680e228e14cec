//! Errors and doubts of a wave: the first problem of all, with its sentence.

use paje_parser::{FieldName, LinkEnd};

use super::Engine;
use super::round::Wave;
use crate::decode::block::DecodedBlock;
use crate::lanes::refusal::{Refusal, Refused};
use crate::model::Ending;
use crate::names::error::{Error, Problem, WarningKind};
use crate::names::ledger::LineRemedy;
use crate::problems::found::{error_at_field, field_of_line};

impl Engine<'_> {
    /// The problem of the field of the line that begins at a byte of the wave.
    pub(crate) fn found_at(
        &self,
        wave: &Wave,
        at: u64,
        field: FieldName,
        problem: Problem,
    ) -> Option<Error> {
        let block = wave.block_of(at)?;
        let line = (at - block.text.start().0) as u32;
        Some(error_at_field(block, line, (field, problem)))
    }

    /// The first problem of the wave that a lane found.
    pub(crate) fn refused(&mut self, wave: &Wave) -> Option<Error> {
        let first = self.lanes.take_refused()?;
        wave.block_of(first.at).map(|block| self.explain(&first, block))
    }

    /// The error of an event that a lane refused.
    pub(crate) fn explain(&self, refused: &Refusal, block: &DecodedBlock) -> Error {
        let lane = self.model.lanes[refused.lane.index()];
        let container = || self.model.containers.named(lane.container);
        let type_ = || self.model.types.named(lane.type_);
        let line = (refused.at - block.text.start().0) as u32;
        let word = |field| {
            let span = field_of_line(block, line, field);
            span.map_or(Vec::new(), |span| span.of(block.text.text()).bare().to_vec())
        };
        let (field, problem) = match refused.why {
            Refused::Earlier(last) | Refused::LateLink(last) => {
                let (time, container, type_) = (refused.time, container(), type_());
                (FieldName::Time, Problem::NotTimeOrdered { time, last, container, type_ })
            }
            Refused::Nowhere(end) => {
                let field = match end {
                    LinkEnd::Start => FieldName::StartContainer,
                    LinkEnd::End => FieldName::EndContainer,
                };
                (field, Problem::UnknownContainer { name: word(field) })
            }
            Refused::EmptyStack => {
                let (container, type_) = (container(), type_());
                (FieldName::Container, Problem::PopOnEmpty { container, type_ })
            }
            Refused::Unset => {
                let (container, type_) = (container(), type_());
                (FieldName::Container, Problem::VariableUnset { container, type_ })
            }
            Refused::KeyRepeated(end) => {
                (FieldName::Key, Problem::KeyRepeated { key: word(FieldName::Key), end })
            }
            Refused::ValuesDiffer { value, other } => {
                let named = |value| self.model.types.named_value(lane.type_, value);
                let (value, other) = (named(value), named(other));
                let key = word(FieldName::Key);
                (FieldName::Value, Problem::LinkValuesDiffer { key, value, other })
            }
        };
        error_at_field(block, line, (field, problem))
    }

    /// The first link, of all lanes or of those of a container that ends, whose key was used before, and how
    /// many there are.
    pub(crate) fn reused_in(&mut self, ending: Option<&Ending>) -> Option<(Error, u64)> {
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

    /// Takes note of the wave's doubtful lines.
    pub(crate) fn warn(&mut self, wave: &Wave) {
        for block in &wave.blocks {
            for line in &block.decoded.doubtful {
                let kind = if line.surplus {
                    WarningKind::SurplusWords
                } else {
                    WarningKind::MissingExtras
                };
                let number = self.definitions.all()[line.def as usize].id().to_vec();
                self.findings.warnings.add(block, kind, number, line.at);
            }
        }
        for at in self.lanes.take_ignored() {
            if let (Some(_), Some(follower)) = (&self.findings.tally, &self.follower) {
                follower.mend(at, LineRemedy::Skipped);
            }
            if let Some(block) = wave.block_of(at) {
                let line = (at - block.text.start().0) as u32;
                self.findings.warnings.add_line(block, WarningKind::AfterDestroy, line);
            }
        }
    }
}
