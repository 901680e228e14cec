//! The files of a trace. A file may refer to other files.
//!
//! Files are read one after another: the trace itself, then the files that it refers to, in order, then the files that
//! those files refer to. So all definitions of a file are known before the files that it refers to are read.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use splitter::Folders;

use paje_model::names::error::{Error, ErrorKind, Place, Problem};
use paje_model::names::hash::TextSet;
use paje_model::names::progress::Progress;

#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Number of the file in the order of reading. The trace itself is file 0.
    pub file: u32,
    /// Number of the file that refers to this file.
    pub(crate) parent: u32,
    /// Total size in bytes of the previous files.
    pub start: u64,
    /// Path of the file, or `None` for the trace itself.
    pub path: Option<Arc<Path>>,
}

#[derive(Debug)]
pub struct Queued {
    pub(crate) number: u32,
    pub(crate) parent: u32,
    pub(crate) path: Arc<Path>,
    /// Folders that must contain the file, if the trace refers to it.
    pub(crate) folders: Option<Arc<Folders>>,
}

#[derive(Debug)]
pub struct Files {
    /// Folders that may contain the files to which the trace refers, or `None` if such files are not read.
    folders: Option<Arc<Folders>>,
    all: Vec<File>,
    known: FxHashMap<PathBuf, u32>,
    /// The current file, and the files that it has referred to so far. Many containers may name the same file.
    named_by: (u32, TextSet<Vec<u8>>),
    queue: Vec<Queued>,
}

#[derive(Debug)]
struct File {
    path: Option<Arc<Path>>,
    parent: u32,
    named_at: Option<Place>,
}

impl Files {
    /// Creates a list with only the trace itself. A stream has no path.
    pub fn new(root: Option<&Path>, folders: Option<Folders>) -> Self {
        let known = root.and_then(|path| path.canonicalize().ok());
        let path = root.map(Arc::from);
        Files {
            folders: folders.map(Arc::new),
            all: vec![File { path, parent: 0, named_at: None }],
            known: known.into_iter().map(|path| (path, 0)).collect(),
            named_by: (0, TextSet::default()),
            queue: Vec::new(),
        }
    }

    pub const fn are_wanted(&self) -> bool {
        self.folders.is_some()
    }

    /// Returns whether the trace refers to the file. Such a file need not be a trace.
    pub fn is_named(&self, file: u32) -> bool {
        self.all[file as usize].named_at.is_some()
    }

    /// Adds a file to which file `by` refers at `place`, if such files are read.
    ///
    /// # Errors
    /// The file does not exist, may not be named, or is `by` or one of its ancestors.
    pub fn name(
        &mut self,
        by: u32,
        name: &[u8],
        progress: &Progress,
        place: impl FnOnce() -> Place,
    ) -> Result<(), ErrorKind> {
        if self.named_by.0 != by {
            self.named_by = (by, TextSet::default());
        }
        if self.named_by.1.contains(name) {
            return Ok(());
        }
        let Some(folders) = &self.folders else { return Ok(()) };
        let folder = self.all[by as usize].path.as_deref().and_then(Path::parent);
        let path = folder.unwrap_or(Path::new("")).join(OsStr::from_bytes(name));
        let found = folders.find(&path);
        let found = found.map_err(|error| ErrorKind::File { path: path.clone(), error })?;
        match self.known.get(&found) {
            Some(known) if self.ancestors(by).any(|ancestor| ancestor == *known) => {
                return Err(ErrorKind::Invalid(Problem::FileCycle { name: name.to_vec() }));
            }
            Some(_) => {}
            None => self.push(by, Arc::from(path), found, Some(place()), progress),
        }
        self.named_by.1.insert(name.to_vec());
        Ok(())
    }

    /// Adds a file that belongs to the trace although the trace does not refer to it.
    ///
    /// # Errors
    /// The file does not exist.
    pub fn add(&mut self, path: &Path, progress: &Progress) -> Result<(), Error> {
        let found = path.canonicalize().map_err(|error| {
            Error::new(ErrorKind::File { path: path.to_path_buf(), error }, None)
        })?;
        if !self.known.contains_key(&found) {
            self.push(0, Arc::from(path), found, None, progress);
        }
        Ok(())
    }

    fn push(
        &mut self,
        parent: u32,
        path: Arc<Path>,
        found: PathBuf,
        named_at: Option<Place>,
        progress: &Progress,
    ) {
        let size = found.metadata().ok().filter(|file| file.is_file());
        progress.expect(size.map_or(0, |file| file.len()));
        let number = self.all.len() as u32;
        let folders = self.folders.clone().filter(|_| named_at.is_some());
        self.queue.push(Queued { number, parent, path: Arc::clone(&path), folders });
        self.all.push(File { path: Some(path), parent, named_at });
        self.known.insert(found, number);
    }

    /// Returns the file, the file that refers to it, and so on up to the trace itself.
    fn ancestors(&self, file: u32) -> impl Iterator<Item = u32> + '_ {
        let parent = |file: &u32| (*file > 0).then(|| self.all[*file as usize].parent);
        std::iter::successors(Some(file), parent)
    }

    pub fn take_queue(&mut self) -> Vec<Queued> {
        std::mem::take(&mut self.queue)
    }

    pub fn any(&self) -> bool {
        self.all.len() > 1
    }

    /// Returns whether a file refers to other files.
    pub fn has_children(&self, file: u32) -> bool {
        // Files are in the order of the files that refer to them.
        self.any() && self.all.last().is_some_and(|last| last.parent == file)
    }

    pub fn path(&self, file: u32) -> Option<Arc<Path>> {
        self.all[file as usize].path.clone().filter(|_| file > 0)
    }

    pub fn paths(&self) -> Vec<Option<Arc<Path>>> {
        (0..self.all.len() as u32).map(|file| self.path(file)).collect()
    }

    pub fn explain(&self, origin: &Origin, error: Error) -> Error {
        error.in_whole_file(|io| self.unreadable(origin.file, io), origin.path.as_ref())
    }

    pub fn unreadable(&self, file: u32, error: io::Error) -> Error {
        match &self.all[file as usize] {
            File { path: Some(path), named_at, .. } if file > 0 => {
                let kind = ErrorKind::File { path: path.to_path_buf(), error };
                Error::new(kind, named_at.clone())
            }
            _ => error.into(),
        }
    }
}
