//! Message-driven programs, in which the sends of an operation depend only on what the operation
//! received.
//!
//! (Source: Schaeli, 4.4.1.) An operation is a state that receives the message that triggers it,
//! and then sends other messages. A message precedes everything that its receiving state sends
//! later.

use paje_comm::messages::Message;

use crate::model::Model;
use crate::orders::{LARGEST, Part};
use crate::poset::Poset;

fn sorted(model: &Model<'_>) -> Vec<u32> {
    let list = model.facts.messages.list();
    let mut messages: Vec<u32> = (0..list.len() as u32).collect();
    messages.sort_by(|a, b| {
        let (left, right) = (&list[*a as usize], &list[*b as usize]);
        let by_time = left.end.total_cmp(&right.end).then(left.start.total_cmp(&right.start));
        by_time.then(a.cmp(b))
    });
    messages
}

/// Returns whether the operation that received the first message sent the second message.
fn triggers(first: &Message, second: &Message) -> bool {
    let received = first.recv().is_some() && first.recv() == second.send();
    received && first.to == second.from && first.end <= second.start
}

/// Returns all messages and their order, or `None` if there are too many.
pub(crate) fn deliveries(model: &Model<'_>) -> Option<(Vec<u32>, Poset)> {
    let list = model.facts.messages.list();
    if list.len() > LARGEST {
        return None;
    }
    let messages = sorted(model);
    let poset = Poset::new(messages.len(), |a, b| {
        let (a, b) = (messages[a] as usize, messages[b] as usize);
        let is_kept = model.channel[a] == model.channel[b] && list[a].to == list[b].to;
        is_kept || triggers(&list[a], &list[b])
    });
    Some((messages, poset))
}

pub(crate) fn events(model: &Model<'_>) -> Option<Poset> {
    let list = model.facts.messages.list();
    if list.len() > LARGEST {
        return None;
    }
    let places = sorted(model);
    let mut events: Vec<(f64, bool, u32)> = places
        .iter()
        .flat_map(|at| {
            let message = &list[*at as usize];
            [(message.start, false, *at), (message.end, true, *at)]
        })
        .collect();
    // A stable sort keeps a message of zero duration between its causes and its effects.
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(Poset::new(events.len(), |a, b| {
        let ((_, receives, first), (_, is_receive, second)) = (events[a], events[b]);
        match (receives, is_receive) {
            (false, true) => first == second,
            (true, false) => triggers(&list[first as usize], &list[second as usize]),
            _ => false,
        }
    }))
}

pub(crate) fn containers(model: &Model<'_>) -> Vec<(usize, Vec<Part>)> {
    let all = deliveries(model);
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); model.facts.tracks.list().len()];
    let messages = all.as_ref().map_or_else(|| sorted(model), |(messages, _)| messages.clone());
    for (place, message) in messages.iter().enumerate() {
        if model.is_open(*message as usize) {
            places[model.facts.messages.list()[*message as usize].to as usize].push(place);
        }
    }
    let part = |(track, places): (usize, Vec<usize>)| {
        let poset = all.as_ref().map(|(_, poset)| poset.part(&places));
        let into: Vec<u32> = places.iter().map(|place| messages[*place]).collect();
        (track, if into.is_empty() { Vec::new() } else { vec![(into, poset)] })
    };
    places.into_iter().enumerate().map(part).collect()
}
