//! Finds the ends of links that SMPI did not write, because `MPI_Test` completed the receive.

use paje_sim::{LaneId, Trace};
use rustc_hash::FxHashMap;

use super::{Message, NONE, channel};
use crate::classes::Map;
use crate::polls::runs;
use crate::tracks::Tracks;

/// Returns the links without an end as messages. SMPI's keys begin with the numbers of the sender
/// and the receiver. If a receiver has as many loops of tests as such links, the loops end the links
/// in order. Otherwise, it is not known where its links end, and they are left out.
pub(super) fn tested(tracks: &Tracks<'_>, map: &Map, field: Option<&str>) -> Vec<Message> {
    let trace = tracks.trace();
    let of = |start: &&paje_sim::LinkHalf| map.is_message(trace.lane_of(start).type_name().text);
    let starts: Vec<_> = trace.link_starts().filter(of).collect();
    // Sender of each number.
    let mut tracks_of: FxHashMap<i64, usize> = FxHashMap::default();
    for start in &starts {
        let (Some([from, ..]), Some(track)) =
            (channel(&start.key), tracks.of_container(start.container))
        else {
            return Vec::new();
        };
        if *tracks_of.entry(from).or_insert(track) != track {
            return Vec::new();
        }
    }
    let mut rows: FxHashMap<LaneId, u64> = FxHashMap::default();
    let mut by_receiver: Vec<Vec<Message>> = vec![Vec::new(); tracks.list().len()];
    for start in starts {
        let Some([from, to, _]) = channel(&start.key) else { continue };
        let (from, Some(to)) = (tracks_of[&from], tracks_of.get(&to).copied()) else { continue };
        // These links have no rows, so their numbers follow those of the rows.
        let row = rows.entry(start.lane).or_insert_with(|| trace.lane_of(start).len());
        by_receiver[to].push(Message {
            lane: start.lane,
            row: *row,
            value: start.value,
            start: start.time,
            end: f64::NAN,
            bytes: field.and_then(|field| bytes(trace, start, field)).unwrap_or(f64::NAN),
            from: from as u32,
            to: to as u32,
            send: NONE,
            recv: NONE,
        });
        *row += 1;
    }
    let mut messages = Vec::new();
    for (at, mut list) in by_receiver.into_iter().enumerate() {
        let loops = if list.is_empty() { Vec::new() } else { runs(tracks, at) };
        if loops.len() != list.len() {
            continue;
        }
        list.sort_by(|a, b| a.start.total_cmp(&b.start));
        for (message, tests) in list.iter_mut().zip(&loops) {
            message.end =
                tests.last().map_or(f64::NAN, |test| tracks.list()[at].end[*test as usize]);
        }
        messages.extend(list.into_iter().filter(|it| it.start <= it.end));
    }
    messages
}

fn bytes(trace: &Trace, start: &paje_sim::LinkHalf, field: &str) -> Option<f64> {
    super::amount(trace.field_of(start, field)?)
}
