//! Counts the problems of a trace during recovery.
//!
//! Problems are counted by kind and remedy. The first problem of each kind in file order is kept, so the order in which
//! workers find problems does not matter.

use std::collections::BTreeMap;

use paje_parser::{Fault, FaultKind};

use super::found::{Where, error_at_fault, error_at_field, error_in};
use paje_decode::decode::block::DecodedBlock;
use paje_model::model::Failed;
use paje_model::names::error::{Error, ErrorKind, Problem};
use paje_model::names::recovered::{Recovered, Remedy};

#[derive(Debug, Default)]
pub struct ProblemTally {
    kinds: BTreeMap<(&'static str, Remedy), First>,
    pub is_cut: bool,
    /// Number of the file that cannot be read to its end, if any.
    pub broken: Option<u32>,
}

#[derive(Debug)]
struct First {
    at: u64,
    error: Error,
    count: u64,
}

impl ProblemTally {
    /// Adds `count` problems of a kind. The first of them is in the line that begins at byte `at`.
    pub fn add(
        &mut self,
        code: &'static str,
        remedy: Remedy,
        at: u64,
        count: u64,
        error: impl FnOnce() -> Error,
    ) {
        match self.kinds.get_mut(&(code, remedy)) {
            Some(first) => {
                first.count += count;
                if at < first.at {
                    (first.at, first.error) = (at, error());
                }
            }
            None => {
                let first = First { at, error: error(), count };
                self.kinds.insert((code, remedy), first);
            }
        }
    }

    /// Adds `count` problems of a kind. `error` is the first of them.
    pub fn add_error(&mut self, remedy: Remedy, count: u64, error: Error) {
        self.add(code_of(error.kind()), remedy, error.at(), count, || error);
    }

    /// Adds `count` problems about a field. The first of them is in the line that begins at `line`.
    pub fn add_failed(
        &mut self,
        block: &DecodedBlock,
        line: u32,
        count: u64,
        failed: Failed,
        remedy: Remedy,
    ) {
        let at = block.text.start().0 + u64::from(line);
        let code = shown_code(block, line, failed.1.code());
        let error = || error_at_field(block, line, failed);
        self.add(code, remedy, at, count, error);
    }

    pub fn add_line(&mut self, block: &DecodedBlock, line: u32, what: Where, why: ErrorKind) {
        let at = block.text.start().0 + u64::from(line);
        let code = shown_code(block, line, code_of(&why));
        let is_fault = matches!(why, ErrorKind::Invalid(Problem::Line { .. }));
        let is_cut = is_fault && is_unended(block, line);
        self.is_cut |= is_cut;
        let remedy = if is_cut { Remedy::Ended } else { Remedy::Skipped };
        self.add(code, remedy, at, 1, || error_in(block, line, what, why));
    }

    pub fn add_faults(&mut self, block: &DecodedBlock) {
        let keyless = block.decoded.keyless.iter().map(|(line, fault)| (line, fault, true));
        let faults = block.decoded.faults.iter().map(|(line, fault)| (line, fault, false));
        for (line, fault, is_kept) in keyless.chain(faults) {
            let is_cut = !is_kept && is_unended(block, *line);
            let remedy = match (is_kept, is_cut) {
                (true, _) => Remedy::Kept,
                (false, true) => Remedy::Ended,
                (false, false) => remedy_of(fault),
            };
            self.is_cut |= is_cut;
            let at = block.text.start().0 + u64::from(*line);
            let error = || error_at_fault(block, *line, fault);
            let code = shown_code(block, *line, fault.kind.code());
            self.add(code, remedy, at, 1, error);
        }
    }

    pub fn into_list(self) -> Vec<Recovered> {
        let mut all: Vec<_> = self.kinds.into_iter().collect();
        all.sort_by_key(|(_, first)| first.at);
        let tally = |((_, remedy), First { error, count, .. })| Recovered { error, remedy, count };
        all.into_iter().map(tally).collect()
    }
}

/// Returns whether the line lacks its newline. If such a line is also invalid, the file was cut off there.
fn is_unended(block: &DecodedBlock, line: u32) -> bool {
    memchr::memchr(b'\n', &block.text.text()[line as usize..]).is_none()
}

pub const fn code_of(why: &ErrorKind) -> &'static str {
    match why {
        ErrorKind::Invalid(problem) => problem.code(),
        _ => "unreadable",
    }
}

fn shown_code(block: &DecodedBlock, line: u32, code: &'static str) -> &'static str {
    if line < block.shown_from { Problem::NotATrace.code() } else { code }
}

const fn remedy_of(fault: &Fault) -> Remedy {
    match fault.kind {
        FaultKind::UnnamedField
        | FaultKind::MissingFieldType
        | FaultKind::UnknownFieldType
        | FaultKind::RepeatedField
        | FaultKind::NestedDefinition
        | FaultKind::UnfinishedDefinition => Remedy::Kept,
        _ => Remedy::Skipped,
    }
}
