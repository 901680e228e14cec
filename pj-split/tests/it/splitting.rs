//! Splits traces in tests.

use std::fs;
use std::io::Read;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Parser;
use paje_sim::Trace;
use pj_split::cli::Cli;
use pj_split::run;
use splitter::{Input, Limits};
use testkit::Sandbox;

use crate::rows::{dump_files, options, rows};

pub(crate) struct Place(Sandbox);

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) root: Vec<u8>,
    pub(crate) pieces: Vec<Vec<u8>>,
}

impl Place {
    pub(crate) fn new(trace: &[u8]) -> Self {
        Place(Sandbox::new(env!("CARGO_BIN_EXE_pj_split"), &[("t", trace)]))
    }

    pub(crate) fn split(&self, options: &[&str], block: usize) -> Split {
        let (trace, output) = (self.path("t"), self.path("d"));
        let words = ["pj_split".as_ref(), trace.as_os_str(), "-o".as_ref(), output.as_os_str()];
        let more = options.iter().map(std::convert::AsRef::as_ref);
        let cli = Cli::parse_from(words.into_iter().chain(more));
        let limits = Limits { block, ..Limits::default() };
        assert_eq!(run::main_with(&cli, limits), ExitCode::SUCCESS);
        let split = Split::read(&output);
        self.check_whole(&output, options.contains(&"--sort"));
        self.remove("d");
        assert_eq!(self.names(), ["t"]);
        split
    }

    /// Checks that the dump of the root file, and the dump of all pieces together, equal the dump
    /// of the trace.
    fn check_whole(&self, folder: &Path, sorted: bool) {
        static TURN: AtomicUsize = AtomicUsize::new(0);
        let threads = 1 + TURN.fetch_add(1, Ordering::Relaxed) % 4;
        let trace = self.read("t");
        let mut sorting = options();
        sorting.sort = sorted;
        let wanted = rows(&Trace::read(&trace[..], &sorting).expect("a valid trace"));
        let mut pieces = files(folder);
        let root = pieces.pop().expect("there is a root");
        for (files, about) in [(vec![root], "root"), (pieces, "pieces")] {
            let found = dump_files(&files, &options(), threads);
            for (found, wanted) in found.iter().zip(&wanted) {
                assert_eq!(found, wanted, "{about}, {threads} threads");
            }
            assert_eq!(found.len(), wanted.len(), "{about}, {threads} threads");
        }
    }

    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the program runs")
    }
}

impl Deref for Place {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.0
    }
}

impl Split {
    pub(crate) fn read(folder: &Path) -> Self {
        let mut names = files(folder);
        let root = names.pop().expect("there is a root");
        assert!(root.ends_with("root.trace"), "{names:?}");
        for (number, name) in names.iter().enumerate() {
            let text = name.to_string_lossy();
            assert!(text.contains(&format!("/piece-{number:03}.trace")), "{names:?}");
        }
        let read = |path: PathBuf| {
            let mut text = Vec::new();
            let mut input = Input::open(Some(&path)).expect("readable");
            input.read_to_end(&mut text).expect("sound");
            text
        };
        Split { pieces: names.into_iter().map(read).collect(), root: read(root) }
    }
}

/// Returns the files of a split: the pieces in the order of their numbers, then the root file.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    names.sort();
    names
}
