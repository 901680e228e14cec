//! Collects findings. A problem that occurs several times is listed once. The list has a maximum
//! length.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use paje_parser::Fault;
use paje_sim::error::{EventName, Problem};

use super::options::Options;
use super::place::{Here, Place};
use crate::finding::{Cause, Caution, Finding, Severity};

/// Key of a finding. Findings with the same key are combined.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Group {
    code: &'static str,
    ids: (u32, u32),
    name: Vec<u8>,
}

impl Group {
    pub(crate) const fn ids(code: &'static str, first: u32, second: u32) -> Self {
        Group { code, ids: (first, second), name: Vec::new() }
    }

    pub(crate) fn named(code: &'static str, id: u32, name: &[u8]) -> Self {
        Group { code, ids: (id, 0), name: name.to_vec() }
    }
}

#[derive(Debug)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    ending: Vec<Finding>,
    groups: HashMap<Group, usize, RandomState>,
    errors: Tally,
    warnings: Tally,
    limit: usize,
    warnings_wanted: bool,
    only: Vec<String>,
    allowed: Vec<String>,
    doubts: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) all: u64,
    listed: usize,
    pub(crate) unlisted: u64,
}

#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) findings: Vec<Finding>,
    pub(crate) errors: Tally,
    pub(crate) warnings: Tally,
    pub(crate) doubts: u64,
}

/// Index of a finding, or `None` if the finding is not listed.
pub(crate) type FindingIndex = Option<usize>;

impl Findings {
    pub(crate) fn new(options: &Options) -> Self {
        let limit = options.max_findings;
        Findings {
            list: Vec::new(),
            ending: Vec::new(),
            groups: HashMap::default(),
            errors: Tally::default(),
            warnings: Tally::default(),
            limit: if limit == 0 { usize::MAX } else { limit },
            warnings_wanted: options.warnings,
            only: options.only.clone(),
            allowed: options.allowed.clone(),
            doubts: 0,
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.errors.all == 0 && self.warnings.all == 0
    }

    /// Returns the number of errors so far.
    pub(crate) const fn errors(&self) -> u64 {
        self.errors.all
    }

    fn is_wanted(&self, finding: &Finding) -> bool {
        (self.warnings_wanted || finding.severity == Severity::Error)
            && (self.only.is_empty() || self.only.iter().any(|code| code == finding.code()))
    }

    /// Adds a finding, or counts it as another occurrence of the first finding in its group.
    #[cold]
    pub(crate) fn add(&mut self, finding: Finding, group: Option<Group>) -> FindingIndex {
        let wanted = self.is_wanted(&finding);
        let code = finding.code();
        let is_doubt = finding.severity == Severity::Warning
            && !code.starts_with("unused-")
            && !self.allowed.iter().any(|allowed| allowed == code);
        self.doubts += if is_doubt { finding.count } else { 0 };
        let tally = match finding.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        tally.all += finding.count;
        // All lines of a file that is not a trace are one finding.
        let group = match finding.cause {
            Cause::Problem(Problem::NotATrace) => {
                Some(Group::ids(Problem::NotATrace.code(), finding.file as u32, 0))
            }
            _ => group,
        };
        if let Some(first) = group.as_ref().and_then(|group| self.groups.get(group)) {
            let same = &mut self.list[*first];
            same.count += finding.count;
            let last = (same.last_file, same.last_line);
            (same.last_file, same.last_line) = last.max((finding.last_file, finding.last_line));
            return Some(*first);
        }
        if !wanted {
            return None;
        }
        if tally.listed == self.limit {
            tally.unlisted += finding.count;
            return None;
        }
        tally.listed += 1;
        let index = self.list.len();
        if let Some(group) = group {
            self.groups.insert(group, index);
        }
        self.list.push(finding);
        Some(index)
    }

    #[cold]
    pub(crate) fn fault(
        &mut self,
        here: &Here<'_>,
        fault: Fault,
        event: EventName,
        group: Option<Group>,
    ) {
        let mut finding = fault_finding(here, fault);
        if let Cause::Problem(problem) = finding.cause {
            finding.cause = Cause::Problem(problem.of_event(|| Some(event.clone())));
        }
        finding.event = Some(event);
        self.add(finding, group);
    }

    pub(crate) fn at_end_of(&mut self, file: u32, problem: Problem, note: Option<String>) {
        self.add(late(file, problem, note), None);
    }

    pub(crate) fn at_end(&mut self, problem: Problem, note: Option<String>) {
        self.known_at_end(late(0, problem, note));
    }

    /// Adds an error that only the end of the trace reveals. It follows all others.
    pub(crate) fn known_at_end(&mut self, finding: Finding) {
        self.errors.all += 1;
        if !self.is_wanted(&finding) {
            return;
        }
        if self.errors.listed == self.limit {
            self.errors.unlisted += 1;
            return;
        }
        self.errors.listed += 1;
        self.ending.push(finding);
    }

    pub(crate) fn afterwards(&mut self, caution: Caution, place: Option<Place>, width: u64) {
        self.add(finding(Severity::Warning, Cause::Caution(caution), place, width), None);
    }

    pub(crate) fn consequence(&mut self, of: FindingIndex) {
        if let Some(finding) = of.and_then(|index| self.list.get_mut(index)) {
            finding.consequences += 1;
        }
    }

    pub(crate) fn note(&mut self, told: FindingIndex, note: impl FnOnce() -> String) {
        if let Some(finding) = told.and_then(|index| self.list.get_mut(index)) {
            finding.note.get_or_insert_with(note);
        }
    }

    pub(crate) fn listed(mut self) -> Listed {
        self.list.sort_by_key(|finding| {
            let byte = finding.position.map(|position| position.byte);
            (finding.file, byte.is_none(), byte)
        });
        self.list.append(&mut self.ending);
        let Findings { list, errors, warnings, doubts, .. } = self;
        Listed { findings: list, errors, warnings, doubts }
    }
}

fn late(file: u32, problem: Problem, note: Option<String>) -> Finding {
    Finding {
        note,
        file: file as usize,
        ..finding(Severity::Error, Cause::Problem(problem), None, 0)
    }
}

/// Returns a finding without an excerpt, an event and a note.
pub(crate) fn finding(
    severity: Severity,
    cause: Cause,
    place: Option<Place>,
    width: u64,
) -> Finding {
    let file = place.map_or(0, |place| place.file as usize);
    Finding {
        severity,
        cause,
        file,
        position: place.map(|place| place.position),
        width,
        excerpt: None,
        count: 1,
        last_file: file,
        last_line: place.map_or(0, |place| place.position.line),
        event: None,
        consequences: 0,
        note: None,
    }
}

pub(crate) fn fault_finding(here: &Here<'_>, fault: Fault) -> Finding {
    let span = fault.word(here.text);
    let word = || span.of(here.text).bare().to_vec();
    let problem = match here.hidden {
        false => Problem::Line { fault: fault.kind, word: word(), event: None },
        true => Problem::NotATrace,
    };
    here.finding(Severity::Error, Cause::Problem(problem), span)
}
