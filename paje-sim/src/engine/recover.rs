//! What is told of a damaged trace, and what its replay goes on with.
//!
//! Problems are counted by what they are and what was made of them, with the first in file order: a sum
//! and a minimum, so that it does not matter who finds them, and when.

use std::collections::BTreeMap;

use paje_parser::{Fault, FaultKind, FieldName, LinkEnd, TypeNature, number};
use splitter::ReadError;

use crate::decode::Op;
use crate::decode::symbols::Symbol;
use crate::engine::Engine;
use crate::engine::page::Mended;
use crate::engine::round::{DecodedBlock, Window};
use crate::model::{Ending, Failed, NOWHERE};
use crate::names::error::{Error, ErrorKind, Problem};
use crate::names::ids::{ContainerId, LaneId, TypeId};
use crate::names::recovered::{OpenState, Recovered, Recovery, Remedy};
use crate::problems::{Found, field_of_line};
use crate::replay::strand::{Refusal, Refused};
use crate::resolve::{Maps, NO_STRAND, Resolver, Stop};

/// The problems of a trace so far.
#[derive(Debug, Default)]
pub(crate) struct Told {
    kinds: BTreeMap<(&'static str, Remedy), First>,
    /// The trace, or one of its files, was cut off.
    pub(crate) is_cut: bool,
    /// A file that cannot be read on.
    pub(crate) broken: Option<u32>,
}

#[derive(Debug)]
struct First {
    at: u64,
    error: Error,
    count: u64,
}

impl Told {
    /// So many problems of a kind, the first of which is in the line that begins at byte `at`.
    pub(crate) fn add(
        &mut self,
        code: &'static str,
        remedy: Remedy,
        (at, count): (u64, u64),
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

    /// A problem of a field of a line of a block.
    pub(crate) fn add_failed(
        &mut self,
        block: &DecodedBlock,
        (line, count): (u32, u64),
        failed: Failed,
        remedy: Remedy,
    ) {
        let at = block.text.start().0 + u64::from(line);
        let code = shown_code(block, line, failed.1.code());
        let error = || Found::in_block(block, Stop::at_field(line, failed)).error;
        self.add(code, remedy, (at, count), error);
    }

    /// A problem of a line of a block that is skipped for it.
    pub(crate) fn add_stop(&mut self, block: &DecodedBlock, stop: Stop) {
        let at = block.text.start().0 + u64::from(stop.line);
        let code = shown_code(block, stop.line, code_of(&stop.why));
        let is_fault = matches!(stop.why, ErrorKind::Invalid(Problem::Line { .. }));
        let is_cut = is_fault && is_unended(block, stop.line);
        self.is_cut |= is_cut;
        let remedy = if is_cut { Remedy::Ended } else { Remedy::Skipped };
        self.add(code, remedy, (at, 1), || Found::in_block(block, stop).error);
    }

    /// What the block's lines are, each by itself.
    pub(crate) fn add_faults(&mut self, block: &DecodedBlock) {
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
            let error = || Found::in_block(block, Stop::at_fault(&block.text, *line, fault)).error;
            let code = shown_code(block, *line, fault.kind.code());
            self.add(code, remedy, (at, 1), error);
        }
    }

    /// Counts the lines whose lanes or ends of links are not what they should be.
    pub(crate) fn add_lines(&mut self, block: &DecodedBlock, maps: &Maps) {
        let decoded = &block.decoded;
        if !maps.doomed.is_empty() {
            let mut first = 0;
            for (strand, count) in &decoded.strands {
                if let Some(failed) = maps.doomed.get(strand) {
                    let line = decoded.events[first as usize].at;
                    let count = u64::from(*count);
                    self.add_failed(block, (line, count), failed.clone(), Remedy::Skipped);
                }
                first += count;
            }
        }
        if !maps.odd_ends.is_empty() {
            for event in decoded.lane_events() {
                if !matches!(event.op(), Op::StartLink | Op::EndLink) {
                    continue;
                }
                let end = decoded.links[event.argument as usize].end;
                if let Some((failed, remedy)) = maps.odd_ends.get(&end) {
                    self.add_failed(block, (event.at, 1), failed.clone(), *remedy);
                }
            }
        }
    }

    fn into_list(self) -> Vec<Recovered> {
        let mut all: Vec<_> = self.kinds.into_iter().collect();
        all.sort_by_key(|(_, first)| first.at);
        let told = |((_, remedy), First { error, count, .. })| Recovered { error, remedy, count };
        all.into_iter().map(told).collect()
    }
}

/// Whether the line lacks its newline: it is where the file was cut off, if there is something wrong with it.
fn is_unended(block: &DecodedBlock, line: u32) -> bool {
    memchr::memchr(b'\n', &block.text.text()[line as usize..]).is_none()
}

pub(crate) const fn code_of(why: &ErrorKind) -> &'static str {
    match why {
        ErrorKind::Invalid(problem) => problem.code(),
        _ => "unreadable",
    }
}

/// The code of a problem of a line, which may be one of which nothing is shown.
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

impl Refused {
    /// What is made of an event that is refused so.
    pub(crate) const fn remedy(self) -> Remedy {
        match self {
            Refused::Earlier(_)
            | Refused::EmptyStack
            | Refused::KeyRepeated(_)
            | Refused::Nowhere(_) => Remedy::Skipped,
            Refused::LateLink(_) | Refused::Unset | Refused::ValuesDiffer { .. } => Remedy::Kept,
        }
    }

    const fn mended(self, type_: TypeId) -> Mended {
        match self {
            Refused::Earlier(_)
            | Refused::EmptyStack
            | Refused::KeyRepeated(_)
            | Refused::Nowhere(_) => Mended::Skipped,
            Refused::LateLink(_) => Mended::Kept,
            Refused::Unset => Mended::Unset,
            Refused::ValuesDiffer { other, .. } => Mended::OtherValue(type_, other),
        }
    }

    const fn number(self) -> usize {
        match self {
            Refused::Earlier(_) => 0,
            Refused::EmptyStack => 1,
            Refused::Unset => 2,
            Refused::KeyRepeated(_) => 3,
            Refused::ValuesDiffer { .. } => 4,
            Refused::LateLink(_) => 5,
            Refused::Nowhere(LinkEnd::Start) => 6,
            Refused::Nowhere(LinkEnd::End) => 7,
        }
    }
}

/// Events that lanes refused, by why: the first, and how many.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    first: [Option<(Refusal, u64)>; 8],
    /// All of them, if somebody wants to know.
    all: Option<Vec<Refusal>>,
}

impl Refusals {
    /// If they are `listed`, each is kept, not only the first of each kind.
    pub(crate) fn new(listed: bool) -> Self {
        Refusals { all: listed.then(Vec::new), ..Refusals::default() }
    }

    pub(crate) fn add(&mut self, refusal: Refusal) {
        self.add_many(refusal, 1);
        if let Some(all) = &mut self.all {
            all.push(refusal);
        }
    }

    fn add_many(&mut self, refusal: Refusal, more: u64) {
        match &mut self.first[refusal.why.number()] {
            Some((first, count)) => {
                *count += more;
                if refusal.at < first.at {
                    *first = refusal;
                }
            }
            none => *none = Some((refusal, more)),
        }
    }

    /// Takes over what others have counted.
    pub(crate) fn take(&mut self, others: &mut Refusals) {
        for (refusal, count) in std::mem::take(&mut others.first).into_iter().flatten() {
            self.add_many(refusal, count);
        }
        if let Some(more) = &mut others.all {
            self.all.get_or_insert_default().append(more);
        }
    }
}

impl Maps {
    /// The next strands, so many, are those of a lane that there is not; the ledger asks for it if they are
    /// `followed`.
    pub(crate) fn doom(&mut self, count: usize, failed: &Failed, followed: bool) {
        for _ in 0..count {
            self.doomed.insert(self.strands.len() as u32, failed.clone());
            self.strands.push(NO_STRAND);
            if followed {
                self.owners.push((LaneId(NO_STRAND), NOWHERE));
            }
        }
    }
}

impl Resolver<'_> {
    /// Tells what was wrong with a structural event, and of what it made good.
    pub(crate) fn mend_structural(&mut self, block: &DecodedBlock, line: u32, stop: Option<Stop>) {
        self.model.settle_awaited();
        let mended = std::mem::take(&mut self.effects.mended);
        let Some(told) = &mut self.told else { return };
        if let Some(stop) = stop {
            return told.add_stop(block, stop);
        }
        for (failed, remedy) in mended {
            told.add_failed(block, (line, 1), failed, remedy);
        }
    }

    pub(crate) fn mended_lane(
        &mut self,
        block: &DecodedBlock,
        line: u32,
        names: (&[u8], &[u8]),
        nature: TypeNature,
    ) -> Result<LaneId, Failed> {
        let (mut mended, time) = (Vec::new(), || Self::time_of(block, line));
        let known = self.model.containers.len();
        let lane = self.model.mended_lane(names, nature, time, &mut mended);
        self.note_made_up(block, line, known);
        if let (false, Some(told)) = (mended.is_empty(), &mut self.told) {
            self.model.settle_awaited();
            for (failed, remedy) in mended {
                told.add_failed(block, (line, 1), failed, remedy);
            }
        }
        lane
    }

    pub(crate) fn mended_end(
        &mut self,
        block: &DecodedBlock,
        line: u32,
        (type_name, name): (&[u8], &[u8]),
        (symbol, end): (Symbol, LinkEnd),
    ) -> ContainerId {
        let time = || Self::time_of(block, line);
        let known = self.model.containers.len();
        let (container, mended) = self.model.mended_end(type_name, name, end, time);
        self.note_made_up(block, line, known);
        match (mended, &mut self.told) {
            // Each line is counted: see `Told::add_lines`.
            (Some((failed, Remedy::Kept)), _) => {
                self.maps.odd_ends.insert(symbol, (failed, Remedy::Kept));
            }
            (Some((failed, remedy)), Some(told)) => {
                told.add_failed(block, (line, 1), failed, remedy);
            }
            _ => {}
        }
        container
    }

    /// Takes note of the container that a line had made up, if there were so many before it and somebody
    /// wants to know.
    fn note_made_up(&mut self, block: &DecodedBlock, line: u32, known: usize) {
        if self.structural.is_some() && self.model.containers.len() > known {
            let at = block.text.start().0 + u64::from(line);
            self.effects.made_up.push((at, ContainerId(known as u32)));
        }
    }

    /// The time that a line says; `None` if it has none.
    fn time_of(block: &DecodedBlock, line: u32) -> Option<f64> {
        let span = field_of_line(block, line, FieldName::Time)?;
        number::parse_time(span.of(block.text.text()).bare())
    }
}

impl Engine<'_> {
    /// Tells what lanes refused in the window, and ends containers that ended before byte `limit`.
    pub(crate) fn settle_damaged(&mut self, window: &Window, limit: u64) {
        let Refusals { first, all } = self.lanes.take_refusals();
        if let Some(follower) = &self.follower {
            for refusal in all.unwrap_or_default() {
                let type_ = self.model.lanes[refusal.lane.index()].type_;
                follower.mend(refusal.at, refusal.why.mended(type_));
            }
            for (at, container) in self.effects.made_up.drain(..) {
                follower.mend(at, Mended::Created(container));
            }
        }
        for (refusal, count) in first.into_iter().flatten() {
            let Some(block) = window.block_of(refusal.at) else { continue };
            let failed = self.explain(&refusal, block);
            let line = (refusal.at - block.text.start().0) as u32;
            if let Some(told) = &mut self.told {
                told.add_failed(block, (line, count), failed, refusal.why.remedy());
            }
        }
        self.place_suspects(window);
        let mut endings = std::mem::take(&mut self.effects.endings);
        let known = limit.min(self.lanes.cuts.named_from.unwrap_or(u64::MAX));
        let now = endings.partition_point(|ending| ending.at < known);
        for ending in endings.drain(..now) {
            self.tell_reused(Some(&ending));
            self.end_damaged(&ending, |engine, failed| {
                let found = engine.found_at(window, ending.at, failed.0, failed.1);
                found.map(|found| found.error)
            });
        }
        self.effects.endings = endings;
    }

    /// Ends a container, whatever is wrong with that; `error` tells it where that is.
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
        let open = self.lanes.drop_open_links(&self.model, self.options, ending.container);
        if let (Some((_, _, all)), Some(follower)) = (&open, &self.follower) {
            all.iter().for_each(|at| follower.mend(*at, Mended::Skipped));
        }
        let open = open.map(|(failed, count, _)| (failed, count));
        failures.extend(open.map(|(failed, count)| (failed, Remedy::Skipped, count)));
        for (failed, remedy, count) in failures {
            let code = failed.1.code();
            let Some(error) = error(self, failed) else { continue };
            if let Some(told) = &mut self.told {
                told.add(code, remedy, (ending.at, count), || error);
            }
        }
        // Nothing is left that it could complain of.
        let ended = self.lanes.end_container(&self.model, self.options, &ending);
        debug_assert!(ended.is_ok(), "mended");
        if let Some(portions) = &mut self.portions {
            portions.ended(ending.container);
        }
    }

    /// Counts the links, of all lanes or of those of a container that ends, whose keys were used before.
    pub(crate) fn tell_reused(&mut self, ending: Option<&Ending>) {
        let reused = self.reused_in(ending);
        if let (Some((found, count)), Some(told)) = (reused, &mut self.told) {
            told.add("key-reused", Remedy::Kept, (found.at, count), || found.error);
        }
    }

    /// The text after the block's could not be read.
    pub(crate) fn tell_unread(&mut self, block: &DecodedBlock, error: ReadError) {
        let is_line = matches!(error, ReadError::LineTooLong { .. });
        let found = self.failed(block, error);
        let Some(told) = &mut self.told else { return };
        let code = code_of(found.error.kind());
        if is_line {
            // The line is gone, but it is one.
            self.lines += 1;
            told.add(code, Remedy::Skipped, (found.at, 1), || found.error);
        } else {
            told.broken = Some(block.origin.file);
            told.is_cut = true;
            told.add(code, Remedy::Ended, (found.at, 1), || found.error);
        }
    }

    /// A file ended within a definition.
    pub(crate) fn tell_unfinished(&mut self, at: u64, error: Error) {
        if let Some(told) = &mut self.told {
            told.is_cut = true;
            told.add("unfinished-definition", Remedy::Ended, (at, 1), || error);
        }
    }

    /// What the values are that lines named before their types were known.
    pub(crate) fn resolve_awaited(&mut self) {
        for maps in &mut self.maps {
            maps.resolve_pending(&mut self.model);
        }
    }

    /// All that is to be told. States that are open must not have ended yet.
    pub(crate) fn recovery(&mut self) -> Recovery {
        let Some(told) = self.told.take() else { return Recovery::default() };
        Recovery { problems: told.into_list(), ..Recovery::default() }
    }

    /// The states that are open, if the trace was cut off.
    pub(crate) fn open_states(&mut self) -> (Vec<OpenState>, u64) {
        let (mut first, mut count) = (Vec::new(), 0);
        if !self.told.as_ref().is_some_and(|told| told.is_cut) {
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
