//! Removable barriers.
//!
//! A barrier can be removed if removing it does not change which sends a wildcard receive may
//! match. Only sends that do not wait for their receive are considered. (Source: Schaeli, 5.5.4.)
//! Each barrier is examined separately, so it may be possible to remove either of two adjacent
//! barriers, but not both.
//!
//! Removing a barrier only affects the run up to the next operation in which all containers take
//! part. Therefore, each barrier costs one sweep of this part of the run.

use paje_analysis::order::{Order, Question};
use paje_comm::classes::Collective;
use rayon::prelude::*;

use crate::model::Model;
use crate::races;

/// A barrier, and whether it can be removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Barrier {
    /// Index in [`Order::operations`].
    pub operation: usize,
    /// Times in seconds at which the first and the last member entered.
    pub entered: (f64, f64),
    /// The first receive that could take another message without the barrier. `None` if the barrier
    /// is removable.
    pub keeps: Option<Kept>,
}

/// Two messages whose order a barrier determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kept {
    /// Message that the receive takes.
    pub taken: u32,
    /// Message that the same receive could take without the barrier.
    pub other: u32,
}

/// Examines all barriers. The result is ordered by group, value and instance.
#[must_use]
pub fn barriers(model: &Model<'_>, order: &Order) -> Vec<Barrier> {
    let known = races::known(model, order);
    let list = model.facts.messages.list();
    let mut by_send: Vec<u32> = (0..list.len() as u32).collect();
    by_send.par_sort_by_key(|message| order.send(*message as usize));
    let sends: Vec<_> = by_send.iter().map(|message| order.send(*message as usize)).collect();
    let any: Vec<Vec<(u32, u32)>> = (0..model.facts.tracks.list().len())
        .into_par_iter()
        .map(|track| {
            let received = model.facts.messages.received(track).iter();
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
        let series = &model.facts.collectives.series[operation.series];
        if series.class != Collective::Barrier {
            continue;
        }
        let entered = entered(model, operation.series, operation.instance);
        if entered.0 < window.from || entered.1 > window.to {
            continue;
        }
        let stretch = &stretches[at];
        let mut asked = Vec::new();
        for track in 0..model.facts.tracks.list().len() {
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
        let in_trace = |message: u32| (list[message as usize].lane, list[message as usize].row);
        let keeps = changed.min_by_key(|it| [it.taken, it.other].map(in_trace));
        found.push(Barrier { operation: at, entered, keeps });
    }
    found
}

fn entered(model: &Model<'_>, series: usize, instance: usize) -> (f64, f64) {
    let series = &model.facts.collectives.series[series];
    let members = series.tracks.iter().zip(series.operation(instance));
    let times = members
        .map(|(track, state)| model.facts.tracks.list()[*track as usize].start[*state as usize]);
    times.fold((f64::INFINITY, f64::NEG_INFINITY), |(first, last), time| {
        (first.min(time), last.max(time))
    })
}
