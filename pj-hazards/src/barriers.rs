//! Barriers that nobody needs.
//!
//! A barrier can go if that does not change which sends a receive that takes any message may match: those that are not made
//! to wait for the receive. (Source: Schaeli, 5.5.4.) Barriers are looked at one by one: of two that stand side by
//! side, each can go, but maybe not both.
//!
//! Without a barrier, only what happens until the next operation of everybody can change, so each part of the run is looked at
//! as often as there are barriers between two such operations, and twice otherwise.

use paje_analysis::classes::Collective;
use paje_analysis::order::{Order, Question};
use rayon::prelude::*;

use crate::model::Model;
use crate::races;

/// A barrier.
#[derive(Clone, Debug, PartialEq)]
pub struct Barrier {
    /// Its place among [`Order::operations`].
    pub operation: usize,
    /// When the first entered, and when the last did, in seconds.
    pub entered: (f64, f64),
    /// The first receive that could also match a message that it cannot match now; none if the barrier can go.
    pub keeps: Option<Kept>,
}

/// Two messages that a barrier keeps apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kept {
    /// The message that a receive takes.
    pub taken: u32,
    /// A message that it could take too.
    pub other: u32,
}

/// Looks at all barriers, in the order of the groups, values and instances.
#[must_use]
pub fn barriers(model: &Model<'_>, order: &Order) -> Vec<Barrier> {
    let known = races::known(model, order);
    let list = model.messages.list();
    let mut by_send: Vec<u32> = (0..list.len() as u32).collect();
    by_send.par_sort_by_key(|message| order.send(*message as usize));
    let sends: Vec<_> = by_send.iter().map(|message| order.send(*message as usize)).collect();
    let any: Vec<Vec<(u32, u32)>> = (0..model.tracks.list().len())
        .into_par_iter()
        .map(|track| {
            let received = model.messages.received(track).iter();
            let any = received.filter(|message| model.is_open(**message as usize));
            let step = |message: &u32| order.index(track, order.recv(*message as usize));
            let mut any: Vec<(u32, u32)> = any.map(|message| (step(message), *message)).collect();
            any.sort_by_key(|(step, _)| *step);
            any
        })
        .collect();
    let stretches = order.stretches();
    let window = model.window();
    let mut found = Vec::new();
    for (at, operation) in order.operations().iter().enumerate() {
        let series = &model.collectives.series[operation.series];
        if series.class != Collective::Barrier {
            continue;
        }
        let entered = entered(model, operation.series, operation.instance);
        if entered.0 < window.from || entered.1 > window.to {
            continue;
        }
        let stretch = &stretches[at];
        let mut asked = Vec::new();
        for track in 0..model.tracks.list().len() {
            let steps = stretch.steps(track);
            let from = sends.partition_point(|step| step < steps.start());
            let messages = by_send[from..].iter().zip(&sends[from..]);
            let inside = messages.take_while(|(_, step)| **step <= *steps.end());
            let of_track = inside.filter(|(message, _)| {
                let at = **message as usize;
                list[at].from as usize == track && model.is_open(at)
            });
            asked.extend(of_track.map(|(message, step)| (*message, *step)));
        }
        let question = |(message, step): &(u32, _)| Question {
            step: *step,
            track: list[*message as usize].to,
        };
        let questions: Vec<Question> = asked.iter().map(question).collect();
        let without = order.known_without(at, stretch, &questions);
        let changed = asked.iter().zip(without).filter_map(|((other, _), less)| {
            let any = &any[list[*other as usize].to as usize];
            let first = any.partition_point(|(step, _)| *step < less);
            let (step, taken) = any.get(first)?;
            (*step < known[*other as usize]).then_some(Kept { taken: *taken, other: *other })
        });
        found.push(Barrier { operation: at, entered, keeps: changed.min() });
    }
    found
}

/// Returns when the first and the last member entered an operation.
fn entered(model: &Model<'_>, series: usize, instance: usize) -> (f64, f64) {
    let series = &model.collectives.series[series];
    let members = model.collectives.members(series).iter().zip(series.operation(instance));
    let times =
        members.map(|(track, state)| model.tracks.list()[*track as usize].start[*state as usize]);
    times.fold((f64::INFINITY, f64::NEG_INFINITY), |(first, last), time| {
        (first.min(time), last.max(time))
    })
}
