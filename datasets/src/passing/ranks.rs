//! Writes the lines of a trace rank by rank, with a clock for each rank.

use std::fmt::Write;

use crate::header::{definitions, seconds};

/// The lines of a trace of ranks `rank-0`, `rank-1`, … in the root container.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    /// Current time of each rank, in microseconds.
    pub(super) clock: Vec<u64>,
    lines: Vec<(u64, String)>,
    links: u64,
}

pub(super) const NO_SIZE: u64 = u64::MAX;

impl Ranks {
    pub(super) fn new(count: usize) -> Self {
        Ranks { clock: vec![0; count], lines: Vec::new(), links: 0 }
    }

    pub(super) fn count(&self) -> usize {
        self.clock.len()
    }

    fn line(&mut self, rank: usize, event: u32, rest: &str) {
        let time = self.clock[rank];
        self.lines.push((time, format!("{event} {} {rest}", seconds(time))));
    }

    pub(super) fn push(&mut self, rank: usize, value: &str) {
        self.line(rank, 12, &format!("S r{rank} {value}"));
    }

    pub(super) fn pop(&mut self, rank: usize) {
        self.line(rank, 13, &format!("S r{rank}"));
    }

    pub(super) fn push_other(&mut self, rank: usize, value: &str) {
        self.line(rank, 12, &format!("P r{rank} {value}"));
    }

    pub(super) fn pop_other(&mut self, rank: usize) {
        self.line(rank, 13, &format!("P r{rank}"));
    }

    pub(super) fn state(&mut self, rank: usize, value: &str, micros: u64) {
        self.state_until(rank, value, self.clock[rank] + micros);
    }

    /// Adds a state that lasts until this time. If the time has already passed, the state has no
    /// duration.
    pub(super) fn state_until(&mut self, rank: usize, value: &str, until: u64) {
        self.push(rank, value);
        self.clock[rank] = self.clock[rank].max(until);
        self.pop(rank);
    }

    /// Starts a link at the rank's time and returns its key.
    pub(super) fn start(&mut self, rank: usize, bytes: u64) -> u64 {
        let size = if bytes == NO_SIZE { "NA".to_owned() } else { bytes.to_string() };
        self.start_link(rank, "PTP", &size)
    }

    /// Starts a link that has a value but no size, and returns its key.
    pub(super) fn start_as(&mut self, rank: usize, value: &str) -> u64 {
        self.start_link(rank, &format!("\"{value}\""), "NA")
    }

    fn start_link(&mut self, rank: usize, value: &str, size: &str) -> u64 {
        let key = self.links;
        self.links += 1;
        self.line(rank, 15, &format!("L 0 {value} r{rank} k{key} {size}"));
        key
    }

    pub(super) fn end_as(&mut self, rank: usize, value: &str, key: u64) {
        self.line(rank, 16, &format!("L 0 \"{value}\" r{rank} k{key}"));
    }

    pub(super) fn end(&mut self, rank: usize, key: u64) {
        self.line(rank, 16, &format!("L 0 PTP r{rank} k{key}"));
    }

    /// Returns the trace, with its lines in order of time. Lines with the same time are in order of
    /// insertion.
    pub(super) fn trace(mut self) -> Vec<u8> {
        let mut out = header();
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

/// Returns the event definitions, including SMPI's message sizes, and the types.
pub(super) fn header() -> String {
    let events = [
        ("0", "DefineContainerType", "Alias Type Name"),
        ("2", "DefineStateType", "Alias Type Name"),
        ("4", "DefineLinkType", "Alias Type StartContainerType EndContainerType Name"),
        ("6", "CreateContainer", "Time:date Alias Type Container Name"),
        ("7", "DestroyContainer", "Time:date Type Name"),
        ("12", "PushState", "Time:date Type Container Value"),
        ("13", "PopState", "Time:date Type Container"),
        ("15", "StartLink", "Time:date Type Container Value StartContainer Key Size"),
        ("16", "EndLink", "Time:date Type Container Value EndContainer Key"),
    ];
    definitions(events) + "0 R 0 Rank\n2 P R PHASE\n2 S R MPI_STATE\n4 L 0 R R MPI_LINK\n"
}
