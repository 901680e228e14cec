use paje_parser::{Fault, FieldName, LinkEnd, TypeNature, number};

use super::Resolver;
use paje_decode::decode::block::DecodedBlock;
use paje_decode::decode::symbols::Symbol;
use paje_model::model::Failed;
use paje_model::names::error::{Error, ErrorKind};
use paje_model::names::ids::{ContainerId, LaneId};
use paje_model::names::recovered::Remedy;
use paje_replay::problems::found::{Where, error_in, field_of_line, line_problem};

impl Resolver<'_> {
    /// Reports an invalid line. The problem ends the replay. During recovery, it is counted
    /// instead.
    pub(super) fn wrong(
        &mut self,
        block: &DecodedBlock,
        line: u32,
        what: Where,
        why: ErrorKind,
    ) -> Result<(), Error> {
        let Some(tally) = &mut self.tally else { return Err(error_in(block, line, what, why)) };
        self.model.settle_awaited();
        self.effects.mended.clear();
        tally.add_line(block, line, what, why);
        Ok(())
    }

    pub(super) fn wrong_field(
        &mut self,
        block: &DecodedBlock,
        line: u32,
        (field, problem): Failed,
    ) -> Result<(), Error> {
        self.wrong(block, line, Where::Field(field), ErrorKind::Invalid(problem))
    }

    pub(super) fn wrong_line(
        &mut self,
        block: &DecodedBlock,
        line: u32,
        fault: &Fault,
    ) -> Result<(), Error> {
        let why = ErrorKind::Invalid(line_problem(&block.text, fault));
        self.wrong(block, line, Where::Byte(fault.at), why)
    }

    pub(super) fn mend_structural(&mut self, block: &DecodedBlock, line: u32) {
        self.model.settle_awaited();
        let mended = std::mem::take(&mut self.effects.mended);
        let Some(tally) = &mut self.tally else { return };
        for (failed, remedy) in mended {
            tally.add_failed(block, line, 1, failed, remedy);
        }
    }

    pub(super) fn mended_lane(
        &mut self,
        block: &DecodedBlock,
        line: u32,
        container: &[u8],
        type_name: &[u8],
        nature: TypeNature,
    ) -> Result<LaneId, Failed> {
        let time = || Self::time_of(block, line);
        let mut mended = Vec::new();
        let lane = self.model.mended_lane(container, type_name, nature, time, &mut mended);
        if let (false, Some(tally)) = (mended.is_empty(), &mut self.tally) {
            self.model.settle_awaited();
            for (failed, remedy) in mended {
                tally.add_failed(block, line, 1, failed, remedy);
            }
        }
        lane
    }

    pub(super) fn mended_end(
        &mut self,
        block: &DecodedBlock,
        line: u32,
        type_name: &[u8],
        name: &[u8],
        symbol: Symbol,
        end: LinkEnd,
    ) -> ContainerId {
        let time = || Self::time_of(block, line);
        let (container, mended) = self.model.mended_end(type_name, name, end, time);
        match (mended, &mut self.tally) {
            // `SymbolMap::count_lines` counts lines with this problem later.
            (Some((failed, Remedy::Kept)), _) => {
                self.maps.mismatched_ends.insert(symbol, (failed, Remedy::Kept));
            }
            (Some((failed, remedy)), Some(tally)) => {
                tally.add_failed(block, line, 1, failed, remedy);
            }
            _ => {}
        }
        container
    }

    fn time_of(block: &DecodedBlock, line: u32) -> Option<f64> {
        let span = field_of_line(block, line, FieldName::Time)?;
        number::parse_time(span.of(block.text.text()).bare())
    }
}
