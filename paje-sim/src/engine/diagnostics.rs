//! Errors about events that lanes refuse.

use paje_parser::{FieldName, LinkEnd};

use super::round::Wave;
use paje_decode::decode::block::DecodedBlock;
use paje_model::model::Model;
use paje_model::names::error::{Error, Problem};
use paje_replay::lanes::refusal::{Refusal, Refused};
use paje_replay::problems::found::{error_at_field, field_of_line};
use paje_replay::replay::lanes::Lanes;

/// Returns an error about a field of the line that begins at byte `at`, if the wave contains that
/// line.
pub(super) fn error_at(wave: &Wave, at: u64, field: FieldName, problem: Problem) -> Option<Error> {
    let block = wave.block_of(at)?;
    let line = (at - block.text.start().0) as u32;
    Some(error_at_field(block, line, (field, problem)))
}

pub(super) fn first_refused(model: &Model, lanes: &mut Lanes, wave: &Wave) -> Option<Error> {
    let first = lanes.take_refused()?;
    wave.block_of(first.at).map(|block| refused(model, &first, block))
}

pub(super) fn refused(model: &Model, refused: &Refusal, block: &DecodedBlock) -> Error {
    let lane = model.lanes[refused.lane.index()];
    let container = || model.containers.named(lane.container);
    let type_ = || model.types.named(lane.type_);
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
            let named = |value| model.types.named_value(lane.type_, value);
            let (value, other) = (named(value), named(other));
            let key = word(FieldName::Key);
            (FieldName::Value, Problem::LinkValuesDiffer { key, value, other })
        }
    };
    error_at_field(block, line, (field, problem))
}
