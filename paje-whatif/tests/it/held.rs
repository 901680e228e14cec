//! Compares collectives without links whose messages are a rendezvous with simple models.

use paje_whatif::{Graph, Plan, Settings, Shape};

use crate::known::{State, retimed, settings, trace};

/// Time of a single message, its latency, and the number of operations.
const MESSAGE: f64 = 1.5;
const LATENCY: f64 = 0.5;
const OPERATIONS: usize = 30;

type Model = fn(&[f64]) -> Vec<f64>;

/// Returns the exits of a binomial tree from rank 0. Each member receives from its parent, then
/// sends to its children.
fn relay(enters: &[f64]) -> Vec<f64> {
    let mut free = vec![f64::NAN; enters.len()];
    free[0] = enters[0];
    for rank in 0..enters.len() {
        let bits = (0..8).map(|bit| 1 << bit).take_while(|bit| rank & bit == 0);
        for bit in
            bits.collect::<Vec<usize>>().into_iter().rev().filter(|bit| rank + bit < enters.len())
        {
            free[rank] = free[rank].max(enters[rank + bit]) + MESSAGE;
            free[rank + bit] = free[rank];
        }
    }
    free
}

/// Returns the exits when messages are exchanged between rank 0 and all other ranks. Each message
/// takes its latency. Then its bytes take an equal part of the link of rank 0.
fn held(enters: &[f64]) -> Vec<f64> {
    let mut exits = vec![f64::NAN; enters.len()];
    let begin = |rank: usize| enters[rank].max(enters[0]) + LATENCY;
    let mut left: Vec<(usize, f64)> =
        (1..enters.len()).map(|rank| (rank, MESSAGE - LATENCY)).collect();
    let mut now = enters[0];
    while !left.is_empty() {
        let on_way = left.iter().filter(|(rank, _)| begin(*rank) <= now).count();
        let joins = left.iter().map(|(rank, _)| begin(*rank)).filter(|at| *at > now);
        let ends = left
            .iter()
            .filter(|(rank, _)| begin(*rank) <= now)
            .map(|(_, left)| now + left * on_way as f64);
        let next = joins.chain(ends).fold(f64::INFINITY, f64::min);
        for (rank, left) in &mut left {
            if begin(*rank) <= now {
                *left -= (next - now) / on_way as f64;
            }
            if *left < 1e-9 {
                exits[*rank] = next;
            }
        }
        left.retain(|(_, left)| *left >= 1e-9);
        now = next;
    }
    exits[0] = now;
    exits
}

/// Messages go to rank 0, and then down the tree.
fn both(enters: &[f64]) -> Vec<f64> {
    relay(&held(enters))
}

fn run(name: &'static str, ranks: usize, model: Model, factor: f64) -> (Vec<State>, Vec<f64>) {
    let (mut now, mut states) = (vec![0.0; ranks], Vec::new());
    for operation in 0..OPERATIONS {
        // Some members enter long before others, some nearly at the same time.
        let wide = if operation % 3 == 0 { 0.3 } else { 2.0 * ranks as f64 };
        let random = |rank: usize| ((operation * 7919 + rank * 104_729) % 1009) as f64 / 1009.0;
        let enters: Vec<f64> =
            (0..ranks).map(|rank| now[rank] + factor * (0.5 + wide * random(rank))).collect();
        let exits = model(&enters);
        for rank in 0..ranks {
            states.push((rank, "computing", now[rank], enters[rank]));
            states.push((rank, name, enters[rank], exits[rank]));
        }
        now = exits;
    }
    (states, now)
}

fn settings_for(shape: Shape) -> Settings {
    let mut settings = settings();
    settings.reading.eager = Some(0);
    settings.shapes.push(("MPI_*".parse().expect("a pattern"), shape));
    settings
}

#[test]
fn changed_computing_shifts_collectives_like_the_models() {
    for (name, shape, model) in [
        ("MPI_Bcast", Shape::Binomial, relay as Model),
        ("MPI_Reduce", Shape::Flat, held),
        ("MPI_Scatter", Shape::Flat, held),
        ("MPI_Allreduce", Shape::ReduceBcast, both),
    ] {
        for ranks in [2, 5, 8] {
            let (states, recorded) = run(name, ranks, model, 1.0);
            let trace = trace(&states, &[]);
            let settings = settings_for(shape);
            let same = Graph::new(&trace, &settings)
                .retime(&Plan::default(), false, false)
                .expect("the run ends");
            assert_eq!(same.finish, recorded, "{name} {ranks}");
            for factor in [0.5, 2.0] {
                let hypothesis = format!("state=computing,factor={factor}");
                let found = retimed(&trace, &settings, &[("scale", &hypothesis)]);
                let found = found.expect("the run ends").finish;
                let expected = run(name, ranks, model, factor).1;
                for (found, expected) in found.iter().zip(&expected) {
                    let off = (found / expected - 1.0).abs();
                    assert!(off < 1e-3, "{name}, {ranks} ranks, {factor}: {found} {expected}");
                }
            }
        }
    }
}

#[test]
fn message_times_are_recovered() {
    let trace = trace(&run("MPI_Bcast", 8, relay, 1.0).0, &[]);
    let graph = Graph::new(&trace, &settings_for(Shape::Binomial));
    let (latency, work) = graph.shapes()[0].cost();
    assert!((latency + work - MESSAGE).abs() < 1e-5, "{latency} {work}");
}
