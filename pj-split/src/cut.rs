//! `--start` and `--end`: writes a window of time to a file, or passes it on to be split. With
//! `--recover`, the window is the whole recovered trace.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use paje_console::Failure;
use paje_console::memory;
use paje_console::output::refuse_inputs;
use paje_console::progress::Display;
use paje_console::reading;
use paje_export::paje::Form;
use paje_sim::{Opened, Precision, TimeRange, Trace};
use paje_workers::Workers;
use splitter::Limits;

use crate::cli::Cli;
use crate::folder::Folder;
use crate::pack::Packer;
use crate::report::VOICE;
use crate::run::{one_file, options};
use crate::window;

const NAME: &str = "window.trace";

pub(crate) struct Cut<'a> {
    pub(crate) cli: &'a Cli,
    pub(crate) name: &'a Path,
    pub(crate) limits: Limits,
    pub(crate) workers: &'a Workers,
    pub(crate) window: TimeRange,
    pub(crate) began: Instant,
}

pub(crate) fn window(cli: &Cli, name: &Path) -> Result<Option<TimeRange>, Failure> {
    if !cli.span.is_asked() && !cli.recover {
        return Ok(None);
    }
    let window = cli.span.window();
    if window.from > window.to {
        let why = format!("--start {} is later than --end {}", window.from, window.to);
        return Err(Failure::Unsuitable(name.to_owned(), why));
    }
    Ok(Some(window))
}

impl Cut<'_> {
    pub(crate) fn to_file(&self, opened: Opened, ends_at_signals: bool) -> Result<(), Failure> {
        let input: Vec<_> = self.cli.file.iter().collect();
        refuse_inputs(&input, [self.cli.output.as_path()])?;
        // The folder is created first, so that an unusable output path is reported before a long
        // replay.
        let folder = Folder::beside_file(&self.cli.output, ends_at_signals)?;
        folder.report_cleared(self.cli.talk);
        let trace = self.replay(opened)?;
        let path = folder.path().join(NAME);
        let failed = |error| Failure::File(path.clone(), error);
        let file = File::create_new(&path).map_err(failed)?;
        let packer = Packer::new(self.cli.compress).map_err(failed)?;
        self.write(&trace, Packed { packer, file: &file }, &path)?;
        file.sync_all().map_err(failed)?;
        folder.finish_file(&path)
    }

    /// Writes the window to an unnamed file in `folder`, and opens this file as a trace. Also
    /// returns whether the whole trace was sound.
    pub(crate) fn to_folder(
        &self,
        opened: Opened,
        folder: &Folder,
    ) -> Result<(Opened, bool), Failure> {
        let path = folder.path().join(NAME);
        let failed = |error| Failure::File(path.clone(), error);
        let trace = self.replay(opened)?;
        let mut file = File::create_new(&path).map_err(failed)?;
        self.write(&trace, &mut file, &path)?;
        let opened = reading::open(&[&path], None, VOICE)?;
        fs::remove_file(&path).map_err(failed)?;
        Ok((opened, trace.recovered().problems.is_empty()))
    }

    fn precision(&self) -> Precision {
        self.cli.variables.precision(Precision::Single)
    }

    fn replay(&self, opened: Opened) -> Result<Trace, Failure> {
        let mut options = options(self.cli, self.limits);
        options.memory = memory::limit(None, None);
        options.variable_precision = self.precision();
        options.user_defined = self.cli.recover;
        let display = Display::new(!self.cli.talk.no_progress, self.began);
        let trace = reading::replay(opened, &options, self.workers, display)?;
        if !self.cli.talk.warnings.no_warnings {
            VOICE.warnings(self.name, &trace);
            VOICE.empty_window(self.window, &trace, "only the root is in it");
        }
        one_file(self.name, &trace)?;
        VOICE.recovered(
            self.name,
            &trace,
            "split",
            "`pj_split --sort --recover` keeps events that come too late",
        );
        Ok(trace)
    }

    fn write(&self, trace: &Trace, out: impl Write + Send, path: &Path) -> Result<(), Failure> {
        let mut out = BufWriter::with_capacity(1 << 20, out);
        let form = Form { order: self.cli.quotes.order(), precision: self.precision() };
        let written = window::write(trace, self.window, form, self.workers, &mut out);
        let written = written.and_then(|done| out.flush().map(|()| done));
        match written.map_err(|error| Failure::File(path.to_owned(), error))? {
            true => Ok(()),
            false => Err(Failure::Unsuitable(
                self.name.to_owned(),
                "cannot cut a window: events in it are out of time order; try --sort".into(),
            )),
        }
    }
}

struct Packed<'a> {
    packer: Packer,
    file: &'a File,
}

impl Write for Packed<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.file.write_all(self.packer.pack(text)?)?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
