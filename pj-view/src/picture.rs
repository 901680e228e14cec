//! Layout of a drawing.

use paje_parser::TypeNature;
use paje_sim::{ContainerId, LaneView};

use crate::model::heights;
use crate::view::View;

/// Maximum number of nesting levels whose states are drawn separately.
pub(crate) const DEEPEST: f64 = 12.0;

/// Line of the drawing: a container or one of its lanes.
#[derive(Clone, Debug)]
pub(crate) struct Line<'v> {
    pub(crate) container: ContainerId,
    pub(crate) indent: usize,
    pub(crate) label: String,
    /// Lane, or `None` for the heading of a container with several lanes.
    pub(crate) lane: Option<LaneView<'v>>,
    pub(crate) top: f64,
    pub(crate) height: f64,
    /// Depth of states, and range of a variable's values.
    pub(crate) heights: [f64; 3],
}

pub(crate) fn lines<'v>(view: &'v View) -> Vec<Line<'v>> {
    let containers = view.trace.containers();
    let shown = view.shown();
    let mut lines = Vec::new();
    // The loop replaces recursion, because containers may be nested too deeply for the call stack.
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
            // The root has no heading.
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
