//! Place of each lane in a picture.

use paje_parser::TypeNature;
use paje_sim::{ContainerId, LaneView};

use crate::model::heights;
use crate::view::View;

/// More states above each other are not drawn apart.
pub(crate) const DEEPEST: f64 = 12.0;

/// A line of the picture: a container, or one of its lanes.
#[derive(Clone, Debug)]
pub(crate) struct Line<'v> {
    pub(crate) container: ContainerId,
    /// The number of containers that it is in.
    pub(crate) indent: usize,
    /// Text beside the line.
    pub(crate) label: String,
    /// Nothing is drawn for a container whose lanes have lines of their own.
    pub(crate) lane: Option<LaneView<'v>>,
    /// From the top of the picture, and how high it is.
    pub(crate) top: f64,
    pub(crate) height: f64,
    /// Number of states above each other; and the least and greatest value of a variable.
    pub(crate) heights: [f64; 3],
}

/// The lines of all that is shown, containers in the order of their creation; each as high as it needs.
pub(crate) fn lines<'v>(view: &'v View) -> Vec<Line<'v>> {
    let containers = view.trace.containers();
    let shown = view.shown();
    let mut lines = Vec::new();
    // Depth first; a trace may nest deeper than a stack does.
    let mut stack = vec![(ContainerId::ROOT, 0)];
    while let Some((id, indent)) = stack.pop() {
        if !shown[id.index()] {
            continue;
        }
        let first = stack.len();
        stack.extend(containers.children(id).map(|child| (child, indent + 1)));
        stack[first..].sort_by_key(|(child, _)| std::cmp::Reverse(child.0));
        let mut lanes: Vec<LaneView<'v>> = view
            .trace
            .lanes_of(id)
            .filter(|lane| {
                !lane.is_empty()
                    && lane.nature() != TypeNature::Link
                    && view.selected().wants_lane(*lane)
            })
            .collect();
        lanes.sort_by_key(|lane| lane.type_id());
        let own = containers.name(id).to_string();
        let mut push = |label: String, lane: Option<LaneView<'v>>, indent| {
            let heights = lane.map_or([1.0, 0.0, 0.0], |lane| heights(view, lane));
            let height = match lane.map(LaneView::nature) {
                Some(TypeNature::State) => 14.0 * heights[0].min(DEEPEST) + 4.0,
                Some(TypeNature::Variable) => 34.0,
                _ => 18.0,
            };
            lines.push(Line { container: id, indent, label, lane, top: 0.0, height, heights });
        };
        match lanes.as_slice() {
            // The root says nothing by itself.
            [] if id == ContainerId::ROOT => {}
            [] => push(own, None, indent),
            [lane] => push(own, Some(*lane), indent),
            several => {
                push(own, None, indent);
                for lane in several {
                    push(lane.type_name().to_string(), Some(*lane), indent + 1);
                }
            }
        }
    }
    let mut top = 0.0;
    for line in &mut lines {
        line.top = top;
        top += line.height;
    }
    lines
}
