//! The clocks of ranks, and what they do, line by line.

use std::fmt::Write;

use crate::header::definitions;

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

    /// Adds a line at the rank's time.
    fn line(&mut self, rank: usize, event: u32, rest: &str) {
        let time = self.clock[rank];
        self.lines.push((time, format!("{event} {} {rest}", seconds(time))));
    }

    /// Opens a state at the rank's time.
    pub(super) fn push(&mut self, rank: usize, value: &str) {
        self.line(rank, 12, &format!("S r{rank} {value}"));
    }

    /// Closes the innermost state at the rank's time.
    pub(super) fn pop(&mut self, rank: usize) {
        self.line(rank, 13, &format!("S r{rank}"));
    }

    /// Opens a state of a type that no analysis looks at.
    pub(super) fn push_other(&mut self, rank: usize, value: &str) {
        self.line(rank, 12, &format!("P r{rank} {value}"));
    }

    pub(super) fn pop_other(&mut self, rank: usize) {
        self.line(rank, 13, &format!("P r{rank}"));
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

    /// Starts a link at the rank's time, and returns its key.
    pub(super) fn start(&mut self, rank: usize, bytes: u64) -> u64 {
        let size = if bytes == NO_SIZE { "NA".to_owned() } else { bytes.to_string() };
        self.start_link(rank, "PTP", &size)
    }

    /// Starts a link of a value, without a size, and returns its key.
    pub(super) fn start_as(&mut self, rank: usize, value: &str) -> u64 {
        self.start_link(rank, &format!("\"{value}\""), "NA")
    }

    fn start_link(&mut self, rank: usize, value: &str, size: &str) -> u64 {
        let key = self.links;
        self.links += 1;
        self.line(rank, 15, &format!("L 0 {value} r{rank} k{key} {size}"));
        key
    }

    /// Ends a link of a value.
    pub(super) fn end_as(&mut self, rank: usize, value: &str, key: u64) {
        self.line(rank, 16, &format!("L 0 \"{value}\" r{rank} k{key}"));
    }

    /// Ends a link at the rank's time.
    pub(super) fn end(&mut self, rank: usize, key: u64) {
        self.line(rank, 16, &format!("L 0 PTP r{rank} k{key}"));
    }

    /// The trace: its lines in order of time, those of one time as they came.
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

pub(super) fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// Returns the definitions, with the size of a message as SMPI writes it, and the types.
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
