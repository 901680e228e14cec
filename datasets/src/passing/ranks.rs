//! The clocks of ranks, and what they do, line by line.

use std::fmt::Write;

/// The lines of a trace of ranks `rank-0`, `rank-1`, …, all in the root.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    /// The time when each rank is ready for the next thing, in microseconds.
    pub(super) clock: Vec<u64>,
    /// The lines after the header, each with its time.
    lines: Vec<(u64, String)>,
    links: u64,
}

/// A number that stands for the size of a message that has none.
pub(super) const NO_SIZE: u64 = u64::MAX;

impl Ranks {
    pub(super) fn new(count: usize) -> Self {
        Ranks { clock: vec![0; count], lines: Vec::new(), links: 0 }
    }

    pub(super) fn count(&self) -> usize {
        self.clock.len()
    }

    /// Opens a state at the rank's time.
    pub(super) fn push(&mut self, rank: usize, value: &str) {
        let time = self.clock[rank];
        self.lines.push((time, format!("12 {} S r{rank} {value}", seconds(time))));
    }

    /// Closes the innermost state at the rank's time.
    pub(super) fn pop(&mut self, rank: usize) {
        let time = self.clock[rank];
        self.lines.push((time, format!("13 {} S r{rank}", seconds(time))));
    }

    /// Opens a state of another type, which is of no interest here.
    pub(super) fn push_other(&mut self, rank: usize, value: &str) {
        let time = self.clock[rank];
        self.lines.push((time, format!("12 {} P r{rank} {value}", seconds(time))));
    }

    pub(super) fn pop_other(&mut self, rank: usize) {
        let time = self.clock[rank];
        self.lines.push((time, format!("13 {} P r{rank}", seconds(time))));
    }

    /// A state that lasts so long.
    pub(super) fn state(&mut self, rank: usize, value: &str, micros: u64) {
        self.state_until(rank, value, self.clock[rank] + micros);
    }

    /// A state that lasts until then, or takes no time if that is past.
    pub(super) fn state_until(&mut self, rank: usize, value: &str, until: u64) {
        self.push(rank, value);
        self.clock[rank] = self.clock[rank].max(until);
        self.pop(rank);
    }

    /// Starts a link at the rank's time; what is given back ends it.
    pub(super) fn start(&mut self, rank: usize, bytes: u64) -> u64 {
        let (time, key) = (self.clock[rank], self.links);
        self.links += 1;
        let size = if bytes == NO_SIZE { "NA".to_owned() } else { bytes.to_string() };
        self.lines.push((time, format!("15 {} L 0 PTP r{rank} k{key} {size}", seconds(time))));
        key
    }

    /// Starts a link of a value, without a size; see [`Ranks::start`].
    pub(super) fn start_as(&mut self, rank: usize, value: &str) -> u64 {
        let (time, key) = (self.clock[rank], self.links);
        self.links += 1;
        self.lines.push((time, format!("15 {} L 0 \"{value}\" r{rank} k{key} NA", seconds(time))));
        key
    }

    /// Ends a link of a value.
    pub(super) fn end_as(&mut self, rank: usize, value: &str, key: u64) {
        let time = self.clock[rank];
        self.lines.push((time, format!("16 {} L 0 \"{value}\" r{rank} k{key}", seconds(time))));
    }

    /// Ends a link at the rank's time.
    pub(super) fn end(&mut self, rank: usize, key: u64) {
        let time = self.clock[rank];
        self.lines.push((time, format!("16 {} L 0 PTP r{rank} k{key}", seconds(time))));
    }

    /// The trace: its lines in order of time, those of one time as they came.
    pub(super) fn trace(mut self) -> Vec<u8> {
        let mut out = HEADER.to_owned();
        for rank in 0..self.count() {
            let _ = writeln!(out, "6 0.000000 r{rank} R 0 rank-{rank}");
        }
        self.lines.sort_by_key(|(time, _)| *time);
        for (_, line) in &self.lines {
            let _ = writeln!(out, "{line}");
        }
        let end = self.lines.last().map_or(0, |(time, _)| *time);
        for rank in 0..self.count() {
            let _ = writeln!(out, "7 {} R r{rank}", seconds(end));
        }
        out.into_bytes()
    }
}

pub(super) fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// The definitions, with the size of a message where SMPI has it; and the types.
pub(super) const HEADER: &str = "\
%EventDef PajeDefineContainerType 0
% Alias string\n% Type string\n% Name string
%EndEventDef
%EventDef PajeDefineStateType 2
% Alias string\n% Type string\n% Name string
%EndEventDef
%EventDef PajeDefineLinkType 4
% Alias string\n% Type string\n% StartContainerType string\n% EndContainerType string\n% Name string
%EndEventDef
%EventDef PajeCreateContainer 6
% Time date\n% Alias string\n% Type string\n% Container string\n% Name string
%EndEventDef
%EventDef PajeDestroyContainer 7
% Time date\n% Type string\n% Name string
%EndEventDef
%EventDef PajePushState 12
% Time date\n% Type string\n% Container string\n% Value string
%EndEventDef
%EventDef PajePopState 13
% Time date\n% Type string\n% Container string
%EndEventDef
%EventDef PajeStartLink 15
% Time date\n% Type string\n% Container string\n% Value string\n% StartContainer string\n% Key string\n% Size string
%EndEventDef
%EventDef PajeEndLink 16
% Time date\n% Type string\n% Container string\n% Value string\n% EndContainer string\n% Key string
%EndEventDef
0 R 0 Rank
2 P R PHASE
2 S R MPI_STATE
4 L 0 R R MPI_LINK
";
