//! Scope of an analysis: selected lanes, window, and grouping of rows.

use paje_comm::tasks::kind;
use paje_sim::{
    ContainerId, LaneView, NameOrder, Selected, Selection, Step, TimeRange, Trace, TypeId,
    TypeNature,
};
use rustc_hash::FxHashMap;

use crate::{Label, Seconds};

/// Part of a trace that is analysed. By default, this is the whole trace.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    selection: Selection,
    selected: Option<Selected>,
}

impl Scope {
    /// Creates the scope of a selection. Rows that cross the window's bounds are clipped.
    #[must_use]
    pub fn new(selection: &Selection) -> Self {
        Scope { selection: selection.clone(), selected: None }
    }

    /// Returns the window.
    pub(crate) const fn window(&self) -> TimeRange {
        self.selection.window
    }

    pub(crate) fn extend(&mut self, trace: &Trace) {
        let new = || Selected::new(&self.selection);
        self.selected.get_or_insert_with(new).extend(trace);
    }

    pub(crate) fn lanes<'s, 't: 's>(
        &'s self,
        trace: &'t Trace,
        nature: TypeNature,
    ) -> impl Iterator<Item = LaneView<'t>> + 's {
        let selected = self.selected.as_ref();
        let wanted = move |lane: &LaneView<'_>| selected.is_none_or(|all| all.wants_lane(*lane));
        trace.lanes().filter(move |lane| lane.nature() == nature && wanted(lane))
    }

    pub(crate) fn wants(&self, container: ContainerId, type_: TypeId) -> bool {
        self.selected.as_ref().is_none_or(|all| all.wants_rows(container, type_))
    }

    pub(crate) fn clip(&self, time: f64) -> f64 {
        clip(self.selection.window, time)
    }

    pub(crate) fn lifetime(&self, trace: &Trace, id: ContainerId) -> Seconds {
        let containers = trace.containers();
        let (start, end) = (self.clip(containers.start(id)), self.clip(containers.end(id)));
        Seconds::between(start, end).max(Seconds::ZERO)
    }
}

#[inline]
pub(crate) fn clip(window: TimeRange, time: f64) -> f64 {
    time.max(window.from).min(window.to)
}

/// Returns the part of a time span that is in the window, as start and end, or `None` if no part is
/// in the window.
#[inline]
pub(crate) fn part_in(window: TimeRange, start: f64, end: f64) -> Option<(f64, f64)> {
    if start >= window.from && end <= window.to && start <= end {
        return Some((start, end));
    }
    window.overlaps(start, end).then(|| (clip(window, start), clip(window, end)))
}

/// Grouping of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// One row per type and value, for all containers together.
    #[default]
    Value,
    /// Separate rows for each container.
    Container,
    /// Separate rows for each container of this type, including everything inside it.
    Type(Label),
    /// Separate rows for each kind of container. The containers of a kind have the same type, and the names of all begin
    /// with the same letters, such as `CPU0` and `CPU1`.
    Kind,
}

impl By {
    pub(crate) fn groups<'g>(&'g self, trace: &'g Trace) -> Groups<'g> {
        let mut kinds = FxHashMap::default();
        if *self == By::Kind {
            let containers = trace.containers();
            let mut first: FxHashMap<(TypeId, String), ContainerId> = FxHashMap::default();
            for id in containers.ids() {
                let kind = (containers.type_of(id), kind(containers.name(id)));
                kinds.insert(id, *first.entry(kind).or_insert(id));
            }
        }
        Groups { by: self, trace, kinds }
    }
}

/// The groups of a trace's containers.
pub(crate) struct Groups<'g> {
    pub(crate) by: &'g By,
    pub(crate) trace: &'g Trace,
    /// First container of the same kind.
    kinds: FxHashMap<ContainerId, ContainerId>,
}

impl Groups<'_> {
    /// Returns the container whose row includes this container. Returns `None` if no row does.
    pub(crate) fn group(&self, id: ContainerId) -> Option<ContainerId> {
        match self.by {
            By::Value => Some(ContainerId::ROOT),
            By::Container => Some(id),
            By::Type(name) => ancestor(self.trace, id, name),
            By::Kind => self.kinds.get(&id).copied(),
        }
    }

    /// Returns the name of a group.
    pub(crate) fn label(&self, id: ContainerId) -> Label {
        let name = self.trace.containers().name(id);
        match self.by {
            By::Value => "".into(),
            By::Kind => kind(name).as_str().into(),
            _ => name.into(),
        }
    }
}

pub(crate) fn ancestor(trace: &Trace, mut id: ContainerId, type_: &Label) -> Option<ContainerId> {
    let (containers, types) = (trace.containers(), trace.types());
    loop {
        let of = containers.type_of(id);
        let alias = types.alias(of).map(|alias| alias.text);
        let wanted = type_.name().text;
        if types.name(of).text == wanted || alias == Some(wanted) {
            return Some(id);
        }
        if id == ContainerId::ROOT {
            return None;
        }
        id = containers.parent(id);
    }
}

/// Returns the position of each container in output order.
pub(crate) fn places(trace: &Trace) -> FxHashMap<ContainerId, usize> {
    let steps = trace.walk(NameOrder::Bare).filter_map(|step| match step {
        Step::Container(id) => Some(id),
        Step::Type(..) => None,
    });
    steps.enumerate().map(|(place, id)| (id, place)).collect()
}
