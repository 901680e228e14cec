//! Profile of a window of time, over all lanes.

use std::collections::BTreeMap;

use paje_parser::TypeNature;
use paje_pyramid::Key;
use serde_json::{Value, json};

use crate::view::View;

/// So many pairs of containers are told, those with the most links.
const MOST_PAIRS: usize = 30;

/// Seconds of states by type and value, clipped to the window; events by type and value; links that begin in it, by type
/// and the containers at their ends.
pub(crate) fn of(view: &View, from: f64, to: f64) -> Value {
    let clock = view.pyramid.clock();
    let (low, high) = (clock.ticks(from), clock.ticks(to));
    // Ticks and rows by nature, type and value; links by type and pair.
    let mut values: BTreeMap<(u32, u32, u32), u128> = BTreeMap::new();
    let mut pairs: BTreeMap<(u32, u32, u32), u128> = BTreeMap::new();
    for lane in view.lanes().filter(|lane| lane.nature() != TypeNature::Variable) {
        let type_ = lane.type_id().0;
        for (key, amount) in view.pyramid.profile(lane, low, high).amounts {
            let sum = match key {
                Key::State(_, value) => values.entry((0, type_, value.0)),
                Key::Event(value) => values.entry((1, type_, value.0)),
                Key::Link(from, to) => pairs.entry((type_, from.0, to.0)),
            };
            *sum.or_default() += u128::from(amount);
        }
    }
    let of_nature = |wanted: u32| values.iter().filter(move |((nature, ..), _)| *nature == wanted);
    let seconds = |ticks: u128| ticks as f64 * clock.seconds(1);
    let states =
        of_nature(0).map(|((_, type_, value), ticks)| json!([type_, value, seconds(*ticks)]));
    let events =
        of_nature(1).map(|((_, type_, value), count)| json!([type_, value, *count as u64]));
    let links: u128 = pairs.values().sum();
    let mut most: Vec<_> = pairs.iter().collect();
    most.sort_by_key(|(pair, count)| (std::cmp::Reverse(**count), **pair));
    let most = most.into_iter().take(MOST_PAIRS);
    let most = most.map(|((type_, from, to), count)| json!([type_, from, to, *count as u64]));
    json!({
        "from": from, "to": to, "states": states.collect::<Value>(), "events": events.collect::<Value>(),
        "links": links as u64, "pairs": most.collect::<Value>(),
    })
}
