//! Files that a trace names. This module decides which are read, and in which order.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use paje_parser::error::shown_path;
use paje_parser::{Field, FieldName};
use paje_sim::error::{Problem, WarningKind};
use splitter::{Folders, Input, Refusal, cause};

use super::findings::{self, Group};
use super::header::Header;
use super::place::Place;
use super::source::Source;
use super::stop::{Checked, Map, Stop, map};
use crate::finding::{Cause, Finding, Severity};

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileRead {
    /// Path relative to the naming file's folder. For the first file, the path as given.
    pub path: PathBuf,
    /// Number of lines, including blank ones and comments.
    pub lines: u64,
    /// Number of bytes, without the last newline.
    pub bytes: u64,
    /// Whether the file ends inside a line or a definition.
    pub truncated: bool,
    /// Whether the file can be read again, which is impossible for pipes.
    pub(crate) again: bool,
    /// Folders that must contain the file, or `None` for the trace itself.
    folders: Option<Arc<Folders>>,
}

#[derive(Debug)]
pub(crate) struct Files {
    /// Folders that must contain named files, or `None` if named files are not read.
    folders: Option<Arc<Folders>>,
    /// Files in the order of reading. The last one is the current file.
    pub(crate) read: Vec<FileRead>,
    /// For each opened file, its number, and the index of the file that first named it.
    chain: Vec<(Option<u32>, Option<usize>)>,
    known: Map<PathBuf, u32>,
    waiting: VecDeque<Named>,
    here: Map<Box<[u8]>, Outcome>,
}

#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) path: PathBuf,
    folders: Arc<Folders>,
    file: u32,
    /// Where another file names this one for the first time. The name is `width` bytes long.
    place: Place,
    width: u64,
    /// Event definitions in effect at the end of the naming file.
    pub(crate) header: Option<Rc<Header>>,
}

#[derive(Clone, Debug)]
enum Outcome {
    Read,
    Cycle,
    Unreadable(PathBuf, Reason),
}

type Reason = (String, Option<String>);

impl Files {
    /// Starts with the file `path`. Names in standard input (`-`) are relative to the current
    /// folder.
    pub(crate) fn of(path: &Path, again: bool, folders: Option<&Folders>) -> Self {
        let first = FileRead {
            path: path.to_owned(),
            lines: 0,
            bytes: 0,
            truncated: false,
            again,
            folders: None,
        };
        let mut files = Files {
            folders: folders.map(|folders| Arc::new(folders.clone())),
            read: vec![first],
            chain: vec![(None, None)],
            known: map(),
            waiting: VecDeque::new(),
            here: map(),
        };
        if path != Path::new("-")
            && let Ok(true_path) = fs::canonicalize(path)
        {
            files.known.insert(true_path, 0);
            files.chain[0].0 = Some(0);
        }
        files
    }

    pub(crate) fn current(&self) -> u32 {
        self.read.len() as u32 - 1
    }

    pub(crate) const fn are_wanted(&self) -> bool {
        self.folders.is_some()
    }

    pub(crate) fn any_named(&self) -> bool {
        self.read.len() > 1 || !self.here.is_empty()
    }

    /// Notes that the current file names `name`, which must be in `folders`.
    fn name(&mut self, name: &[u8], place: Place, folders: Arc<Folders>) -> Outcome {
        if let Some(outcome) = self.here.get(name) {
            return outcome.clone();
        }
        let path = self.path_of(name);
        let outcome = match folders.find(&path) {
            Err(error) => Outcome::Unreadable(path, reason(&error)),
            Ok(true_path) => {
                // The number 0 is the trace itself, even if it has no path.
                let new = self.known.len() as u32 + 1;
                let file = *self.known.entry(true_path).or_insert(new);
                if self.is_being_read(file) {
                    Outcome::Cycle
                } else {
                    if file == new {
                        let width = name.len() as u64;
                        let header = None;
                        let named = Named { path, folders, file, place, width, header };
                        self.waiting.push_back(named);
                    }
                    Outcome::Read
                }
            }
        };
        self.here.insert(name.into(), outcome.clone());
        outcome
    }

    fn path_of(&self, name: &[u8]) -> PathBuf {
        let from = &self.read[self.read.len() - 1].path;
        let folder = from.parent().filter(|_| from != Path::new("-"));
        folder.unwrap_or(Path::new("")).join(OsStr::from_bytes(name))
    }

    /// Returns whether a file is the current file or one of those through which the current file
    /// was named.
    fn is_being_read(&self, file: u32) -> bool {
        let mut at = Some(self.read.len() - 1);
        while let Some(index) = at {
            if self.chain[index].0 == Some(file) {
                return true;
            }
            at = self.chain[index].1;
        }
        false
    }

    pub(crate) fn end(&mut self, header: &mut Header, known: (u64, u64, bool)) {
        if let Some(file) = self.read.last_mut() {
            (file.lines, file.bytes, file.truncated) = known;
        }
        self.here.clear();
        let mut new = self.waiting.iter_mut().rev().take_while(|named| named.header.is_none());
        if let Some(last) = new.next() {
            let header = Rc::new(header.take());
            last.header = Some(Rc::clone(&header));
            new.for_each(|named| named.header = Some(Rc::clone(&header)));
        }
    }

    pub(crate) fn next(&mut self) -> Option<Named> {
        self.waiting.pop_front()
    }

    pub(crate) fn begin(&mut self, named: &Named, again: bool) {
        let path = named.path.clone();
        let folders = Some(Arc::clone(&named.folders));
        self.read.push(FileRead { path, lines: 0, bytes: 0, truncated: false, again, folders });
        self.chain.push((Some(named.file), Some(named.place.file as usize)));
    }
}

impl FileRead {
    pub(crate) fn open(&self) -> io::Result<Input> {
        match &self.folders {
            Some(folders) => Input::open_named(&self.path, folders),
            None => Input::open(Some(&self.path)),
        }
    }
}

impl Named {
    pub(crate) fn open(&self) -> io::Result<Input> {
        Input::open_named(&self.path, &self.folders)
    }

    pub(crate) fn unreadable(&self, error: &io::Error) -> Finding {
        let (reason, note) = reason(error);
        let cause = Cause::Unreadable { path: self.path.clone(), reason };
        let place = Some(self.place);
        Finding { note, ..findings::finding(Severity::Error, cause, place, self.width) }
    }
}

impl Files {
    pub(crate) fn name_file(&mut self, file: Field<'_>, source: &mut Source<'_>) -> Checked<()> {
        let name = file.bare();
        if name.is_empty() {
            return Ok(());
        }
        let field = FieldName::Filename;
        let Some(folders) = self.folders.clone() else {
            source.warn_as_replay(field, WarningKind::FileNotRead);
            return Ok(());
        };
        let file = source.here.file;
        match self.name(name, source.place(field), folders) {
            Outcome::Read => Ok(()),
            Outcome::Cycle => {
                let problem = Problem::FileCycle { name: name.to_vec() };
                Err(Stop::at(field, problem).once(Group::named("file-cycle", file, name)))
            }
            Outcome::Unreadable(path, (reason, note)) => {
                let span = source.event.span(field).unwrap_or_default();
                let cause = Cause::Unreadable { path, reason };
                let finding = source.finding(Severity::Error, cause, span);
                let finding = Finding { note, ..finding };
                let group = Group::named("unreadable-file", file, name);
                source.findings.add(finding, Some(group));
                Ok(())
            }
        }
    }
}

/// Returns the error, without the number that Rust appends, and perhaps a hint.
fn reason(error: &io::Error) -> Reason {
    let folder = Refusal::of(error).and_then(Refusal::folder);
    let note = folder.map(|folder| format!("--files-from {} allows it", shown_path(folder)));
    (cause(error), note)
}
