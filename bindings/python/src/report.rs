//! Implements `pajereplay.validate`.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use paje_bindings::as_file;
use paje_parser::FieldNames;
use paje_parser::error::Escaped;
use paje_sim::excerpt::Excerpt;
use pj_validate::report::{Human, Styles};
use pj_validate::{Finding, Options, Report, check_files};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use splitter::Folders;

use crate::errors;
use crate::job::{self, Caller, Request};
use crate::keywords::Arguments;
use crate::options::{FLAG, OneOrMore, PATHS, SIZE, Size, wrong};
use crate::source::{Given, Object, serve};
use crate::trace::record;

struct Asked {
    strict: bool,
    ignore_incomplete_links: bool,
    follow_files: bool,
    files_from: Option<OneOrMore<PathBuf>>,
    max_problems: Option<usize>,
    max_line: Option<Size>,
}

impl Asked {
    fn new(asked: &Bound<'_, PyDict>) -> PyResult<Self> {
        let asked = Arguments(asked);
        Ok(Asked {
            strict: asked.get("strict", FLAG)?,
            ignore_incomplete_links: asked.get("ignore_incomplete_links", FLAG)?,
            follow_files: asked.get("follow_files", FLAG)?,
            files_from: asked.get("files_from", PATHS)?,
            max_problems: asked.get("max_problems", "a whole number from 1, or None")?,
            max_line: asked.get("max_line", SIZE)?,
        })
    }

    fn options(&self) -> PyResult<Options> {
        let mut options = Options::default();
        if !self.strict {
            options.field_names = FieldNames::Old;
        }
        options.ignore_incomplete_links = self.ignore_incomplete_links;
        // 0 means no limit.
        options.max_findings = self.max_problems.unwrap_or(0);
        if self.max_problems == Some(0) {
            return Err(PyValueError::new_err("max_problems must be at least 1, or None for all"));
        }
        if let Some(size) = &self.max_line {
            let bytes = paje_bindings::Size::from(size.clone()).bytes().map_err(wrong)?;
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            options.longest_line = bytes.min(Options::LONGEST_LINE);
        }
        Ok(options)
    }
}

/// Serves the file object, in the calling thread.
struct Watcher {
    stopped: Arc<AtomicBool>,
    object: Option<Object>,
}

impl Caller for Watcher {
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn serve(&mut self, py: Python<'_>, request: Request) -> PyResult<()> {
        serve(self.object.as_ref(), py, request)
    }
}

/// Reader that fails after a request to stop.
struct Stoppable {
    text: Box<dyn Read + Send>,
    stopped: Arc<AtomicBool>,
}

impl Read for Stoppable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stopped.load(Ordering::Relaxed) {
            true => Err(io::Error::other("stopped")),
            false => self.text.read(buffer),
        }
    }
}

/// Implements pajereplay.validate.
#[pyfunction]
pub(crate) fn validate<'py>(
    source: &Bound<'py, PyAny>,
    asked: &Bound<'_, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = source.py();
    let given = Given::new(source)?;
    let asked = Asked::new(asked)?;
    let options = asked.options()?;
    let name = given.name().to_owned();
    let (path, further) = given.paths();
    if !further.is_empty() {
        return Err(PyValueError::new_err(
            "expected one trace; give the file that names the others",
        ));
    }
    // Folders below which the trace may name files: its own, and those that the user added.
    let files_from = asked.files_from.map_or_else(Vec::new, OneOrMore::into_vec);
    let folders = || Folders::of(path.as_deref()).and_all(&files_from);
    let folders = asked.follow_files.then(folders).transpose();
    let folders = folders.map_err(|(folder, error)| errors::of_file(py, &folder, &error))?;
    let stopped = Arc::new(AtomicBool::new(false));
    let mut watcher = Watcher { stopped: Arc::clone(&stopped), object: given.object(py) };
    let report = job::run(py, &mut watcher, move |ask| {
        let input = given.open(ask)?;
        let input = input.through(|text| Box::new(Stoppable { text, stopped }));
        // Names of files are relative to the current folder, as for standard input.
        let path = path.as_deref().map_or(Path::new("-"), as_file);
        check_files(input, path, folders.as_ref(), &options)
    })?;
    let report = report.map_err(|error| errors::of_file(py, &name, &error))?;
    let mut files: Vec<String> =
        report.files.iter().map(|file| file.path.display().to_string()).collect();
    if let Some(first) = files.first_mut() {
        *first = name.display().to_string();
    }
    made(py, &report, &files)
}

fn made<'py>(py: Python<'py>, report: &Report, files: &[String]) -> PyResult<Bound<'py, PyAny>> {
    let problems = report.findings.iter().map(|finding| finding_of(py, files, finding));
    let problems: Vec<_> = problems.collect::<PyResult<_>>()?;
    let summary = PyDict::new(py);
    let held = &report.summary;
    summary.set_item("lines", held.lines)?;
    summary.set_item("bytes", held.bytes)?;
    summary.set_item("start", held.times.map(|(start, _)| start))?;
    summary.set_item("end", held.times.map(|(_, end)| end))?;
    summary.set_item("event_definitions", held.event_definitions)?;
    summary.set_item("types", held.types.len().saturating_sub(1))?;
    summary.set_item("containers", held.containers.len().saturating_sub(1))?;
    summary.set_item("states", held.states)?;
    summary.set_item("variables", held.variables)?;
    summary.set_item("events", held.events)?;
    summary.set_item("links", held.links)?;
    summary.set_item("values", held.values)?;
    let fields = PyDict::new(py);
    fields.set_item("problems", problems)?;
    fields.set_item("error_count", report.errors)?;
    fields.set_item("warning_count", report.warnings)?;
    fields.set_item("files", files)?;
    fields.set_item("summary", summary)?;
    fields.set_item("text", text(files, report)?)?;
    py.import("pajereplay._records")?.getattr("Report")?.call((), Some(&fields))
}

fn finding_of<'py>(
    py: Python<'py>,
    files: &[String],
    finding: &Finding,
) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    fields.set_item("severity", finding.severity.name())?;
    fields.set_item("code", finding.code())?;
    fields.set_item("message", finding.cause.to_string())?;
    fields.set_item("file", files.get(finding.file))?;
    fields.set_item("line", finding.line())?;
    fields.set_item("column", finding.position.map(|position| position.column))?;
    fields.set_item("count", finding.count)?;
    let note = finding.note.as_deref().map(|note| note.replace("--files-from ", "files_from="));
    fields.set_item("note", note)?;
    if let (Some(position), Some(excerpt)) = (finding.position, &finding.excerpt) {
        let lines = below(excerpt, position.line, position.column, finding.width);
        fields.set_item("excerpt", lines)?;
    }
    record(&fields)
}

/// Returns a line with carets below the offending text.
fn below(excerpt: &Excerpt, line: u64, column: u64, width: u64) -> String {
    let shown = excerpt.shown(column, width);
    let line = line.to_string();
    let margin = " ".repeat(line.len());
    let (indent, carets) = (" ".repeat(shown.indent), "^".repeat(shown.width));
    format!(" {line} | {}\n {margin} | {indent}{carets}", shown.text)
}

fn text(files: &[String], report: &Report) -> io::Result<String> {
    let mut out = Vec::new();
    let files = files.iter().map(|file| Escaped(file.as_bytes()).to_string()).collect();
    let mut human = Human::new(&mut out, files, Styles::default());
    human.verdict(report, report.is_valid(), true)?;
    human.findings(&report.findings, false)?;
    human.remarks(report)?;
    human.summary(report)?;
    human.hint(report)?;
    human.finish()?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}
