//! A replayed trace.

pub(crate) mod annotations;
pub(crate) mod container_view;
pub(crate) mod lane;
pub(crate) mod mixed;
pub(crate) mod order;
pub mod portion;
pub mod rows;
pub(crate) mod selected;
pub(crate) mod visit;
pub(crate) mod walk;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use paje_parser::definition::Sequence;
use paje_parser::{DefTable, EventDef, TypeNature};

use crate::trace::annotations::EventFields;
use crate::trace::lane::Lane;
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
use paje_replay::replay::lanes::LinkHalf;

/// Contents of a trace: types, containers, and the objects of every lane.
///
/// [`Trace::rows`] has all rows in output order.
#[derive(Debug)]
pub struct Trace {
    pub(crate) model: Model,
    pub(crate) rows: FinishedRows,
    defs: Arc<DefTable>,
    pub(crate) warnings: Vec<Warning>,
    end: f64,
    pub(crate) times_of_lines: Vec<f64>,
    pub(crate) read: Counted,
    pub(crate) recovery: Recovery,
    pub(crate) files: Vec<Option<Arc<Path>>>,
    pub(crate) comments: Vec<u8>,
    pub(crate) usage: Option<Box<Usage>>,
    pub(crate) time_unit: Option<TimeUnit>,
    scale: OnceLock<TimeScale>,
    pub(crate) link_halves: Vec<LinkHalf>,
    /// Number of objects shown since the replay. Only counted if some objects are in a file.
    shown: AtomicU64,
}

/// Number of shown objects after which memory of the temporary file is released. This number of objects takes about ten
/// megabytes.
const RELIEF: u64 = 1 << 18;

#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) events: u64,
    pub(crate) times: Times,
}

/// Number of objects of a trace by nature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // The natures are the format's own.
pub struct Counts {
    pub containers: u64,
    pub states: u64,
    pub variables: u64,
    pub events: u64,
    pub links: u64,
}

impl Trace {
    pub(crate) fn new(model: Model, rows: FinishedRows, defs: Arc<DefTable>, end: f64) -> Self {
        Trace {
            model,
            rows,
            defs,
            warnings: Vec::new(),
            end,
            times_of_lines: Vec::new(),
            read: Counted::default(),
            recovery: Recovery::default(),
            files: Vec::new(),
            comments: Vec::new(),
            usage: None,
            time_unit: None,
            scale: OnceLock::new(),
            link_halves: Vec::new(),
            shown: AtomicU64::new(0),
        }
    }

    /// Returns the types and their values.
    #[must_use]
    pub fn types(&self) -> &Types {
        &self.model.types
    }

    /// Returns the conversion of times to seconds. It depends on the unit that the reader was
    /// given, or on the program that wrote the trace.
    #[must_use]
    pub fn time_scale(&self) -> TimeScale {
        *self.scale.get_or_init(|| TimeScale::new(self.types(), self.time_unit))
    }

    /// Converts a time of the trace, or a difference of such times, to seconds. Rows with a duration have a method
    /// `seconds`, such as [`State::seconds`](crate::State::seconds).
    #[must_use]
    pub fn seconds(&self, time: f64) -> f64 {
        self.time_scale().seconds(time)
    }

    /// Returns the containers.
    #[must_use]
    pub fn containers(&self) -> &Containers {
        &self.model.containers
    }

    /// Returns the event definitions, in the order in which the definitions end.
    #[must_use]
    #[doc(hidden)]
    pub fn defs(&self) -> &Sequence<Arc<EventDef>> {
        self.defs.defs()
    }

    /// Returns the warnings, by kind and definition.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns the problems from which the replay has recovered, with their remedies, if recovery
    /// (`TraceReader::recover`) is on.
    #[must_use]
    pub fn recovered(&self) -> &Recovery {
        &self.recovery
    }

    /// Returns the end of the trace, in its [unit](Trace::time_scale): the time at which the replay was told to stop,
    /// or the latest time.
    #[must_use]
    pub fn end(&self) -> f64 {
        self.end
    }

    /// Returns the distinct times of all event lines, in order, if
    /// [`Options::keep_times`](crate::Options::keep_times) is set. This includes lines that are ignored or change
    /// nothing, but not lines after [`Options::stop_at`](crate::Options::stop_at).
    #[must_use]
    #[doc(hidden)]
    pub fn times_of_lines(&self) -> &[f64] {
        &self.times_of_lines
    }

    /// Returns the starts and ends of ignored links that lack the other one, in file order, if
    /// [`Options::keep_link_halves`](crate::Options::keep_link_halves) is set.
    #[must_use]
    #[doc(hidden)]
    pub fn link_halves(&self) -> &[LinkHalf] {
        &self.link_halves
    }

    /// Returns the starts of ignored links that lack an end.
    #[doc(hidden)]
    pub fn link_starts(&self) -> impl Iterator<Item = &LinkHalf> {
        self.link_halves.iter().filter(|half| !half.is_end)
    }

    /// Returns the lane of an incomplete link.
    #[must_use]
    #[doc(hidden)]
    pub fn lane_of(&self, half: &LinkHalf) -> Lane<'_> {
        Lane::new(self, half.lane)
    }

    /// Returns a user-defined field of an incomplete link, as written.
    #[must_use]
    #[doc(hidden)]
    pub fn field_of<'t>(&'t self, half: &'t LinkHalf, name: &str) -> Option<&'t [u8]> {
        let (def, text) = half.fields.as_ref()?;
        let mut fields = self.defs()[*def as usize].extras().zip(text.split(|byte| *byte == b'\n'));
        fields.find_map(|((field, _), text)| (field == name).then_some(text))
    }

    /// Returns the number of event lines that were read, including definitions of types, values and containers.
    #[must_use]
    pub fn event_lines(&self) -> u64 {
        self.read.events
    }

    /// Returns the number of lines that were read, including empty lines, comments and event definitions.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.read.lines
    }

    /// Returns the number of bytes of text that were read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.read.bytes
    }

    /// Releases memory if the process exceeds the replay's [limit](paje_model::names::options::MemoryLimit). Iterating
    /// over a large trace does this regularly.
    #[doc(hidden)]
    pub fn relieve(&self) {
        self.rows.relieve();
    }

    /// Releases memory if enough objects have been shown since the last release. `objects` is the number of objects to
    /// be shown next.
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

    /// Returns the size of the temporary file for objects beyond the memory limit, in bytes.
    #[must_use]
    #[doc(hidden)]
    pub fn spilled(&self) -> u64 {
        self.rows.spilled()
    }

    /// Returns the times that reading and replaying took.
    #[must_use]
    #[doc(hidden)]
    pub fn times(&self) -> &Times {
        &self.read.times
    }

    /// Returns the objects of one type in one container, if any event belongs to them.
    #[must_use]
    pub fn lane(&self, container: ContainerId, type_: TypeId) -> Option<Lane<'_>> {
        let id = self.model.find_lane(container, type_)?;
        Some(Lane::new(self, id))
    }

    /// Returns all lanes, in the order of their first events.
    pub fn lanes(&self) -> impl Iterator<Item = Lane<'_>> {
        (0..self.model.lanes.len() as u32).map(|lane| Lane::new(self, LaneId(lane)))
    }

    /// Returns the number of objects by nature. The root container does not count.
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

    /// Returns the user-defined fields of a container's creation: name, and text as written. Empty
    /// if the replay did not keep them (`TraceReader::fields`).
    pub fn container_fields(&self, id: ContainerId) -> impl Iterator<Item = (&str, &[u8])> {
        let event = self.container_event(id).into_iter();
        event.flat_map(|fields| {
            self.defs()[fields.def()].extras().map(|(name, _)| name).zip(fields.texts())
        })
    }

    /// Returns the user-defined fields of a container's creation as an event's fields.
    #[must_use]
    #[doc(hidden)]
    pub fn container_event(&self, id: ContainerId) -> Option<EventFields<'_>> {
        self.containers().extras(id).map(|(def, text)| EventFields::new(def, text))
    }

    /// Returns whether any user-defined field was kept.
    #[must_use]
    pub fn has_user_defined(&self) -> bool {
        self.keeps().fields
    }

    /// Returns whether the lines of objects were kept.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        self.keeps().lines
    }

    fn keeps(&self) -> Keeps {
        self.rows.keeps()
    }

    /// Returns the line that created a container, if the replay kept lines
    /// (`TraceReader::lines`). The root has none.
    #[must_use]
    pub fn container_line(&self, id: ContainerId) -> Option<LineNumber> {
        self.containers().line(id).filter(|_| self.has_lines())
    }

    /// Returns the comments at the beginning of the trace, up to a few kilobytes. Each comment is on a line, without
    /// its `#`. Programs that write traces put their name and command line there.
    #[must_use]
    pub fn comments(&self) -> &[u8] {
        &self.comments
    }

    /// Returns which definitions the trace uses, if [`Options::usage`](crate::Options::usage) is set. In a portion,
    /// these are the uses up to the portion's end.
    #[must_use]
    #[doc(hidden)]
    pub fn usage(&self) -> Option<&Usage> {
        self.usage.as_deref()
    }

    /// Returns whether the trace may be read in parts. This requires that nothing is doubtful, and that each line
    /// depends only on definitions, containers, and lines about the same row. Returns `false` unless
    /// [`Options::usage`](crate::Options::usage) is set.
    #[must_use]
    #[doc(hidden)]
    pub fn is_plain(&self) -> bool {
        self.usage().is_some_and(|usage| !usage.is_doubtful() && !usage.has_open_spellings())
    }

    /// Returns the files of the trace, in the order of reading. The trace itself comes first and has no path.
    #[must_use]
    pub fn files(&self) -> &[Option<Arc<Path>>] {
        &self.files
    }

    pub(crate) fn nature(&self, lane: LaneId) -> TypeNature {
        self.model.nature(lane)
    }
}
