//! A trace that R reads: keywords, replay, and tables.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use arrow_array::RecordBatch;
use paje_bindings::{
    Keywords, Problem, R, Replay, ReplayStatus, Size, as_file, problem_of, recovered, warnings,
};
use paje_export::{TableOptions, Tables};
use paje_sim::{Error, ErrorKind, Trace};
use paje_workers::Workers;
use self_cell::self_cell;
use splitter::{Input, cause};

use crate::analysis::AnalysisKeywords;
use crate::frame::Frame;

/// Maximum time to wait for a stopped replay. A blocked read or a sort may take longer. Its result
/// is dropped.
const GRACE: Duration = Duration::from_millis(500);

/// Trace with the options of its tables.
pub(crate) struct Kept {
    pub(crate) trace: Trace,
    options: TableOptions,
}

self_cell!(
    pub(crate) struct Shown {
        owner: Kept,
        #[covariant]
        dependent: Tables,
    }
);

#[derive(Debug)]
pub(crate) enum Failure {
    /// The trace is invalid.
    Invalid(Box<Problem>),
    /// A file cannot be read or written.
    File { path: PathBuf, error: String },
    /// The request is impossible.
    Wrong(String),
}

impl Failure {
    fn of(error: &Error, name: &Path) -> Self {
        let file =
            |path: &Path, error| Failure::File { path: path.to_owned(), error: cause(error) };
        match error.kind() {
            ErrorKind::Io(error) => file(name, error),
            ErrorKind::File { path, error } => file(path, error),
            _ => match problem_of(error, name, &R) {
                Some(problem) => Failure::Invalid(Box::new(problem)),
                None => Failure::Wrong(error.to_string()),
            },
        }
    }
}

type Replayed = Result<(Trace, Workers, Option<Result<RecordBatch, String>>), Error>;

/// One call of `read_paje`.
#[derive(Default)]
pub struct Reading {
    keywords: Keywords,
    analysis: AnalysisKeywords,
    paths: Vec<PathBuf>,
    bytes: Vec<u8>,
    status: Arc<ReplayStatus>,
    threads: usize,
    done: Option<Receiver<Replayed>>,
    pub(crate) workers: Option<Workers>,
    pub(crate) shown: Option<Shown>,
    pub(crate) frame: Option<Frame>,
    pub(crate) analysed: Option<RecordBatch>,
    pub(crate) failure: Option<Failure>,
    /// Facts that C looked up last.
    pub(crate) facts: Vec<Vec<Option<String>>>,
    pub(crate) scratch: String,
}

impl Reading {
    /// Adds a file. Several files are one trace.
    pub(crate) fn add_path(&mut self, path: PathBuf) {
        self.paths.push(path);
    }

    /// Sets the bytes of the trace, which are read instead of files.
    pub(crate) fn set_bytes(&mut self, bytes: Vec<u8>) {
        self.bytes = bytes;
    }

    /// Sets a keyword or adds to its list.
    pub(crate) fn ask(&mut self, keyword: &str, value: &str) -> Result<(), Failure> {
        let wrong = |what| Failure::Wrong(format!("{keyword} must be {what}, not '{value}'"));
        if let Some(taken) = self.analysis.take(keyword, value) {
            return taken.map_err(wrong);
        }
        let asked = &mut self.keywords;
        let flag = || value.parse::<bool>().map_err(|_| wrong("TRUE or FALSE"));
        let time = || value.parse::<f64>().map_err(|_| wrong("a time in seconds"));
        let add = |list: &mut Option<Vec<String>>| {
            list.get_or_insert_default().push(value.to_owned());
        };
        match keyword {
            "threads" => {
                asked.threads = Some(value.parse().map_err(|_| wrong("a number of threads"))?);
            }
            "pin" => asked.pin = Some(value.to_owned()),
            "strict" => asked.strict = flag()?,
            "ignore_incomplete_links" => asked.ignore_incomplete_links = flag()?,
            "no_imbrication" => asked.no_imbrication = flag()?,
            "user_defined" => asked.user_defined = flag()?,
            "lines" => asked.lines = flag()?,
            "sort" => asked.sort = flag()?,
            "recover" => asked.recover = flag()?,
            "stop_at" => asked.stop_at = Some(time()?),
            "time_unit" => asked.time_unit = Some(value.to_owned()),
            "start" => asked.start = Some(time()?),
            "end" => asked.end = Some(time()?),
            "natures" => add(&mut asked.natures),
            "types" => add(&mut asked.types),
            "containers" => add(&mut asked.containers),
            "memory_limit" => asked.memory_limit = Some(Size::Text(value.to_owned())),
            "temp_dir" => asked.temp_dir = Some(value.into()),
            "variable_precision" => asked.variable_precision = value.to_owned(),
            "quotes" => asked.quotes = value.to_owned(),
            "follow_files" => asked.follow_files = flag()?,
            "files_from" => asked.files_from.push(value.into()),
            _ => return Err(Failure::Wrong(format!("unknown keyword {keyword}"))),
        }
        Ok(())
    }

    /// Returns the trace's name as shown in messages.
    pub(crate) fn name(&self) -> PathBuf {
        self.paths.first().cloned().unwrap_or_else(|| "<raw>".into())
    }

    pub(crate) fn start(&mut self) -> Result<(), Failure> {
        let wrong = |error: paje_bindings::Wrong| Failure::Wrong(error.0);
        let asked = self.analysis.asked(&mut self.keywords).map_err(Failure::Wrong)?;
        self.keywords.tables().map_err(wrong)?;
        let selection = self.keywords.replay().map_err(wrong)?.selection;
        let replay = Replay::new(&self.keywords, Arc::clone(&self.status)).map_err(wrong)?;
        self.threads = replay.threads();
        let path = self.paths.first().cloned();
        let further = self.paths.iter().skip(1).cloned().collect();
        let replay = replay.of_files(path.clone(), further, &self.keywords);
        let replay =
            replay.map_err(|(path, error)| Failure::File { path, error: cause(&error) })?;
        let bytes = std::mem::take(&mut self.bytes);
        let open = move || match path {
            Some(path) => Input::open(Some(as_file(&path))),
            None => {
                let size = bytes.len() as u64;
                Input::from_reader("<raw>".into(), Cursor::new(bytes), Some(size))
            }
        };
        let (tell, done) = mpsc::channel();
        let thread = thread::Builder::new().name("pajereplay".into());
        let work = move || {
            let replayed = replay.run(open).map(|(trace, workers)| {
                let analysed = asked.map(|asked| {
                    let found = workers.run(|| asked.table(&trace, &selection, None, &workers))?;
                    found.record_batch().map_err(|error| error.to_string())
                });
                (trace, workers, analysed)
            });
            // The receiver is dropped after an interrupt.
            let _ = tell.send(replayed);
        };
        thread.spawn(work).map_err(|error| Failure::Wrong(cause(&error)))?;
        self.done = Some(done);
        Ok(())
    }

    /// Waits for the replay for a limited time. Returns whether it has ended.
    pub(crate) fn wait(&mut self, time: Duration) -> bool {
        let Some(done) = &self.done else { return true };
        let replayed = match done.recv_timeout(time) {
            Ok(replayed) => replayed,
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => {
                self.done = None;
                self.failure = Some(defect());
                return true;
            }
        };
        self.done = None;
        match (replayed, self.keywords.tables()) {
            (Ok((_, _, Some(Err(why)))), _) => self.failure = Some(Failure::Wrong(why)),
            (Ok((trace, workers, analysed)), Ok(options)) => {
                self.analysed = analysed.and_then(Result::ok);
                self.workers = Some(workers);
                let kept = Kept { trace, options };
                self.shown =
                    Some(Shown::new(kept, |kept| Tables::new(&kept.trace, kept.options.clone())));
            }
            (Err(error), _) => self.failure = Some(Failure::of(&error, &self.name())),
            (_, Err(wrong)) => self.failure = Some(Failure::Wrong(wrong.0)),
        }
        true
    }

    pub(crate) fn stop(&mut self) {
        if self.done.is_some() {
            self.status.stop();
            self.wait(GRACE);
        }
        (self.frame, self.shown, self.workers) = (None, None, None);
    }

    pub(crate) fn progress(&self) -> (u64, Option<u64>) {
        self.status.bytes()
    }

    pub(crate) fn trace(&self) -> Option<&Trace> {
        self.shown.as_ref().map(|shown| &shown.borrow_owner().trace)
    }

    /// Returns all facts of one kind, one row for each.
    pub(crate) fn facts_of(&self, what: u32) -> Vec<Vec<Option<String>>> {
        let name = self.name();
        match (what, self.trace()) {
            (0, _) => self.failure.iter().map(of_failure).collect(),
            (1, Some(trace)) => warnings(trace, &name).iter().map(of_problem).collect(),
            (2, Some(trace)) => recovered(trace, &name, &R).iter().map(of_problem).collect(),
            (3, Some(trace)) => {
                let facts = [
                    ("source", name.display().to_string()),
                    ("lines", trace.lines().to_string()),
                    ("bytes", trace.bytes().to_string()),
                    ("event_lines", trace.event_lines().to_string()),
                    ("threads", self.threads.to_string()),
                    ("seconds", trace.times().wall.as_secs_f64().to_string()),
                ];
                facts.into_iter().map(|(key, fact)| vec![Some(key.into()), Some(fact)]).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Returns the failure that reports a bug in this package.
pub(crate) fn defect() -> Failure {
    Failure::Wrong("internal error in pajereplay; please report it".into())
}

fn of_failure(failure: &Failure) -> Vec<Option<String>> {
    match failure {
        Failure::Invalid(problem) => {
            std::iter::once(Some("invalid".into())).chain(of_problem(problem)).collect()
        }
        Failure::File { path, error } => {
            let mut facts = vec![None; 10];
            facts[0] = Some("file".into());
            facts[3] = Some(error.clone());
            facts[4] = Some(path.display().to_string());
            facts
        }
        Failure::Wrong(error) => {
            let mut facts = vec![None; 10];
            facts[0] = Some("wrong".into());
            facts[3] = Some(error.clone());
            facts
        }
    }
}

fn of_problem(problem: &Problem) -> Vec<Option<String>> {
    vec![
        Some(problem.severity.into()),
        Some(problem.code.into()),
        Some(problem.message.clone()),
        Some(problem.file.display().to_string()),
        problem.line.map(|line| line.to_string()),
        problem.column.map(|column| column.to_string()),
        Some(problem.count.to_string()),
        problem.remedy.map(Into::into),
        problem.excerpt.clone(),
    ]
}
