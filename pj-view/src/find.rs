//! The next place of a value.

use paje_parser::TypeNature;
use paje_pyramid::Row;
use paje_sim::{LaneId, TypeId, ValueId};
use serde_json::{Value, json};

use crate::view::View;

/// A place in the order of starts, lanes and rows.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Spot(pub(crate) f64, pub(crate) u32, pub(crate) u64);

/// The row of this value that comes next after a place, or before it; that which comes first or last of all if
/// there is none.
pub(crate) fn next(
    view: &View,
    type_: TypeId,
    value: ValueId,
    from: Spot,
    forwards: bool,
) -> Option<Value> {
    let mut found = scan(view, type_, value, forwards, Some(from));
    if found.is_none() {
        found = scan(view, type_, value, forwards, None);
    }
    found.map(|(Spot(start, lane, row), end)| json!({"lane": lane, "row": row, "start": start, "end": end}))
}

fn scan(
    view: &View,
    type_: TypeId,
    value: ValueId,
    forwards: bool,
    from: Option<Spot>,
) -> Option<(Spot, f64)> {
    let clock = view.pyramid.clock();
    let mut best: Option<(Spot, f64)> = None;
    for lane in view.lanes() {
        if lane.type_id() != type_ || lane.nature() == TypeNature::Variable {
            continue;
        }
        let LaneId(id) = lane.id();
        let mut see = |row: Row| {
            let spot = Spot(row.start, id, row.number);
            let beyond = |than: Spot| if forwards { spot > than } else { spot < than };
            let nearer =
                best.is_none_or(|(best, _)| if forwards { spot < best } else { spot > best });
            if row.value == value && nearer && from.is_none_or(beyond) {
                best = Some((spot, row.end));
            }
        };
        // Rows that begin beyond the place reach beyond it.
        match (from, forwards) {
            (Some(Spot(time, ..)), true) => {
                view.pyramid.near(lane, clock.ticks(time), u64::MAX, &mut see)
            }
            (Some(Spot(time, ..)), false) => {
                view.pyramid.near(lane, 0, clock.ticks(time), &mut see)
            }
            (None, _) => view.pyramid.near(lane, 0, u64::MAX, &mut see),
        }
    }
    best
}
