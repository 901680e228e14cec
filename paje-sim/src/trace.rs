//! A replayed trace.

pub(crate) mod annotations;
mod container_tree;
pub(crate) mod lane;
pub(crate) mod order;
pub mod portion;
pub mod rows;
pub(crate) mod selected;
mod type_tree;
pub(crate) mod visit;
pub(crate) mod walk;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use paje_parser::definition::Sequence;
use paje_parser::{DefTable, EventDef, TypeNature};

use crate::trace::annotations::EventFields;
use crate::trace::lane::LaneView;
use paje_model::memory::LineNumber;
use paje_model::memory::finished::FinishedRows;
use paje_model::model::Model;
use paje_model::model::containers::Containers;
use paje_model::model::types::Types;
use paje_model::names::error::Warning;
use paje_model::names::ids::{ContainerId, LaneId, TypeId};
use paje_model::names::options::Keeps;
use paje_model::names::progress::Times;
use paje_model::names::recovered::Recovery;
use paje_model::names::time_unit::{TimeScale, TimeUnit};
use paje_model::names::usage::Usage;

/// Everything that a trace says happened: types, containers, and the objects of every lane.
///
/// [`Trace::walk`](crate::visit) goes through it in output order.
#[derive(Debug)]
pub struct Trace {
    pub(crate) model: Model,
    pub(crate) rows: FinishedRows,
    defs: Arc<DefTable>,
    warnings: Vec<Warning>,
    end: f64,
    times_of_lines: Vec<f64>,
    read: Counted,
    pub(crate) recovery: Recovery,
    pub(crate) files: Vec<Option<Arc<Path>>>,
    pub(crate) comments: Vec<u8>,
    pub(crate) usage: Option<Box<Usage>>,
    pub(crate) time_unit: Option<TimeUnit>,
    /// Number of objects shown since the trace was replayed, if some lie in a file.
    shown: AtomicU64,
}

/// After so many objects we let go of what we have in memory of a temporary file, if there is one: some ten
/// megabytes.
const RELIEF: u64 = 1 << 18;

/// Numbers of lines and bytes that were read, and the time that took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) events: u64,
    pub(crate) times: Times,
}

/// Numbers of objects of a trace by nature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // The natures are the format's own.
pub struct Counts {
    pub containers: u64,
    pub states: u64,
    pub variables: u64,
    pub events: u64,
    pub links: u64,
}

impl Trace {
    pub(crate) fn new(
        model: Model,
        rows: FinishedRows,
        defs: Arc<DefTable>,
        warnings: Vec<Warning>,
        end: f64,
        times_of_lines: Vec<f64>,
        read: Counted,
    ) -> Self {
        let recovery = Recovery::default();
        let (files, comments, shown) = (Vec::new(), Vec::new(), AtomicU64::new(0));
        Trace {
            model,
            rows,
            defs,
            warnings,
            end,
            times_of_lines,
            read,
            recovery,
            files,
            comments,
            usage: None,
            time_unit: None,
            shown,
        }
    }

    /// The types and their values.
    #[must_use]
    pub fn types(&self) -> &Types {
        &self.model.types
    }

    /// Returns the conversion of times to seconds: by the unit in [`Options`](crate::Options), or
    /// that of the program that wrote the trace.
    #[must_use]
    pub fn time_scale(&self) -> TimeScale {
        TimeScale::new(self.types(), self.time_unit)
    }

    /// The containers.
    #[must_use]
    pub fn containers(&self) -> &Containers {
        &self.model.containers
    }

    /// The event definitions, in the order of their ends.
    #[must_use]
    pub fn defs(&self) -> &Sequence<Arc<EventDef>> {
        self.defs.defs()
    }

    /// Doubts, by kind and definition.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Problems, and what was made of each, if [`Options::recover`](crate::Options::recover) asked for that.
    #[must_use]
    pub fn recovered(&self) -> &Recovery {
        &self.recovery
    }

    /// The end of the trace, in seconds: its latest time, or where it was to stop.
    #[must_use]
    pub fn end(&self) -> f64 {
        self.end
    }

    /// The times of all event lines, in seconds: in order, each once. Those of lines that are ignored, or
    /// that change nothing, are among them; those later than the replay was to stop are not. There are
    /// none unless [`Options::keep_times`](crate::Options::keep_times) is set.
    #[must_use]
    pub fn times_of_lines(&self) -> &[f64] {
        &self.times_of_lines
    }

    /// Number of event lines that were read, definitions of types and the like included.
    #[must_use]
    pub fn event_lines(&self) -> u64 {
        self.read.events
    }

    /// Number of lines that were read, empty ones, comments and definitions included.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.read.lines
    }

    /// Number of bytes of text that were read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.read.bytes
    }

    /// Lets go of memory, if the replay had a [limit](paje_model::names::options::MemoryLimit) and more is taken:
    /// what goes through a trace larger than that need not call it, since that is done now and then.
    pub fn relieve(&self) {
        self.rows.relieve();
    }

    /// The same, after many calls: so many objects are to be shown.
    pub(crate) fn relieve_now_and_then(&self, objects: usize) {
        if self.spilled() == 0 {
            return;
        }
        let objects = objects as u64;
        let before = self.shown.fetch_add(objects, Ordering::Relaxed);
        if before / RELIEF != (before + objects) / RELIEF {
            self.relieve();
        }
    }

    /// Number of bytes of a temporary file that hold objects that were beyond the limit of memory.
    #[must_use]
    pub fn spilled(&self) -> u64 {
        self.rows.spilled()
    }

    /// Times that reading and replaying took.
    #[must_use]
    pub fn times(&self) -> &Times {
        &self.read.times
    }

    /// The objects of one type in one container, if there is or was any event for them.
    #[must_use]
    pub fn lane(&self, container: ContainerId, type_: TypeId) -> Option<LaneView<'_>> {
        let id = self.model.find_lane(container, type_)?;
        Some(LaneView::new(self, id))
    }

    /// All lanes, in the order of their first events.
    pub fn lanes(&self) -> impl Iterator<Item = LaneView<'_>> {
        (0..self.model.lanes.len() as u32).map(|lane| LaneView::new(self, LaneId(lane)))
    }

    /// Number of objects; containers without the root.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts =
            Counts { containers: self.containers().len() as u64 - 1, ..Counts::default() };
        for lane in self.lanes() {
            match lane.nature() {
                TypeNature::Container => {}
                TypeNature::State => counts.states += lane.len(),
                TypeNature::Variable => counts.variables += lane.len(),
                TypeNature::Event => counts.events += lane.len(),
                TypeNature::Link => counts.links += lane.len(),
            }
        }
        counts
    }

    /// The user-defined fields of the event that created a container: name, and text as it was
    /// written. There are none unless the options ask for them.
    pub fn container_fields(&self, id: ContainerId) -> impl Iterator<Item = (&str, &[u8])> {
        let event = self.container_event(id).into_iter();
        event.flat_map(|fields| {
            self.defs()[fields.def()].extras().map(|(name, _)| name).zip(fields.texts())
        })
    }

    /// The same as the fields of an event.
    #[must_use]
    pub fn container_event(&self, id: ContainerId) -> Option<EventFields<'_>> {
        self.containers().extras(id).map(|(def, text)| EventFields::new(def, text))
    }

    /// Tells whether any user-defined field was kept.
    #[must_use]
    pub fn has_user_defined(&self) -> bool {
        self.keeps().fields
    }

    /// Tells whether the lines of objects were kept.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        self.keeps().lines
    }

    fn keeps(&self) -> Keeps {
        self.rows.keeps()
    }

    /// The line that created a container, if [lines](crate::Options::keep_lines) were kept; the root has none.
    #[must_use]
    pub fn container_line(&self, id: ContainerId) -> Option<LineNumber> {
        self.containers().line(id).filter(|_| self.has_lines())
    }

    /// The comments that the trace begins with, each in a line without its `#`: programs that write traces
    /// tell there who they are and how they were called. Of long ones, the first kilobytes.
    #[must_use]
    pub fn comments(&self) -> &[u8] {
        &self.comments
    }

    /// Use that the trace makes of its definitions, if [that](crate::Options::usage) was kept; in a portion, so far.
    #[must_use]
    pub fn usage(&self) -> Option<&Usage> {
        self.usage.as_deref()
    }

    /// Tells whether nothing in the trace is doubtful, and no line of it says how another is shown but for definitions, containers and what a row begins and
    /// ends with: it may be read in parts. Known if [`Options::usage`](crate::Options::usage) asked for it; else it is not so.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let Some(usage) = self.usage() else { return false };
        // A value that no line defines has the quotes of its first use; only a definition gives a colour.
        let types = self.types();
        let is_defined = |id| types.values(id).all(|value| types.value_color(id, value).is_some());
        !usage.is_doubtful() && usage.other_quoting().all(|(id, _)| is_defined(id))
    }

    /// The files that the trace is in, in the order of reading. The trace itself, which comes first, has no
    /// path.
    #[must_use]
    pub fn files(&self) -> &[Option<Arc<Path>>] {
        &self.files
    }

    pub(crate) fn nature(&self, lane: LaneId) -> TypeNature {
        self.model.nature(lane)
    }
}
