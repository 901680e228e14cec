//! Steps and the edges that delay them.

use paje_comm::Facts;
use paje_comm::classes::Collective;
use paje_comm::collectives::Collectives;
use paje_comm::messages::Messages;
use paje_comm::tracks::Tracks;

use rayon::prelude::*;

use super::{Edges, NONE, Operation, Order, Rendezvous, Step, TAKEN};

/// End of a message in a track, or membership of a track in a collective.
#[derive(Clone, Copy)]
struct End {
    time: f64,
    state: u32,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Recv(u32),
    Send(u32),
    /// Member of an operation: index of the operation, and index of the member in it.
    Member(u32, u32),
}

struct Steps {
    time: Vec<f64>,
    ends: Vec<(u32, What)>,
}

pub(super) fn of(facts: &Facts<'_>, rendezvous: Rendezvous<'_>) -> Order {
    let (tracks, messages, collectives) = (&facts.tracks, &facts.messages, &facts.collectives);
    let mut order = Order { tracks: tracks.list().len(), ..Order::default() };
    let mut members: Vec<Vec<End>> = vec![Vec::new(); tracks.list().len()];
    for (series_at, series) in collectives.series.iter().enumerate() {
        let group = &series.tracks;
        if group.len() < 2 {
            continue;
        }
        for instance in 0..series.len() {
            let at = order.operations.len() as u32;
            order.operations.push(Operation { series: series_at, instance, line: NONE });
            let states = series.operation(instance);
            for (member, (track, state)) in group.iter().zip(states).enumerate() {
                let time = tracks.list()[*track as usize].start[*state as usize];
                let what = What::Member(at, member as u32);
                members[*track as usize].push(End { time, state: *state, what });
            }
        }
    }
    let found: Vec<Steps> = members
        .into_par_iter()
        .enumerate()
        .map(|(track, members)| of_track(tracks, messages, track, members))
        .collect();
    number(&mut order, found, messages, collectives, rendezvous);
    order
}

/// Collects the steps of a track. All ends in one state form a step. An end without a state forms
/// its own step. Ends are ordered by time, with receives before sends.
fn of_track(tracks: &Tracks<'_>, messages: &Messages, at: usize, mut ends: Vec<End>) -> Steps {
    let track = &tracks.list()[at];
    let end = |state: Option<usize>, time: f64, what| match state {
        Some(state) => End { time: track.start[state], state: state as u32, what },
        None => End { time, state: NONE, what },
    };
    let list = messages.list();
    ends.extend(messages.received(at).iter().map(|message| {
        let it = &list[*message as usize];
        end(it.recv(), it.end, What::Recv(*message))
    }));
    ends.extend(messages.sent(at).iter().map(|message| {
        let it = &list[*message as usize];
        end(it.send(), it.start, What::Send(*message))
    }));
    ends.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.state.cmp(&b.state)));
    let (mut steps, mut last) = (Steps { time: Vec::new(), ends: Vec::new() }, NONE);
    for end in ends {
        if end.state == NONE || end.state != last {
            steps.time.push(end.time);
            last = end.state;
        }
        steps.ends.push((steps.time.len() as u32 - 1, end.what));
    }
    steps
}

fn number(
    order: &mut Order,
    found: Vec<Steps>,
    messages: &Messages,
    collectives: &Collectives,
    rendezvous: Rendezvous<'_>,
) {
    let count = messages.list().len();
    (order.send, order.recv) = (vec![Step(NONE); count], vec![Step(NONE); count]);
    let mut members: Vec<Vec<u32>> = order
        .operations
        .iter()
        .map(|operation| vec![NONE; collectives.series[operation.series].tracks.len()])
        .collect();
    order.first.push(0);
    for steps in found {
        let first = order.time.len() as u32;
        for (step, what) in steps.ends {
            let step = first + step;
            match what {
                What::Recv(message) => order.recv[message as usize] = Step(step),
                What::Send(message) => order.send[message as usize] = Step(step),
                What::Member(operation, member) => {
                    members[operation as usize][member as usize] = step;
                }
            }
        }
        order.time.extend(steps.time);
        order.first.push(order.time.len() as u32);
    }
    let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(count);
    for message in 0..count {
        let (send, recv) = (order.send[message].0, order.recv[message].0);
        if send == recv {
            continue;
        }
        pairs.push((send, recv));
        match rendezvous {
            Rendezvous::Taken(is) if is[message] => pairs.push((recv | TAKEN, send)),
            Rendezvous::Posted(posted) => {
                pairs.extend(posted[message].map(|post| (post.0 | TAKEN, send)));
            }
            _ => {}
        }
    }
    for (operation, members) in members.iter().enumerate() {
        let at = &mut order.operations[operation];
        let series = &collectives.series[at.series];
        let lines = match series.class {
            Collective::NxN | Collective::Barrier => 2,
            Collective::Scan => members.len() as u32,
            Collective::OneToN | Collective::NToOne => {
                let Some(root) = series.root_of(at.instance) else { continue };
                for member in members.iter().filter(|member| **member != members[root]) {
                    pairs.push(match series.class {
                        Collective::OneToN => (members[root], *member),
                        _ => (*member, members[root]),
                    });
                }
                continue;
            }
        };
        let first = order.first[order.first.len() - 1];
        at.line = order.first.len() as u32 - 1;
        order.first.push(first + lines);
        for (member, step) in (0..).zip(members) {
            if series.class == Collective::Scan {
                pairs.extend([(*step, first + member), (first + member, *step)]);
            } else {
                pairs.extend([(*step, first), (first + 1, *step)]);
            }
        }
    }
    join(order, &pairs);
}

fn join(order: &mut Order, pairs: &[(u32, u32)]) {
    let steps = order.first[order.first.len() - 1] as usize;
    let first = offsets(steps, pairs.iter().map(|(_, to)| *to));
    let mut from = vec![NONE; pairs.len()];
    let mut next = first.clone();
    for (step, to) in pairs {
        let at = &mut next[*to as usize];
        from[*at as usize] = *step;
        *at += 1;
    }
    order.edges = Edges { first, from };
}

/// For each key below `count`, returns the offset of its first item. The last offset is the number
/// of items.
pub(super) fn offsets(count: usize, of: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut offsets = vec![0_u32; count + 1];
    of.for_each(|at| offsets[at as usize + 1] += 1);
    for at in 0..count {
        offsets[at + 1] += offsets[at];
    }
    offsets
}
