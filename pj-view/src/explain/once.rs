//! Computes the analyses once, in the background.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use paje_workers::Workers;

use super::{Explained, TasksFile};
use crate::view::View;

/// Analyses that start when they are first needed.
#[derive(Clone, Debug)]
pub(crate) struct Once {
    workers: Arc<Workers>,
    tasks: TasksFile,
    memory: Option<u64>,
    is_started: Arc<AtomicBool>,
    found: Arc<OnceLock<Explained>>,
}

impl Once {
    pub(crate) fn new(workers: &Arc<Workers>, tasks: TasksFile, memory: Option<u64>) -> Self {
        let (is_started, found) = Default::default();
        Once { workers: Arc::clone(workers), tasks, memory, is_started, found }
    }

    /// Returns the results if they have been computed.
    pub(crate) fn found(&self) -> Option<&Explained> {
        self.found.get()
    }

    /// Returns the results. If they have not been computed, starts a thread that computes them, and
    /// returns `None`.
    pub(crate) fn start(&self, view: &Arc<View>) -> Option<&Explained> {
        if !self.is_started.swap(true, Ordering::Relaxed) {
            let (own, view) = (self.clone(), Arc::clone(view));
            let work = move || {
                let of = || Explained::of(&view, &own.tasks, own.memory, &own.workers);
                let explained = catch_unwind(AssertUnwindSafe(of))
                    .unwrap_or_else(|_| Explained::refused("the analysis failed"));
                let _ = own.found.set(explained);
            };
            if let Err(error) = thread::Builder::new().name("analysis".into()).spawn(work) {
                let why = format!("cannot start a thread for the analysis: {error}");
                let _ = self.found.set(Explained::refused(&why));
            }
        }
        self.found()
    }
}
