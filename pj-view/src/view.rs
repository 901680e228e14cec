//! A trace with its summaries and the selection to show.

use paje_parser::TypeNature;
use paje_pictures::ValueColours;
use paje_sim::{ContainerId, LaneId, LaneView, Selected, Selection, TimeRange, Trace, TypeId};
use paje_workers::Workers;

use crate::frame;
use crate::pyramid::Pyramid;

/// Purpose of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A page, which may request any summary.
    Page,
    /// A page that is shown at once. [`Pyramid::refine`] adds the finer summaries.
    SoonPage,
    /// A drawing.
    Drawing {
        /// Width in pixels.
        width: u32,
    },
}

/// Trace with its summaries and selection.
#[derive(Debug)]
pub struct View {
    /// The trace.
    pub trace: Trace,
    /// Summaries.
    pub pyramid: Pyramid,
    /// Name of the trace.
    pub name: String,
    /// Initial time window, within the trace.
    pub window: TimeRange,
    /// Whether the trace was read whole, so that the selection only affects what is shown.
    pub(crate) is_whole: bool,
    pub(crate) colors: ValueColours,
    selected: Selected,
}

impl View {
    /// Summarises a trace. A drawing needs fewer summaries than a page.
    #[must_use]
    pub fn new(
        trace: Trace,
        name: String,
        selection: &Selection,
        window: TimeRange,
        purpose: Purpose,
        workers: &Workers,
    ) -> Self {
        let pyramid = Pyramid::outline(&trace, workers);
        let selected = trace.select(selection);
        let colors = ValueColours::new(trace.types());
        let mut view = View { trace, pyramid, name, window, is_whole: true, colors, selected };
        let all = view.extent();
        let (from, to) =
            (window.from.max(all.from).min(all.to), window.to.min(all.to).max(all.from));
        view.window = if from < to { TimeRange { from, to } } else { all };
        view.summarise(purpose, workers);
        view
    }

    fn summarise(&mut self, purpose: Purpose, workers: &Workers) {
        let View { trace, pyramid, selected, window, .. } = self;
        let finest = match purpose {
            Purpose::Page => 0,
            // The first picture of most screens needs fewer bins.
            Purpose::SoonPage => pyramid.clock().level((window.to - window.from) / 2048.0),
            Purpose::Drawing { width } => frame::level(pyramid.clock(), *window, width.into()),
        };
        pyramid.summarise(trace, workers, |lane| {
            let is_drawn = match purpose {
                Purpose::Page | Purpose::SoonPage => true,
                // Drawings need no summaries of links.
                Purpose::Drawing { .. } => {
                    lane.nature() != TypeNature::Link && selected.wants_lane(lane)
                }
            };
            is_drawn.then_some(finest)
        });
    }

    /// Returns the selection.
    #[must_use]
    pub fn selected(&self) -> &Selected {
        &self.selected
    }

    /// Returns the time from the start of the first shown row to the end of the trace.
    #[must_use]
    pub fn extent(&self) -> TimeRange {
        let clock = self.pyramid.clock();
        let containers = self.trace.containers();
        let starts = containers.ids().skip(1).map(|id| containers.start(id));
        let rows = self.lanes().map(|lane| lane.start(0));
        let from = starts.chain(rows).filter(|time| time.is_finite()).fold(clock.end(), f64::min);
        TimeRange { from, to: clock.end() }
    }

    /// Returns the shown lanes.
    pub fn lanes(&self) -> impl Iterator<Item = LaneView<'_>> {
        self.trace.lanes().filter(|lane| !lane.is_empty() && self.selected.wants_lane(*lane))
    }

    /// Returns a lane if it is shown.
    #[must_use]
    pub fn lane(&self, id: LaneId) -> Option<LaneView<'_>> {
        let lane = self.trace.lanes().nth(id.index())?;
        (!lane.is_empty() && self.selected.wants_lane(lane)).then_some(lane)
    }

    /// Returns the shown lanes of a container and its descendants.
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

    /// Returns whether each container is shown. It is shown if the container or a descendant has
    /// shown lanes or ends of shown links.
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

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use paje_sim::Options;

    use super::*;
    use crate::svg::{self, Overlays};

    const HEADER: &str = "\
%EventDef PajeDefineContainerType 0\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineVariableType 5\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 2\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState 3\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajeSetVariable 4\n% Time date\n% Type string\n% Container string\n% Value double\n%EndEventDef
0 Host 0
1 State Host
5 Variable Host
2 0 c Host 0
2 0 d Host 0
";

    #[test]
    fn a_pixel_shows_the_sum_of_thousands_of_values() {
        let mut text = HEADER.to_owned();
        for i in 0..50_000 {
            let _ = writeln!(text, "3 {i} State c v{i}");
        }
        let trace = Trace::read(text.as_bytes(), &Options::default()).expect("it is valid");
        let all = TimeRange { from: f64::NEG_INFINITY, to: f64::INFINITY };
        let purpose = Purpose::Drawing { width: 400 };
        let selection = Selection::default();
        let view = View::new(trace, "a".into(), &selection, all, purpose, &Workers::one());
        let drawn = svg::write(&view, 400, None, &Overlays::default());
        assert!(drawn.contains("<path fill=\"#888888\""), "the sum of the small shares is drawn");
        assert!(drawn.len() < 100_000, "{}", drawn.len());
    }

    #[test]
    fn fewer_summaries_give_the_same_drawing() {
        // There are many rows, so that each pixel shows the shares of several.
        let mut text = HEADER.to_owned();
        for i in 0..9000 {
            let (time, value) = (f64::from(i) * 0.37, ["x", "y", "z"][i as usize % 3]);
            let _ = write!(text, "3 {time} State c {value}\n4 {time} Variable d {}\n", i % 17);
        }
        let all = TimeRange { from: f64::NEG_INFINITY, to: f64::INFINITY };
        for (window, width) in
            [(all, 1200), (all, 400), (TimeRange { from: 100.0, to: 2500.0 }, 700)]
        {
            let view = |purpose| {
                let trace = Trace::read(text.as_bytes(), &Options::default()).expect("it is valid");
                let selection = Selection::default();
                View::new(trace, "a".into(), &selection, window, purpose, &Workers::one())
            };
            let drawing = view(Purpose::Drawing { width });
            let finest = |view: &View| {
                let finest = view.lanes().filter_map(|lane| view.pyramid.finest(lane.id()));
                finest.min().expect("there are summaries")
            };
            let page = view(Purpose::Page);
            assert!(finest(&page) <= finest(&drawing) && drawing.pyramid.bytes() > 0);
            let drawn = svg::write(&drawing, width, None, &Overlays::default());
            assert!(drawn.len() > 5000, "{drawn}");
            assert_eq!(
                drawn,
                svg::write(&page, width, None, &Overlays::default()),
                "{window:?}, {width}"
            );
        }
    }
}
