//! Searches values by name, and rows by value.

use std::collections::BTreeSet;

use paje_parser::TypeNature;
use paje_sim::{LaneId, TypeId, ValueId};
use serde_json::{Value, json};

use crate::pyramid::Row;
use crate::view::View;

/// Returns the first shown value whose name equals a text. If no name equals it, returns one whose
/// name begins with the text, or else one whose name contains it. Ignores case.
pub(crate) fn value(view: &View, text: &str) -> Value {
    let (types, text) = (view.trace.types(), text.to_lowercase());
    let shown: BTreeSet<TypeId> = view.lanes().map(|lane| lane.type_id()).collect();
    let mut best: Option<(usize, TypeId, ValueId)> = None;
    for type_ in shown {
        for value in (0..types.value_count(type_) as u32).map(ValueId) {
            let name = types.value_name(type_, value).to_str_lossy().to_lowercase();
            let Some(at) = name.find(&text) else { continue };
            let rank = if name.len() == text.len() { 0 } else { 1 + usize::from(at > 0) };
            if best.is_none_or(|(least, ..)| rank < least) {
                best = Some((rank, type_, value));
            }
        }
    }
    best.map_or(Value::Null, |(_, type_, value)| json!({"type": type_.0, "value": value.0}))
}

#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Spot(pub(crate) f64, pub(crate) u32, pub(crate) u64);

/// Returns the next or the previous row of a value. Continues at the other end of the trace.
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
