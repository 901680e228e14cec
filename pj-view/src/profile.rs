//! Profile of a time window over all lanes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use paje_parser::TypeNature;
use serde_json::{Value, json};

use crate::pyramid::Key;
use crate::view::View;

/// Maximum number of listed pairs of containers. Pairs with the most links are listed.
const MOST_PAIRS: usize = 30;

/// Maximum number of listed values of each type. The largest are listed.
const MOST_VALUES: usize = 100;

/// Returns the seconds of states and the number of events by type and value, and the number of
/// links that begin in the window by type and pair of containers.
pub(crate) fn of(view: &View, from: f64, to: f64) -> Value {
    let clock = view.pyramid.clock();
    let (low, high) = (clock.ticks(from), clock.ticks(to));
    // For states and events, ticks or counts by nature, type and value. For links, counts by type
    // and pair.
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
    let seconds = |ticks: u128| ticks as f64 * clock.seconds(1);
    let (states, _) = most(&values, 0);
    let states = states.map(|(type_, value, ticks)| json!([type_, value, seconds(ticks)]));
    let (events, others) = most(&values, 1);
    let events = events.map(|(type_, value, count)| json!([type_, value, count as u64]));
    let links: u128 = pairs.values().sum();
    let mut pairs: Vec<_> = pairs.iter().collect();
    pairs.sort_by_key(|(pair, count)| (Reverse(**count), **pair));
    let pairs = pairs.into_iter().take(MOST_PAIRS);
    let pairs = pairs.map(|((type_, from, to), count)| json!([type_, from, to, *count as u64]));
    json!({
        "from": from, "to": to, "states": states.collect::<Value>(), "events": events.collect::<Value>(),
        "otherEvents": others, "links": links as u64, "pairs": pairs.collect::<Value>(),
    })
}

fn most(
    values: &BTreeMap<(u32, u32, u32), u128>,
    nature: u32,
) -> (impl Iterator<Item = (u32, u32, u128)>, [u64; 2]) {
    let of_nature = values.range((nature, 0, 0)..(nature + 1, 0, 0));
    let mut all: Vec<_> =
        of_nature.map(|((_, type_, value), sum)| (*type_, *value, *sum)).collect();
    all.sort_by_key(|(type_, value, sum)| (*type_, Reverse(*sum), *value));
    let (mut largest, mut others) = (Vec::new(), [0, 0]);
    for of_type in all.chunk_by(|(a, ..), (b, ..)| a == b) {
        let (first, rest) = of_type.split_at(of_type.len().min(MOST_VALUES));
        largest.extend_from_slice(first);
        others[0] += rest.len() as u64;
        others[1] += rest.iter().map(|(.., sum)| *sum as u64).sum::<u64>();
    }
    largest.sort_unstable();
    (largest.into_iter(), others)
}
