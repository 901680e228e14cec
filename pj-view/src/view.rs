//! A trace, its summaries, and which of it is shown.

use paje_pyramid::Pyramid;
use paje_sim::{ContainerId, LaneId, LaneView, Selected, Selection, TimeRange, Trace, TypeId};
use workers::Workers;

use crate::color::Colors;

/// Basis of pictures: a trace, its summaries, and which of it is shown.
#[derive(Debug)]
pub struct View {
    /// The trace.
    pub trace: Trace,
    /// Its summaries.
    pub pyramid: Pyramid,
    /// Name of the trace.
    pub name: String,
    /// The times that are shown at first, within those of the trace.
    pub window: TimeRange,
    pub(crate) colors: Colors,
    selected: Selected,
}

impl View {
    /// Summarises a trace for what is to be shown of it.
    #[must_use]
    pub fn new(
        trace: Trace,
        name: String,
        selection: &Selection,
        window: TimeRange,
        workers: &Workers,
    ) -> Self {
        let pyramid = Pyramid::new(&trace, workers);
        let selected = selection.resolve(&trace);
        let colors = Colors::of(trace.types());
        let mut view = View { trace, pyramid, name, window, colors, selected };
        let all = view.extent();
        let (from, to) =
            (window.from.max(all.from).min(all.to), window.to.min(all.to).max(all.from));
        view.window = if from < to { TimeRange { from, to } } else { all };
        view
    }

    /// Choice of rows.
    #[must_use]
    pub fn selected(&self) -> &Selected {
        &self.selected
    }

    /// From the first time of anything that is shown to the trace's end.
    #[must_use]
    pub fn extent(&self) -> TimeRange {
        let clock = self.pyramid.clock();
        let containers = self.trace.containers();
        let starts = containers.ids().skip(1).map(|id| containers.start(id));
        let rows = self.lanes().map(|lane| lane.start(0));
        let from = starts.chain(rows).filter(|time| time.is_finite()).fold(clock.end(), f64::min);
        TimeRange { from, to: clock.end() }
    }

    /// The lanes that are shown: those with rows.
    pub fn lanes(&self) -> impl Iterator<Item = LaneView<'_>> {
        self.trace.lanes().filter(|lane| !lane.is_empty() && self.selected.wants_lane(*lane))
    }

    /// A lane that is shown, by its number.
    #[must_use]
    pub fn lane(&self, id: LaneId) -> Option<LaneView<'_>> {
        let lane = self.trace.lanes().nth(id.index())?;
        (!lane.is_empty() && self.selected.wants_lane(lane)).then_some(lane)
    }

    /// The lanes that are shown of a container, and of all that are in it.
    #[must_use]
    pub fn lanes_within(&self, container: ContainerId) -> Vec<LaneView<'_>> {
        let containers = self.trace.containers();
        let (mut stack, mut found) = (vec![container], Vec::new());
        while let Some(id) = stack.pop() {
            stack.extend(containers.children(id));
            let lanes = self.trace.lanes_of(id);
            found.extend(lanes.filter(|lane| !lane.is_empty() && self.selected.wants_lane(*lane)));
        }
        found
    }

    /// Of each container, whether it has or holds anything that is shown, or links may end there.
    #[must_use]
    pub fn shown(&self) -> Vec<bool> {
        let containers = self.trace.containers();
        let mut shown = vec![false; containers.len()];
        let mut show = |id: ContainerId| {
            let mut at = id;
            while !std::mem::replace(&mut shown[at.index()], true) {
                at = containers.parent(at);
            }
        };
        for lane in self.lanes() {
            show(lane.container());
        }
        let types = self.trace.types();
        let links = self.lanes().filter_map(|lane| types.link_ends(lane.type_id()));
        let ends: Vec<(TypeId, TypeId)> = links.collect();
        for id in containers.ids() {
            let type_ = containers.type_of(id);
            if ends.iter().any(|(from, to)| *from == type_ || *to == type_) {
                show(id);
            }
        }
        shown
    }
}
