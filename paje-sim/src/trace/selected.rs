use super::Trace;
use crate::nearest::nearest;
use crate::trace::lane::Lane;
use crate::trace::walk::Step;
use paje_model::model::containers::Containers;
use paje_model::model::types::Types;
use paje_model::names::ids::{ContainerId, TypeId};
use paje_model::names::options::Options;
use paje_model::names::selection::{Glob, Selection};
use paje_model::names::text::Name;
use paje_model::names::time_range::TimeRange;

impl Trace {
    /// Applies a selection to the types and containers of the trace.
    #[must_use]
    pub fn select(&self, selection: &Selection) -> Selected {
        let mut selected = Selected::new(selection);
        selected.extend(self);
        selected
    }
}

/// A selection, applied to the types and containers of a trace.
///
/// To see the wanted rows, use `trace.rows().filter(|row| selected.wants(row))`.
#[derive(Clone, Debug)]
pub struct Selected {
    selection: Selection,
    everything: bool,
    /// For each type, whether its rows are wanted if the container is wanted.
    types: Vec<bool>,
    /// For each container, whether its contents are wanted, and whether its own row is wanted.
    containers: Vec<(bool, bool)>,
    /// For each pattern, whether a name matches it. Patterns for types come first.
    met: Vec<bool>,
    /// Whether a container may still get another name or parent.
    provisional: bool,
}

impl Selected {
    /// Applies the selection to an empty trace.
    #[must_use]
    pub fn new(selection: &Selection) -> Self {
        Selected {
            selection: selection.clone(),
            everything: selection.is_everything(),
            types: Vec::new(),
            containers: Vec::new(),
            met: vec![false; selection.types.len() + selection.containers.len()],
            provisional: false,
        }
    }

    /// Returns the selection of rows that a replay keeps, or `None` if it keeps all rows.
    pub(crate) fn of(options: &Options) -> Option<Self> {
        // Recovery may change the names and parents of containers that already have lanes.
        let some = !options.selection.is_everything() && !options.recover;
        some.then(|| Selected::new(&options.selection))
    }

    /// Adds the new types and containers of the trace. This is called between two [portions](crate::Portion).
    #[doc(hidden)]
    pub fn extend(&mut self, trace: &Trace) {
        self.extend_by(trace.types(), trace.containers());
    }

    pub(crate) fn extend_by(&mut self, types: &Types, containers: &Containers) {
        if self.everything {
            return;
        }
        if self.provisional {
            *self = Selected::new(&self.selection);
        }
        self.provisional = containers.any_made_up();
        let Selection { natures, types: type_globs, containers: globs, .. } = &self.selection;
        let (types_met, met) = self.met.split_at_mut(type_globs.len());
        for id in (self.types.len()..types.len()).map(|index| TypeId(index as u32)) {
            let named = any(type_globs, types_met, types.name(id), types.alias(id));
            self.types.push(named && natures.contains(types.nature(id)));
        }
        let known = self.containers.len();
        let new = || (known..containers.len()).map(|index| ContainerId(index as u32));
        for id in new() {
            let named = any(globs, met, containers.name(id), containers.alias(id));
            self.containers.push((named, named));
        }
        self.inherit(new(), containers);
        for id in new() {
            let (inside, row) = &mut self.containers[id.index()];
            *row = *inside && self.types[containers.type_of(id).index()];
        }
    }

    /// Makes new containers wanted if their ancestors are wanted. Before this, it is only known whether their names
    /// match.
    fn inherit(
        &mut self,
        new: impl ExactSizeIterator<Item = ContainerId>,
        containers: &Containers,
    ) {
        let known = containers.len() - new.len();
        // In a damaged trace, a container may come before its parent.
        let mut settled = vec![false; new.len()];
        let mut climbed = Vec::new();
        for id in new {
            let mut at = id;
            while at.index() >= known
                && at != ContainerId::ROOT
                && !std::mem::replace(&mut settled[at.index() - known], true)
            {
                climbed.push(at);
                at = containers.parent(at);
            }
            let (mut inside, _) = self.containers[at.index()];
            while let Some(below) = climbed.pop() {
                inside |= self.containers[below.index()].0;
                self.containers[below.index()].0 = inside;
            }
        }
    }

    /// Returns whether all rows in the window are wanted.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.everything
    }

    /// Returns the time window of the wanted rows. It does not apply to the rows of containers.
    #[must_use]
    pub fn window(&self) -> TimeRange {
        self.selection.window
    }

    /// Returns whether rows of this type are wanted if their container is wanted.
    #[must_use]
    pub fn wants_type(&self, id: TypeId) -> bool {
        self.everything || self.types[id.index()]
    }

    /// Returns whether the row of this container is wanted.
    #[must_use]
    pub fn wants_container(&self, id: ContainerId) -> bool {
        self.everything || self.containers[id.index()].1
    }

    /// Returns whether the rows of this type in this container are wanted.
    #[must_use]
    pub fn wants_rows(&self, container: ContainerId, type_: TypeId) -> bool {
        self.everything || self.types[type_.index()] && self.containers[container.index()].0
    }

    /// Returns whether the rows of this lane are wanted.
    #[must_use]
    pub fn wants_lane(&self, lane: Lane<'_>) -> bool {
        self.wants_rows(lane.container(), lane.type_id())
    }

    /// Returns whether the rows at this step of a walk are wanted.
    #[doc(hidden)]
    #[must_use]
    pub fn wants_step(&self, step: Step) -> bool {
        match step {
            Step::Container(id) => self.wants_container(id),
            Step::Type(container, type_) => self.wants_rows(container, type_),
        }
    }

    /// Returns the patterns for types that match no type of the trace.
    pub fn unmet_types(&self) -> impl Iterator<Item = &Glob> {
        unmet(&self.selection.types, &self.met)
    }

    /// Returns the patterns for containers that match no container of the trace.
    pub fn unmet_containers(&self) -> impl Iterator<Item = &Glob> {
        unmet(&self.selection.containers, &self.met[self.selection.types.len()..])
    }

    /// Returns each pattern that matches nothing: its kind (`type` or `container`), the pattern, and a hint with the
    /// nearest names.
    #[doc(hidden)]
    pub fn unmet(&self, trace: &Trace) -> impl Iterator<Item = (&'static str, &Glob, String)> {
        let (types, containers) = (trace.types(), trace.containers());
        let of_types = self.unmet_types().map(|glob| {
            let names = types.ids().skip(1).map(|id| types.name(id).text);
            ("type", glob, nearest(glob.as_str().as_bytes(), names))
        });
        of_types.chain(self.unmet_containers().map(|glob| {
            let names = containers.ids().skip(1).map(|id| containers.name(id).text);
            ("container", glob, nearest(glob.as_str().as_bytes(), names))
        }))
    }
}

fn unmet<'a>(globs: &'a [Glob], met: &'a [bool]) -> impl Iterator<Item = &'a Glob> {
    globs.iter().zip(met).filter_map(|(glob, met)| (!met).then_some(glob))
}

/// Returns whether a name or an alias matches a pattern. If `globs` is empty, every name matches. Records which
/// patterns matched in `met`.
fn any(globs: &[Glob], met: &mut [bool], name: Name<'_>, alias: Option<Name<'_>>) -> bool {
    let mut wanted = globs.is_empty();
    for (glob, met) in globs.iter().zip(met) {
        if !wanted || !*met {
            let matches =
                glob.matches(name.text) || alias.is_some_and(|alias| glob.matches(alias.text));
            wanted |= matches;
            *met |= matches;
        }
    }
    wanted
}
