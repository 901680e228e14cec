//! Tasks of a run of StarPU: what workers did, why they idled, and how fast the run could have been.
//!
//! The tasks come from the trace and from StarPU's file `tasks.rec`, which has their dependencies and submissions (see
//! [`TaskRun`]). A worker *fits* a task if workers of its kind executed tasks of the same type, that is, tasks with the
//! same kernel and the same sizes of data.

mod bounds;
mod idle;
mod path;
mod report;
mod timeline;

pub use bounds::{Bounds, area};
pub use idle::{Delay, Reason, Usage};
pub use paje_comm::tasks::{
    Access, Execution, Job, Record, Records, Task, TaskRun, TaskType, TasksError, Worker,
};
pub use path::{Part, TaskPath, What};

/// Why little is known about a run of StarPU without the file of its tasks.
pub const NO_FILE: &str = "StarPU's traces do not record which task waits for which; the file tasks.rec does, which \
                           starpu_fxt_tool writes beside the trace";

/// Results for the tasks of a run.
#[derive(Clone, Debug)]
pub struct Findings<'t> {
    /// The tasks.
    pub run: TaskRun<'t>,
    /// Start of the first and end of the last execution.
    pub span: (f64, f64),
    /// Part of this time that was analysed.
    pub window: (f64, f64),
    /// Bounds on the makespan.
    pub bounds: Bounds,
    /// What each worker did in the window.
    pub usage: Vec<Usage>,
    /// Delays of each task.
    pub delays: Vec<Delay>,
    /// The part of the critical path in the window.
    pub path: TaskPath,
}

impl<'t> Findings<'t> {
    /// Analyses the tasks of a run in a window of time. Returns `None` if no task was executed.
    #[must_use]
    pub fn new(run: TaskRun<'t>, window: (f64, f64)) -> Option<Self> {
        let span = run.span()?;
        let window = (window.0.max(span.0), window.1.min(span.1));
        let (usage, delays) = idle::find(&run, window);
        let (bounds, path) = (Bounds::new(&run), TaskPath::new(&run, span).within(window));
        Some(Findings { span, window, bounds, usage, delays, path, run })
    }

    /// Returns the tasks that were executed in the window.
    pub(crate) fn executed(&self) -> impl Iterator<Item = (u32, &Task, Execution)> {
        let (from, until) = self.window;
        self.run.executed().filter(move |(_, _, it)| it.start < until && it.end > from)
    }
}
