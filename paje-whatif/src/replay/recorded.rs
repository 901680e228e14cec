//! Results of the model for the recorded run.
//!
//! All calls begin at their recorded times. For each step in which a rank waits, the model
//! determines when the waiting ended. The time from then to the end of the call stays the same in a
//! changed run.

use paje_comm::{Act, Step};

use super::traffic::Traffic;
use crate::costs::Costs;
use crate::graph::Graph;

/// For each rank, the times in seconds at which its waiting steps end according to the model.
pub(crate) type Explained = Vec<Vec<f64>>;

/// Ranks advance together, in about this many parts of the run. This keeps the number of open
/// operations small.
const STRETCHES: usize = 1000;

pub(crate) fn explain(graph: &Graph<'_>, costs: &Costs) -> Explained {
    let mut traffic = Traffic::new(graph, costs);
    let (begin, end) = graph.span().unwrap_or((0.0, 0.0));
    let all: Vec<_> = graph.run.steps.iter().map(|steps| steps.iter().peekable()).collect();
    let mut ranks: Vec<_> = all.into_iter().map(|steps| (steps, f64::NEG_INFINITY)).collect();
    for stretch in 1..=STRETCHES {
        let until = match stretch {
            STRETCHES => f64::INFINITY,
            _ => begin + (end - begin) * stretch as f64 / STRETCHES as f64,
        };
        for (steps, last) in &mut ranks {
            while let Some(step) = steps.next_if(|step| step.time < until) {
                enter(graph, &mut traffic, &step, *last);
                *last = step.time;
            }
        }
        while traffic.advance(until) {}
    }
    let of_rank = |steps: &paje_comm::Steps| {
        let (mut times, mut last) = (Vec::new(), f64::NEG_INFINITY);
        for step in steps.iter() {
            if step.acts.iter().any(Act::waits) {
                times.push(end_of(&traffic, &step, last));
            }
            last = step.time;
        }
        times
    };
    graph.run.steps.iter().map(of_rank).collect()
}

/// Returns the recorded times of the waiting steps, as if the waiting had ended at these times.
pub(crate) fn recorded(graph: &Graph<'_>) -> Explained {
    let waits = |step: &Step<'_>| step.acts.iter().any(Act::waits);
    let of_rank =
        |steps: &paje_comm::Steps| steps.iter().filter(waits).map(|step| step.time).collect();
    graph.run.steps.iter().map(of_rank).collect()
}

fn enter(graph: &Graph<'_>, traffic: &mut Traffic<'_>, step: &Step<'_>, last: f64) {
    for act in step.acts.iter() {
        match act {
            Act::Receive(message) if graph.progresses_in_calls() => {
                traffic.post(message, last.min(step.time));
            }
            Act::Post(message) if !graph.progresses_in_calls() => traffic.post(message, step.time),
            Act::Send(message) => traffic.send(message, step.time),
            Act::Enter(seat) => traffic.enter(seat, step.time),
            _ => {}
        }
    }
}

fn end_of(traffic: &Traffic<'_>, step: &Step<'_>, last: f64) -> f64 {
    // `max` ignores NaN.
    step.acts.iter().fold(last, |end, act| match act {
        Act::Receive(message) => end.max(traffic.arrived[message as usize]),
        Act::Complete(message) if traffic.is_rendezvous(message) => {
            end.max(traffic.arrived[message as usize])
        }
        Act::Leave(seat) => end.max(traffic.done[seat as usize]),
        _ => end,
    })
}
