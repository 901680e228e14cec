//! Model of a trace for the page: types, values, containers and lanes.

use paje_analysis::classes::{Classes, Map};
use paje_parser::TypeNature;
use paje_pictures::colours::hex;
use paje_sim::{LaneView, TypeId, ValueId};
use serde_json::{Value, json};

use crate::pyramid::{Key, Summary, TOP};
use crate::view::View;

/// Maximum number of values in an answer, because some types have millions of values. The page
/// calls it `PAGE`.
pub(crate) const VALUES: usize = 1024;

/// Returns the model with at most `most` values of each type. The page first shows these overlays. It is stored as columns, to keep it
/// small.
pub(crate) fn of(view: &View, most: usize, overlays: &[&str]) -> Value {
    let (trace, clock) = (&view.trace, view.pyramid.clock());
    let (types, containers, extent) = (trace.types(), trace.containers(), view.extent());
    let types_told = types.ids().map(|id| {
        json!({
            "name": types.name(id).to_str_lossy(),
            "nature": nature(types.nature(id)),
            "parent": types.parent(id).0,
            "color": hex(view.colors.variable(types, id)),
            "values": values(view, id, 0, most),
            "count": types.value_count(id),
        })
    });
    let shown = view.shown();
    let all = || containers.ids().filter(|id| shown[id.index()]);
    let lanes: Vec<LaneView<'_>> = view.lanes().collect();
    let heights: Vec<[f64; 3]> = lanes.iter().map(|lane| heights(view, *lane)).collect();
    json!({
        "name": view.name,
        "version": env!("CARGO_PKG_VERSION"),
        "origin": clock.origin(),
        "tick": clock.seconds(1),
        "second": trace.time_scale().unit().per_second(),
        "unit": trace.time_scale().to_string(),
        "extent": [extent.from, extent.to],
        "window": [view.window.from, view.window.to],
        "fields": trace.has_user_defined(),
        "overlays": overlays,
        "types": types_told.collect::<Value>(),
        "containers": {
            "id": all().map(|id| id.0).collect::<Vec<_>>(),
            "name": all().map(|id| containers.name(id).to_string()).collect::<Vec<_>>(),
            "type": all().map(|id| containers.type_of(id).0).collect::<Vec<_>>(),
            "parent": all().map(|id| containers.parent(id).0).collect::<Vec<_>>(),
            "start": all().map(|id| containers.start(id)).collect::<Vec<_>>(),
            "end": all().map(|id| containers.end(id)).collect::<Vec<_>>(),
        },
        "lanes": {
            "id": lanes.iter().map(|lane| lane.id().0).collect::<Vec<_>>(),
            "container": lanes.iter().map(|lane| lane.container().0).collect::<Vec<_>>(),
            "type": lanes.iter().map(|lane| lane.type_id().0).collect::<Vec<_>>(),
            "rows": lanes.iter().map(|lane| lane.len()).collect::<Vec<_>>(),
            "depth": heights.iter().map(|it| it[0]).collect::<Vec<_>>(),
            "min": heights.iter().map(|it| it[1]).collect::<Vec<_>>(),
            "max": heights.iter().map(|it| it[2]).collect::<Vec<_>>(),
        },
    })
}

/// Returns at most `most` values. Each has a name and a colour, and whether the trace sets the
/// colour.
pub(crate) fn values(view: &View, type_: TypeId, first: usize, most: usize) -> Value {
    let types = view.trace.types();
    let end = types.value_count(type_).min(first.saturating_add(most));
    let list = (first..end).map(|value| {
        let value = ValueId(value as u32);
        let name = types.value_name(type_, value).to_str_lossy();
        let of_trace = types.value_color(type_, value).is_some();
        json!([name, hex(view.colors.value(types, type_, value)), of_trace])
    });
    list.collect()
}

/// Maximum number of values of a type whose classes are listed.
const MOST_CLASSES: usize = 1 << 16;

/// Returns the classes of values, such as Send, by type. Types without classes are left out.
pub(crate) fn classes(view: &View) -> Value {
    let types = view.trace.types();
    let classes = Classes::new(&view.trace, &Map::of_trace(&view.trace));
    let with_classes = types.ids().filter(|id| !classes.of_type(*id).is_empty());
    let listed = with_classes.map(|id| {
        let names: Vec<_> =
            classes.of_type(id).iter().take(MOST_CLASSES).map(|class| class.name()).collect();
        json!([id.0, names])
    });
    listed.collect()
}

fn nature(nature: TypeNature) -> &'static str {
    match nature {
        TypeNature::Container => "container",
        TypeNature::State => "state",
        TypeNature::Variable => "variable",
        TypeNature::Event => "event",
        TypeNature::Link => "link",
    }
}

/// Returns the maximum depth of a lane's states, and the range of a variable's values.
pub(crate) fn heights(view: &View, lane: LaneView<'_>) -> [f64; 3] {
    if !matches!(lane.nature(), TypeNature::State | TypeNature::Variable) {
        return [1.0, 0.0, 0.0];
    }
    match view.pyramid.summary(lane, TOP, 0..1) {
        Summary::States(bins) => {
            let keys = bins.iter().flat_map(|bin| bin.amounts()).map(|it| match it.key {
                Key::State(imbrication, _) => imbrication + 1,
                _ => 1,
            });
            [f64::from(keys.max().unwrap_or(1)), 0.0, 0.0]
        }
        Summary::Variable(ranges) => {
            let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
            ranges.iter().next().map_or([1.0, 0.0, 0.0], |it| [1.0, finite(it.min), finite(it.max)])
        }
        _ => [1.0, 0.0, 0.0],
    }
}
