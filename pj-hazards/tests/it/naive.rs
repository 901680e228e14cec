//! Compares results for random runs with the definitions, which are evaluated with a transitive
//! closure and exhaustive search.

use std::collections::BTreeSet;

use datasets::passing::Hazard;
use paje_analysis::order::Order;
use paje_comm::classes::{Collective, Map};
use paje_comm::messages::Message;
use paje_sim::Trace;
use pj_hazards::barriers::barriers;
use pj_hazards::model::{Channel, Model, Options};
use pj_hazards::orders::groups;
use pj_hazards::poset::Poset;
use pj_hazards::races::races;
use testkit::{Rng, number};

/// Happened-before order, as the transitive closure of a relation of calls.
struct Closure {
    /// For each call, the calls that are complete when it begins. One bit per call.
    known: Vec<Vec<u64>>,
    send: Vec<usize>,
    recv: Vec<usize>,
}

type Call = (usize, u64, u32, u8, u32);

/// Returns a call: its track, time, state, kind and number. If there is no state, the number is
/// that of the message on the track.
fn call(
    model: &Model<'_>,
    track: usize,
    state: Option<usize>,
    time: f64,
    kind: u8,
    at: u32,
) -> Call {
    // Times are not negative, so their bits have the same order as the times.
    match state {
        Some(state) => {
            let time = model.facts.tracks.list()[track].start[state] + 0.0;
            (track, time.to_bits(), state as u32, 0, 0)
        }
        None => (track, (time + 0.0).to_bits(), u32::MAX, kind, at),
    }
}

/// An operation: its class, its root, the calls of its members, and its index in the series.
type Operation = (Collective, Option<usize>, Vec<Call>, (usize, usize));

fn closure(model: &Model<'_>, without: Option<(usize, usize)>) -> Closure {
    let list = model.facts.messages.list();
    let place = |received: &[u32], at: usize| {
        received.iter().position(|other| *other as usize == at).expect("the message is in the list")
            as u32
    };
    let recv = |at: usize, it: &Message| {
        let to = it.to as usize;
        let number = place(model.facts.messages.received(to), at);
        call(model, to, it.recv(), it.end, 0, number)
    };
    let send = |at: usize, it: &Message| {
        let from = it.from as usize;
        let number = place(model.facts.messages.sent(from), at);
        call(model, from, it.send(), it.start, 1, number)
    };
    let sends: Vec<Call> = list.iter().enumerate().map(|(at, it)| send(at, it)).collect();
    let recvs: Vec<Call> = list.iter().enumerate().map(|(at, it)| recv(at, it)).collect();
    let mut operations: Vec<Operation> = Vec::new();
    for (series_at, series) in model.facts.collectives.series.iter().enumerate() {
        let group = &series.tracks;
        for instance in 0..series.len() {
            let members = group.iter().zip(series.operation(instance));
            let of = |(track, state): (&u32, &u32)| {
                call(model, *track as usize, Some(*state as usize), 0.0, 0, 0)
            };
            operations.push((
                series.class,
                series.root_of(instance),
                members.map(of).collect(),
                (series_at, instance),
            ));
        }
    }
    let members = operations.iter().filter(|one| one.2.len() > 1).flat_map(|one| one.2.iter());
    let calls: BTreeSet<Call> = sends.iter().chain(&recvs).chain(members).copied().collect();
    let calls: Vec<Call> = calls.into_iter().collect();
    let at = |call: &Call| calls.binary_search(call).expect("a known call");
    // For each call, the calls that must begin before it completes. If the `bool` is true, their
    // messages must also have been taken.
    let mut needs: Vec<Vec<(usize, bool)>> = vec![Vec::new(); calls.len()];
    for (message, it) in list.iter().enumerate() {
        let (send, recv) = (at(&sends[message]), at(&recvs[message]));
        needs[recv].push((send, false));
        let track = &model.facts.tracks.list()[it.from as usize];
        let is_synchronous = it.send().is_some_and(|state| {
            let types = model.trace().types();
            types.value_name(track.type_, track.value[state]).text == b"PMPI_Ssend"
        });
        if is_synchronous {
            needs[send].push((recv, true));
        }
    }
    for (class, root, members, which) in &operations {
        if Some(*which) == without {
            continue;
        }
        for (i, member) in members.iter().enumerate() {
            for (j, other) in members.iter().enumerate() {
                let waits = match class {
                    Collective::NxN | Collective::Barrier => true,
                    Collective::OneToN => Some(j) == *root,
                    Collective::NToOne => Some(i) == *root,
                    Collective::Scan => j < i,
                };
                if waits && i != j {
                    needs[at(member)].push((at(other), false));
                }
            }
        }
    }
    let mut known: Vec<Vec<u64>> = vec![vec![0; calls.len().div_ceil(64)]; calls.len()];
    loop {
        let mut changed = false;
        for call in (1..calls.len()).filter(|call| calls[call - 1].0 == calls[*call].0) {
            let before = call - 1;
            let needed = needs[before].iter().map(|(need, _)| *need);
            let mut set = known[call].clone();
            for other in needed.chain([before]) {
                set.iter_mut().zip(&known[other]).for_each(|(mine, other)| *mine |= other);
            }
            let taken = needs[before].iter().filter(|(_, taken)| *taken).map(|(need, _)| *need);
            taken.chain([before]).for_each(|other| set[other / 64] |= 1 << (other % 64));
            changed |= set != known[call];
            known[call] = set;
        }
        if !changed {
            break;
        }
    }
    Closure { known, send: sends.iter().map(at).collect(), recv: recvs.iter().map(at).collect() }
}

fn could(closure: &Closure, first: usize, second: usize) -> bool {
    let recv = closure.recv[first];
    closure.known[closure.send[second]][recv / 64] >> (recv % 64) & 1 == 0
}

fn seeds(default: u64) -> std::ops::Range<u64> {
    let first = number("PAJE_SEED").unwrap_or(0);
    first..first + number("PAJE_SEEDS").unwrap_or(default)
}

fn each(default: u64, most: u64, mut look: impl FnMut(u64, &Model<'_>, &Order)) {
    for seed in seeds(default) {
        let run = datasets::passing::random(seed, most);
        let trace = Trace::read(&run.bytes[..], &paje_sim::Options::default());
        let trace = trace.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let options = Options {
            channel: seed.is_multiple_of(3).then_some(Channel::Value),
            wildcard: (seed % 4 == 1).then(|| "PMPI_{Recv,Wait*}".parse().expect("a pattern")),
            ..Options::default()
        };
        let model = Model::new(&trace, &Map::of_trace(&trace), &options);
        look(seed, &model, &model.order());
    }
}

/// Compares the races of a run with the definition. Returns the number of races.
fn compared(seed: u64, model: &Model<'_>, order: &Order) -> usize {
    let closure = closure(model, None);
    let mut expected = BTreeSet::new();
    for track in 0..model.facts.tracks.list().len() {
        let received = model.facts.messages.received(track);
        let mut order: Vec<usize> = received.iter().map(|message| *message as usize).collect();
        order.sort_by_key(|message| closure.recv[*message]);
        for (place, second) in order.iter().enumerate() {
            for first in &order[..place] {
                let channels = model.channel[*first] != model.channel[*second];
                let any = model.wildcard[*first] && model.wildcard[*second];
                if channels && any && could(&closure, *first, *second) {
                    expected.insert((*first as u32, *second as u32));
                }
            }
        }
    }
    let found = races(model, order, usize::MAX);
    let list: BTreeSet<(u32, u32)> =
        found.list.iter().map(|race| (race.first, race.second)).collect();
    assert_eq!(list, expected, "seed {seed}");
    let counts = (found.count, found.list.len());
    assert_eq!(counts, (expected.len() as u128, expected.len()), "seed {seed}");
    expected.len()
}

#[test]
fn races_match_the_definition() {
    let (mut all, mut looked) = (0, 0);
    each(80, 150, |seed, model, order| {
        if model.facts.messages.list().len() <= 200 && order.left_out() == 0 {
            all += compared(seed, model, order);
            looked += 1;
        }
    });
    assert!(all > looked && looked > 0, "{all} races in {looked} runs");
}

/// One sweep does not cover all tracks of this run.
#[test]
fn races_of_many_containers_match_the_definition() {
    let mut all = 0;
    for seed in seeds(5) {
        let ranks = 40 + 15 * (seed as usize % 5);
        let bytes = Hazard::Anybody { ranks, messages: 200, seed }.trace();
        let trace =
            Trace::read(&bytes[..], &paje_sim::Options::default()).expect("the trace is valid");
        let model = Model::new(&trace, &Map::of_trace(&trace), &Options::default());
        let order = model.order();
        assert_eq!(order.left_out(), 0, "seed {seed}");
        all += compared(seed, &model, &order);
    }
    assert!(all > 0);
}

#[test]
fn removable_barriers_change_no_receive() {
    let mut verdicts = [0, 0];
    each(50, 60, |seed, model, order| {
        if order.left_out() > 0 {
            return;
        }
        let with = closure(model, None);
        for barrier in barriers(model, order) {
            let operation = order.operations()[barrier.operation];
            let without = closure(model, Some((operation.series, operation.instance)));
            let list = model.facts.messages.list();
            let changes = (0..list.len()).any(|second| {
                (0..list.len()).any(|first| {
                    list[first].to == list[second].to
                        && model.wildcard[first]
                        && model.wildcard[second]
                        && could(&with, first, second) != could(&without, first, second)
                })
            });
            assert_eq!(barrier.keeps.is_some(), changes, "seed {seed}: {barrier:?}");
            verdicts[usize::from(changes)] += 1;
        }
    });
    assert!(verdicts.iter().all(|count| *count > 0), "{verdicts:?}");
}

fn all_orders(count: usize, before: &dyn Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new()];
    for _ in 0..count {
        let longer = found.into_iter().flat_map(|order: Vec<usize>| {
            let fits = |next: &usize| {
                !order.contains(next) && (0..count).all(|x| !before(x, *next) || order.contains(&x))
            };
            let more: Vec<usize> = (0..count).filter(fits).collect();
            more.into_iter().map(move |next| [&order[..], &[next]].concat())
        });
        found = longer.collect();
    }
    found
}

#[test]
fn all_allowed_orders_are_listed() {
    let mut compared = 0;
    each(100, 14, |seed, model, order| {
        if order.left_out() > 0 {
            return;
        }
        let closure = closure(model, None);
        for group in groups(model, order) {
            let Some(poset) = group.poset.as_ref().filter(|poset| poset.len() <= 8) else {
                continue;
            };
            let message = |at: usize| group.messages[at] as usize;
            let before = |a: usize, b: usize| {
                let (a, b) = (message(a), message(b));
                let is_fifo = model.channel[a] == model.channel[b]
                    && (closure.recv[a], a) != (closure.recv[b], b)
                    && group.messages.iter().position(|x| *x as usize == a)
                        < group.messages.iter().position(|x| *x as usize == b);
                !could(&closure, a, b) || is_fifo
            };
            let expected = all_orders(poset.len(), &before);
            assert_eq!(poset.list(usize::MAX), expected, "seed {seed}");
            let counted = poset.count(usize::MAX).expect("no limit");
            assert_eq!(counted.orders, expected.len().into(), "seed {seed}");
            for order in poset.late().iter().chain(&poset.pairs(usize::MAX)) {
                assert!(expected.contains(order), "seed {seed}: {order:?}");
            }
            assert_eq!(poset.late().len(), poset.len());
            compared += 1;
        }
    });
    assert!(compared > 0);
}

/// In message-driven programs, the only constraint is that the sends of a state follow the receives
/// of that state.
#[test]
fn all_allowed_orders_of_message_driven_programs_are_listed() {
    let mut compared = 0;
    each(100, 14, |seed, model, order| {
        let mut model = model.clone();
        model.is_driven = true;
        let list = model.facts.messages.list();
        let mut reach: Vec<Vec<bool>> = vec![vec![false; list.len()]; list.len()];
        for (a, first) in list.iter().enumerate() {
            for (b, second) in list.iter().enumerate().filter(|(b, _)| *b != a) {
                let is_driven = first.to == second.from
                    && first.recv().is_some()
                    && first.recv() == second.send()
                    && first.end <= second.start;
                let is_kept = first.to == second.to && model.channel[a] == model.channel[b];
                let earlier = (first.end, first.start, a) < (second.end, second.start, b);
                reach[a][b] = (is_driven || is_kept) && earlier;
            }
        }
        for by in 0..list.len() {
            for a in 0..list.len() {
                for b in 0..list.len() {
                    reach[a][b] |= reach[a][by] && reach[by][b];
                }
            }
        }
        for group in groups(&model, order) {
            let Some(poset) = group.poset.as_ref().filter(|poset| poset.len() <= 8) else {
                continue;
            };
            let message = |at: usize| group.messages[at] as usize;
            let expected = all_orders(poset.len(), &|a, b| reach[message(a)][message(b)]);
            assert_eq!(poset.list(usize::MAX), expected, "seed {seed}");
            compared += 1;
        }
    });
    assert!(compared > 0);
}

#[test]
fn counts_equal_the_number_of_all_orders() {
    for seed in seeds(100) {
        let mut rng = Rng::new(seed);
        let count = 1 + rng.index(7);
        let percent = rng.index(60);
        let edges: Vec<bool> = (0..count * count).map(|_| rng.index(100) < percent).collect();
        let poset = Poset::new(count, |a, b| edges[a * count + b]);
        let all = all_orders(count, &|a, b| poset.is_before(a, b));
        let counted = poset.count(usize::MAX).expect("no limit");
        assert_eq!(counted.orders, all.len().into(), "seed {seed}");
        // The sets of messages that may have arrived are the prefixes of the orders.
        let begins = all.iter().flat_map(|order| (0..count).map(move |at| &order[..=at]));
        let begins: BTreeSet<(Vec<usize>, usize)> = begins
            .map(|begin| {
                let mut set = begin[..begin.len() - 1].to_vec();
                set.sort_unstable();
                (set, begin[begin.len() - 1])
            })
            .collect();
        let edges: u64 = poset.groups().len() as u64;
        assert!(counted.steps <= begins.len() as u64 && counted.steps >= edges, "seed {seed}");
        if poset.groups().len() == 1 {
            assert_eq!(counted.steps, begins.len() as u64, "seed {seed}");
        }
    }
}
