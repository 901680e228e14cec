//! Files that describe a trace and lie beside it.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use splitter::{Folders, Input, Kind};

use crate::Failure;
use crate::options::NamedFiles;

/// Name of StarPU's description of tasks.
const TASKS: &str = "tasks.rec";

/// StarPU's description of the tasks of a run.
#[derive(Args, Clone, Debug, Default)]
pub struct Tasks {
    /// StarPU's description of the tasks (default: tasks.rec beside a trace of StarPU)
    ///
    /// starpu_fxt_tool writes it. It may be compressed. --no-files ignores the file beside the trace
    #[arg(long, value_name = "FILE")]
    pub tasks: Option<PathBuf>,
}

impl Tasks {
    /// Returns the file with the tasks of this trace: the given one, or the one in the trace's folder if there is one.
    #[must_use]
    pub fn file(&self, trace: Option<&Path>, named: &NamedFiles) -> Option<PathBuf> {
        let trace = trace.filter(|trace| *trace != Path::new("-") && !named.no_files);
        let beside = || trace.map(|trace| trace.with_file_name(TASKS)).filter(|it| it.exists());
        self.tasks.clone().or_else(beside)
    }

    /// Opens such a file. A file beside the trace must be in its folder, links resolved, because it may come from a
    /// stranger.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(&self, file: &Path) -> Result<BufReader<Box<dyn Read + Send>>, Failure> {
        let input = match self.tasks {
            Some(_) => Input::open(Some(file)),
            None => Input::open_named(file, &Folders::of([file])),
        };
        let input = input.map_err(|error| Failure::File(file.to_owned(), error))?;
        Ok(BufReader::new(match input.into_kind() {
            Kind::File(file, _) => Box::new(file),
            Kind::Stream(reader) => reader,
        }))
    }
}
