//! Reads StarPU's description of tasks (`tasks.rec`).
//!
//! The file is written by `starpu_fxt_tool` in the format of GNU recutils: lines `Field: value`, with an empty line
//! after each record. Times are in milliseconds of the trace's clock.

use std::fmt;
use std::hash::Hash;
use std::io::BufRead;
use std::ops::Range;

use rustc_hash::FxHashMap;

/// Number of a task. In runs of several MPI processes, the process's rank precedes it, as in `3_17`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Job {
    rank: Option<u32>,
    number: u64,
}

impl Job {
    /// Parses a job id.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Job> {
        let (rank, number) = match text.iter().position(|byte| *byte == b'_') {
            Some(at) => (Some(u32::try_from(number(&text[..at])?).ok()?), &text[at + 1..]),
            None => (None, text),
        };
        Some(Job { rank, number: self::number(number)? })
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rank {
            Some(rank) => write!(f, "{rank}_{}", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}

/// What a file says about one task. Names are indices into [`Records::name`].
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Number of the line with the job id.
    pub line: u64,
    /// Number of the task.
    pub job: Job,
    /// Name of the task.
    pub name: Option<u32>,
    /// Name of the performance model. Tasks with the same model run the same code.
    pub model: Option<u32>,
    /// Position in the order of submission.
    pub submit_order: Option<u64>,
    /// Priority. The scheduler prefers larger numbers.
    pub priority: i64,
    /// Worker that executed the task.
    pub worker: Option<u32>,
    /// Memory node of this worker.
    pub node: Option<u32>,
    /// Time of the submission.
    pub submit: Option<f64>,
    /// Start of the execution.
    pub start: Option<f64>,
    /// End of the execution.
    pub end: Option<f64>,
    /// Hash of the sizes of the data. Tasks with the same model and footprint take equally long.
    pub footprint: u64,
    depends_on: Range<u32>,
    end_depends_on: Range<u32>,
    accesses: Range<u32>,
}

/// Access of a task to a piece of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Handle of the data.
    pub handle: u64,
    /// Number of bytes.
    pub size: u64,
    /// Whether the task reads the data.
    pub reads: bool,
    /// Whether the task writes the data.
    pub writes: bool,
}

/// The tasks of a file, in its order.
#[derive(Clone, Debug, Default)]
pub struct Records {
    list: Vec<Record>,
    jobs: Vec<Job>,
    accesses: Vec<Access>,
    names: Vec<Box<[u8]>>,
    named: FxHashMap<Box<[u8]>, u32>,
}

/// Error in a file of tasks: it cannot be read, a line has another form, or it does not describe the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TasksError {
    /// Line with the problem, if it is in one line.
    pub line: Option<u64>,
    /// Description of the problem.
    pub why: String,
}

impl TasksError {
    pub(super) fn new(line: impl Into<Option<u64>>, why: impl Into<String>) -> Self {
        TasksError { line: line.into(), why: why.into() }
    }
}

impl fmt::Display for TasksError {
    /// Formats the text that follows the name of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, ":{line}: {}", self.why),
            None => write!(f, ": {}", self.why),
        }
    }
}

impl std::error::Error for TasksError {}

impl Records {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or a line is not a field of a record.
    pub fn read(mut file: impl BufRead) -> Result<Self, TasksError> {
        let mut records = Records::default();
        let (mut text, mut number, mut draft) = (Vec::new(), 0, Draft::default());
        loop {
            text.clear();
            let length = file.read_until(b'\n', &mut text);
            let length = length.map_err(|error| TasksError::new(None, error.to_string()))?;
            number += 1;
            let line = text.trim_ascii();
            if line.is_empty() {
                records.add(std::mem::take(&mut draft), number)?;
            } else if line[0] != b'#' {
                let field = line.iter().position(|byte| *byte == b':');
                let field = field.map(|at| (&line[..at], line[at + 1..].trim_ascii()));
                let Some((name, value)) = field else {
                    return Err(TasksError::new(number, "expected `Field: value`"));
                };
                draft.set(&mut records, name, value, number).ok_or_else(|| {
                    let [name, value] = [name, value].map(|text| text.escape_ascii());
                    TasksError::new(number, format!("`{value}` is not a value of {name}"))
                })?;
                // StarPU writes no empty line after this field.
                if name == b"EndDependencies" {
                    records.add(std::mem::take(&mut draft), number)?;
                }
            }
            if length == 0 {
                return Ok(records);
            }
        }
    }

    fn add(&mut self, draft: Draft, number: u64) -> Result<(), TasksError> {
        let (mut record, job) = match (draft.record, draft.job) {
            // A record with the field `Control` is not about a task. StarPU writes one when data is no longer needed.
            _ if draft.is_control || draft.is_empty => return Ok(()),
            (record, Some(job)) => (record, job),
            _ => return Err(TasksError::new(number, "the record has no JobId")),
        };
        record.job = job;
        self.list.push(record);
        Ok(())
    }

    /// Returns the tasks in the order of the file.
    #[must_use]
    pub fn list(&self) -> &[Record] {
        &self.list
    }

    /// Returns the tasks that must end before this task starts. They may occur repeatedly.
    #[must_use]
    pub fn depends_on(&self, record: &Record) -> &[Job] {
        &self.jobs[record.depends_on.start as usize..record.depends_on.end as usize]
    }

    /// Returns the tasks that must end before this task counts as ended.
    #[must_use]
    pub fn end_depends_on(&self, record: &Record) -> &[Job] {
        &self.jobs[record.end_depends_on.start as usize..record.end_depends_on.end as usize]
    }

    /// Returns the data that a task accesses.
    #[must_use]
    pub fn accesses(&self, record: &Record) -> &[Access] {
        &self.accesses[record.accesses.start as usize..record.accesses.end as usize]
    }

    /// Returns a name.
    #[must_use]
    pub fn name(&self, index: u32) -> &[u8] {
        &self.names[index as usize]
    }

    fn named(&mut self, text: &[u8]) -> u32 {
        if let Some(index) = self.named.get(text) {
            return *index;
        }
        let index = self.names.len() as u32;
        self.names.push(text.into());
        self.named.insert(text.into(), index);
        index
    }

    fn jobs(&mut self, words: &[u8]) -> Option<Range<u32>> {
        let begin = self.jobs.len() as u32;
        for word in words.split(|byte| matches!(byte, b' ' | b',')).filter(|it| !it.is_empty()) {
            self.jobs.push(Job::parse(word)?);
        }
        Some(begin..self.jobs.len() as u32)
    }
}

/// A record that is being read.
struct Draft {
    record: Record,
    job: Option<Job>,
    is_control: bool,
    is_empty: bool,
}

impl Default for Draft {
    fn default() -> Self {
        let record = Record {
            line: 0,
            job: Job { rank: None, number: 0 },
            name: None,
            model: None,
            submit_order: None,
            priority: 0,
            worker: None,
            node: None,
            submit: None,
            start: None,
            end: None,
            footprint: 0,
            depends_on: 0..0,
            end_depends_on: 0..0,
            accesses: 0..0,
        };
        Draft { record, job: None, is_control: false, is_empty: true }
    }
}

impl Draft {
    /// Sets a field. Fields of other versions of StarPU are ignored.
    fn set(&mut self, all: &mut Records, name: &[u8], value: &[u8], line: u64) -> Option<()> {
        let record = &mut self.record;
        self.is_empty = false;
        match name {
            b"JobId" => (self.job, record.line) = (Some(Job::parse(value)?), line),
            b"Control" => self.is_control = true,
            b"Name" => record.name = Some(all.named(value)),
            b"Model" => record.model = Some(all.named(value)),
            b"SubmitOrder" => record.submit_order = Some(number(value)?),
            b"Priority" => record.priority = parsed(value)?,
            b"Footprint" => record.footprint = hexadecimal(value)?,
            b"WorkerId" => record.worker = Some(parsed(value)?),
            b"MemoryNode" => record.node = Some(parsed(value)?),
            b"SubmitTime" => record.submit = Some(time(value)?),
            b"StartTime" => record.start = Some(time(value)?),
            b"EndTime" => record.end = Some(time(value)?),
            b"DependsOn" => record.depends_on = all.jobs(value)?,
            b"EndDependencies" => record.end_depends_on = all.jobs(value)?,
            b"Handles" => {
                let begin = all.accesses.len();
                for word in words(value) {
                    all.accesses.push(Access { handle: hexadecimal(word)?, ..Access::default() });
                }
                record.accesses = begin as u32..all.accesses.len() as u32;
            }
            b"Modes" | b"Sizes" => {
                let range = record.accesses.start as usize..record.accesses.end as usize;
                for (access, word) in all.accesses[range].iter_mut().zip(words(value)) {
                    match name {
                        b"Sizes" => access.size = number(word)?,
                        _ => {
                            access.reads = word.contains(&b'R');
                            access.writes = word.contains(&b'W') || word.contains(&b'X');
                        }
                    }
                }
            }
            _ => {}
        }
        Some(())
    }
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn parsed<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn number(text: &[u8]) -> Option<u64> {
    parsed(text)
}

fn time(text: &[u8]) -> Option<f64> {
    parsed(text).filter(|time: &f64| time.is_finite())
}

fn hexadecimal(text: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Records, String> {
        Records::read(text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn all_fields_are_read() {
        let text = "Control: WontUse\nJobId: 9\nHandles: ff\n\n# a comment\nName: a b\nModel: GEMM\nFile: x.c\n\
                    JobId: 3_17\nSubmitOrder: 4\nPriority: -2\nDependsOn: 3_1 3_1 3_2\nTag: 1f\nWorkerId: 1\n\
                    MemoryNode: 0\nSubmitTime: 1.5\nStartTime: 2.25\nEndTime: 4\nFootprint: db32\nGFlop: 0.5\n\
                    Iteration: 7 -1\nParameters: M4x4x4\nHandles: ff fe\nModes: RW R\nSizes: 64 32\nNumaNodes: 0 0,1\n\
                    MPIRank: 3\nEndDependencies: 5, 6 \nJobId: 18\n\n\n";
        let records = read(text).expect("valid");
        let [first, second] = records.list() else { panic!("two tasks") };
        assert_eq!((first.line, first.job.to_string()), (9, "3_17".into()));
        assert_eq!(first.name.map(|name| records.name(name)), Some(&b"a b"[..]));
        assert_eq!(first.model.map(|name| records.name(name)), Some(&b"GEMM"[..]));
        assert_eq!((first.submit_order, first.priority), (Some(4), -2));
        assert_eq!((first.worker, first.node), (Some(1), Some(0)));
        assert_eq!([first.submit, first.start, first.end], [Some(1.5), Some(2.25), Some(4.0)]);
        assert_eq!(first.footprint, 0xdb32);
        let jobs = |jobs: &[Job]| jobs.iter().map(Job::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(jobs(records.depends_on(first)), "3_1 3_1 3_2");
        assert_eq!(jobs(records.end_depends_on(first)), "5 6");
        assert_eq!(
            records.accesses(first),
            [
                Access { handle: 0xff, size: 64, reads: true, writes: true },
                Access { handle: 0xfe, size: 32, reads: true, writes: false }
            ]
        );
        assert_eq!((second.job.to_string(), second.worker), ("18".into(), None));
    }

    #[test]
    fn errors_have_a_line() {
        let error = |text: &str| read(text).expect_err("invalid");
        assert_eq!(error("JobId: 1\nWorker\n"), ":2: expected `Field: value`");
        assert_eq!(error("JobId: 1\nWorkerId: two\n"), ":2: `two` is not a value of WorkerId");
        assert_eq!(error("JobId: 1\nEndTime: inf\n"), ":2: `inf` is not a value of EndTime");
        assert_eq!(error("Name: a\nTag: 0\n\nJobId: 1\n"), ":3: the record has no JobId");
        assert!(read("").expect("valid").list().is_empty());
    }
}
