//! Checks valid traces quickly, by the parallel replay in constant memory.
//!
//! Most traces are valid. The checker ([`mod@crate::check`]) examines a trace line by line with
//! plain data structures. The replay of `paje-sim` does the same with all threads, but it ends at
//! the first problem and finds only some doubtful facts. So the replay runs first, and counts. If
//! it finds no problems except values with differing quotes, the checker only reads the first value
//! in other quotes, and the lines that define something, because almost every trace has unused
//! definitions. It skips value definitions if all values are used. Its findings and the counts of
//! the replay are the report. In all other cases, and in case of doubt, the checker reads the whole
//! trace.
//!
//! Only the checker reads:
//! - pipes and other special files, which cannot be read twice without storing their contents;
//! - traces in several files, once the replay meets the name of another one;
//! - traces with open states at the end, since only their lines show which state was opened first.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use paje_parser::TypeNature;
use paje_sim::{
    ContainerId, Containers, Limits, Portion, Progress, Source, Trace, TypeId, Types, Usage,
};
use paje_workers::Workers;
use splitter::{Folders, Input};

use crate::check::sound::{Known, KnownType, report};
use crate::check::{Options, Report, Rules, check_files_with};
use crate::summary::ContainerSummary;

/// Settings of the replay. Reports do not depend on them.
#[derive(Clone, Copy, Debug)]
pub struct Replaying<'w> {
    /// Threads of the replay.
    pub workers: &'w Workers,
    /// Maximum number of bytes of text whose rows are in memory at the same time.
    pub portion: u64,
    /// Number of bytes that a worker decodes at once.
    pub block: usize,
}

impl<'w> Replaying<'w> {
    /// Creates settings with these workers and the usual sizes.
    #[must_use]
    pub fn by(workers: &'w Workers) -> Self {
        Replaying { workers, portion: 16 << 20, block: Limits::default().block }
    }
}

/// Maximum number of event and type definitions, and of unused values. If there are more, only the
/// checker reads the trace, because the facts collected here and the checker's own data would take
/// memory for all of them.
const MOST_DEFINITIONS: u64 = 1 << 17;

/// Returns the same report as [`check_files`](crate::check_files), but faster if the trace is
/// valid. Calls `opened` for each file before it is read.
///
/// # Errors
/// The input itself cannot be read. Named files that cannot be read are in the report.
pub fn check_quickly(
    mut input: Input,
    path: &Path,
    folders: Option<&Folders>,
    options: &Options,
    replaying: &Replaying<'_>,
    opened: &mut dyn FnMut(&Input),
) -> io::Result<Report> {
    // Only a regular file can be opened twice.
    let is_file = path != Path::new("-") && fs::metadata(path).is_ok_and(|it| it.is_file());
    if is_file && options.rules == Rules::Format {
        opened(&input);
        if let Some(report) = check_sound(input, path, options, replaying) {
            return Ok(report);
        }
        input = Input::open(Some(path))?;
    }
    check_files_with(input, path, folders, options, opened)
}

/// Returns the report on a file, if the file is valid and only its definitions need to be checked.
fn check_sound(
    input: Input,
    path: &Path,
    options: &Options,
    replaying: &Replaying<'_>,
) -> Option<Report> {
    let Replaying { workers, portion, block } = *replaying;
    let again = input.size().is_some();
    // A problem ends the replay only at the end of its portion, so small files need small portions.
    let size = input.size().filter(|_| input.compression().is_none());
    let portion = size.map_or(portion, |size| portion.min((size / 8).max(1 << 20)));
    let mut counts = Counts::default();
    let mut show = |portion: &Portion<'_>| counts.add(portion.trace());
    let (source, replay, progress) =
        (Source::from(input), replay_options(options, block), Progress::default());
    let trace =
        Trace::read_in_portions(source, &replay, workers, &progress, portion, &mut show).ok()?;
    let known = known(&trace, trace.usage()?, &counts)?;
    drop(trace);
    let input = Input::open(Some(path)).ok()?;
    report(input, path, again, known, options).ok()?
}

fn replay_options(options: &Options, block: usize) -> paje_sim::Options {
    let line = options.longest_line.min(Options::LONGEST_LINE);
    let mut replay = paje_sim::Options::default();
    replay.field_names = options.field_names;
    replay.limits = Limits { block, ..replay.limits }.with_line(line);
    replay.usage = true;
    replay
}

#[derive(Debug, Default)]
struct Counts {
    objects: Vec<u64>,
    has_reversed: bool,
}

impl Counts {
    /// Counts the objects of a portion. Breaks if a line has a problem.
    fn add(&mut self, trace: &Trace) -> ControlFlow<()> {
        self.objects.resize(trace.types().len(), 0);
        for lane in trace.lanes().filter(|lane| !lane.is_empty()) {
            self.objects[lane.type_id().index()] += lane.completed();
            if lane.nature() == TypeNature::Link {
                self.has_reversed |= lane.links().any(|link| link.end < link.start);
            }
        }
        let usage = trace.usage();
        let definitions = usage.map_or(0, Usage::definitions) + trace.defs().len() as u64;
        let is_crowded = definitions > MOST_DEFINITIONS;
        match self.has_reversed || is_crowded || usage.is_none_or(Usage::is_doubtful) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Returns the facts from a replay, or `None` if a line has a problem.
fn known(trace: &Trace, usage: &Usage, counts: &Counts) -> Option<Known> {
    if usage.open_states() > 0 || !trace.warnings().is_empty() {
        return None;
    }
    let times = usage.first_time().map(|first| (first, trace.end()));
    // Zero and minus zero compare as equal, so it is unclear which one is the earliest or latest
    // time.
    let is_unclear = |(first, last): (f64, f64)| {
        first == 0.0 && first.is_sign_negative() || last == 0.0 && first < 0.0
    };
    if times.is_some_and(is_unclear) {
        return None;
    }
    let (types, containers) = (trace.types(), trace.containers());
    let of_nature = |nature| {
        let of = types.ids().filter(|id| types.nature(*id) == nature);
        of.map(|id| counts.objects[id.index()]).sum()
    };
    let open_end = u64::from(!usage.ends_with_newline());
    let known_types = known_types(trace, usage, counts);
    let unused: usize = known_types.iter().map(|type_| type_.unused.len()).sum();
    if unused as u64 > MOST_DEFINITIONS {
        return None;
    }
    let values_to = if unused > 0 { usage.values_to() } else { 0 };
    Some(Known {
        lines: trace.lines() + open_end,
        bytes: trace.bytes() - 1 + open_end,
        definitions_to: usage.definitions_to().max(values_to),
        times,
        events: (0..trace.defs().len()).map(|def| usage.is_event_used(def)).collect(),
        types: known_types,
        other_quoting: usage
            .other_quoting()
            .map(|(type_, events)| (type_.index(), events))
            .collect(),
        states: of_nature(TypeNature::State),
        variables: of_nature(TypeNature::Variable),
        point_events: of_nature(TypeNature::Event),
        links: of_nature(TypeNature::Link),
        containers: containers.ids().map(|id| summary(containers, id)).collect(),
    })
}

fn known_types(trace: &Trace, usage: &Usage, counts: &Counts) -> Vec<KnownType> {
    let (types, containers) = (trace.types(), trace.containers());
    let known = |id: TypeId| KnownType {
        is_used: false,
        objects: counts.objects[id.index()],
        values: types.value_count(id) as u64,
        unused: unused(types, usage, id),
    };
    let mut known: Vec<KnownType> = types.ids().map(known).collect();
    for container in containers.ids().skip(1) {
        let type_ = &mut known[containers.type_of(container).index()];
        type_.objects += 1;
        type_.is_used = true;
    }
    for lane in trace.lanes() {
        known[lane.type_id().index()].is_used = true;
    }
    known
}

fn unused(types: &Types, usage: &Usage, id: TypeId) -> Vec<Vec<u8>> {
    let values = types.values(id).filter(|value| !usage.is_value_used(id, *value));
    values.map(|value| types.value_identifier(id, value).text.to_vec()).collect()
}

fn summary(containers: &Containers, id: ContainerId) -> ContainerSummary {
    ContainerSummary {
        name: containers.name(id).text.to_vec(),
        alias: containers.alias(id).map(|alias| alias.text.to_vec()),
        type_: containers.type_of(id).index(),
        parent: containers.parent(id).index(),
    }
}
