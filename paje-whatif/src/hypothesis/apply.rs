//! Translates hypotheses into the numbers of a plan.

mod fields;
mod nets;

use paje_comm::classes::Class;
use paje_sim::{Glob, LaneId, TypeId, ValueId, nearest};
use rand_distr::{Distribution as _, LogNormal, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rustc_hash::FxHashMap;

use super::condition::Properties;
use super::{Balance, Condition, Distribution, Hypothesis, Mode, Random, States};
use crate::costs::Costs;
use crate::fit::Fit;
use crate::fits::doubt;
use crate::graph::Graph;
use crate::plan::{Plan, Scaling};

/// Changes to apply.
#[derive(Clone, Copy, Debug)]
pub struct Changes<'h> {
    /// Hypotheses. All of them apply together.
    pub hypotheses: &'h [Hypothesis],
    /// Costs in the network that explains the recorded run.
    pub network: Option<&'h Costs>,
    /// Distribution of random durations, and the number of the run.
    pub random: Option<(&'h Random, u32)>,
}

/// Plan of the changes, together with notes.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The plan.
    pub plan: Plan,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Estimated network of the recorded run, if there is one.
    pub fit: Option<Fit>,
}

impl Changes<'_> {
    /// Returns the changed rendezvous threshold in bytes.
    #[must_use]
    pub fn eager(&self) -> Option<f64> {
        let mut eager = self.hypotheses.iter().filter_map(|hypothesis| match hypothesis {
            Hypothesis::Net(net) => net.eager,
            _ => None,
        });
        eager.next_back()
    }

    /// Translates the changes into a plan for the graph.
    ///
    /// # Errors
    /// Fails if a hypothesis does not fit the trace.
    pub fn apply(&self, graph: &Graph<'_>) -> Result<Applied, String> {
        let (plan, notes) = (Plan::default(), Vec::new());
        let mut applied = Applied { plan, notes, fit: None };
        for hypothesis in self.hypotheses {
            match hypothesis {
                // A factor of 1 changes nothing. The states must exist nevertheless.
                Hypothesis::Scale(scale) if scale.factor == 1.0 => {
                    instances(graph, &scale.states)?;
                }
                Hypothesis::Cpu(cpu) if cpu.factor == 1.0 => {
                    tracks(graph, cpu.container.as_ref())?;
                }
                Hypothesis::Scale(scale) => {
                    instances(graph, &scale.states)?;
                    let tracks = tracks(graph, scale.states.container.as_ref())?;
                    applied.notes.push(effect(scale.states.state.as_str(), scale.factor));
                    for value in values(graph, &scale.states.state)? {
                        let min_gap = graph.tracks().trace().time_scale().time(scale.min_gap);
                        let (tracks, factor) = (tracks.clone(), scale.factor);
                        let scaling = Scaling { tracks, factor, min_gap };
                        applied.plan.values.entry(value).or_default().push(scaling);
                    }
                }
                Hypothesis::Cpu(cpu) => {
                    let tracks = tracks(graph, cpu.container.as_ref())?;
                    let scaling = Scaling { tracks, factor: cpu.factor, min_gap: 0.0 };
                    applied.notes.push(effect("computing and the time between states", cpu.factor));
                    for value in of_class(graph, Class::Compute) {
                        applied.plan.values.entry(value).or_default().push(scaling.clone());
                    }
                    applied.plan.between.push(scaling);
                }
                Hypothesis::Balance(balance) => balance_states(graph, balance, &mut applied)?,
                Hypothesis::Cut(states) => cut(graph, states, &mut applied.plan)?,
                Hypothesis::CutMessages(condition) => {
                    cut_messages(graph, condition, &mut applied)?;
                }
                Hypothesis::Net(net) => nets::apply(graph, net, self.network, &mut applied)?,
            }
        }
        close_cuts(graph, &mut applied.plan);
        // Measured runs get an interval instead.
        let changes_network = applied.plan.after.is_some();
        let has_interval = !changes_network && !graph.run.facts.is_simulated();
        if !has_interval && !applied.plan.is_nothing() && !graph.is_ideal() {
            doubt(graph, changes_network).map_or(Ok(()), Err)?;
        }
        if let Some((random, run)) = self.random {
            draw(graph, random, run, &mut applied.plan);
        }
        if let Some(network) = self.network
            && applied.plan.after.is_none()
            && !applied.plan.is_nothing()
        {
            applied.plan.before = Some(network.clone());
            applied.plan.after = Some(network.clone());
        }
        if let Some(eager) = self.eager() {
            let costs = applied.plan.after.take();
            let mut costs = costs.unwrap_or_else(|| graph.costs().clone());
            let messages = graph.messages().list().iter();
            let becomes = |bytes: f64| bytes >= eager;
            costs.rendezvous = messages
                .zip(graph.transfers())
                .map(|(message, known)| message.bytes().map_or(known.is_rendezvous, becomes))
                .collect();
            applied.plan.after = Some(costs);
        }
        Ok(applied)
    }
}

/// Says whether a factor makes something faster or slower.
fn effect(what: &str, factor: f64) -> String {
    let short = |number: f64| (number * 1e4).round() / 1e4;
    let times = format!("{what}: times are multiplied by {}", short(factor));
    match factor {
        0.0 => times,
        ..1.0 => format!("{times}, which is {} times as fast", short(1.0 / factor)),
        _ => format!("{times}, which is {} times as slow", short(factor)),
    }
}

fn tracks(graph: &Graph<'_>, wanted: Option<&Glob>) -> Result<Vec<bool>, String> {
    let containers = graph.tracks().trace().containers();
    let list = graph.tracks().list();
    let Some(glob) = wanted else { return Ok(vec![true; list.len()]) };
    let is_meant = |track: &paje_comm::tracks::Track| {
        let alias = containers.alias(track.container);
        glob.matches(containers.name(track.container).text)
            || alias.is_some_and(|alias| glob.matches(alias.text))
    };
    let found: Vec<bool> = list.iter().map(is_meant).collect();
    if found.contains(&true) {
        return Ok(found);
    }
    let names = list.iter().map(|track| containers.name(track.container).text);
    let hint = nearest(glob.as_str().as_bytes(), names);
    Err(format!("container={}: the trace has no such container; {hint}", glob.as_str()))
}

/// Returns the matching values with their types.
fn values(graph: &Graph<'_>, wanted: &Glob) -> Result<Vec<(u32, u32)>, String> {
    let types = graph.tracks().trace().types();
    let of = |type_| (0..types.value_count(type_) as u32).map(move |value| (type_, ValueId(value)));
    let all: Vec<_> = graph.tracks().classes().chosen().flat_map(of).collect();
    let name = |(type_, value)| types.value_name(type_, value);
    let found: Vec<(u32, u32)> = all
        .iter()
        .copied()
        .filter(|both| wanted.matches(name(*both).text))
        .map(|(type_, value)| (type_.0, value.0))
        .collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let hint = nearest(wanted.as_str().as_bytes(), all.into_iter().map(|both| name(both).text));
    Err(format!("state={}: the trace has no such state; {hint}", wanted.as_str()))
}

fn of_class(graph: &Graph<'_>, class: Class) -> Vec<(u32, u32)> {
    let classes = graph.tracks().classes();
    let of = |type_: paje_sim::TypeId| {
        let all = classes.of_type(type_).iter().enumerate();
        all.filter(move |(_, of)| **of == class).map(move |(value, _)| (type_.0, value as u32))
    };
    classes.chosen().flat_map(of).collect()
}

/// Returns the matching states of each track, with their exclusive times in seconds.
fn instances(graph: &Graph<'_>, states: &States) -> Result<Vec<Vec<(u32, f64)>>, String> {
    let (tracks, values) =
        (tracks(graph, states.container.as_ref())?, values(graph, &states.state)?);
    let of = |(at, track): (usize, &paje_comm::tracks::Track)| {
        if !tracks[at] {
            return Vec::new();
        }
        let is_meant = |state: &usize| values.contains(&(track.type_.0, track.value[*state].0));
        let mut inner = vec![0.0; track.len()];
        for state in 0..track.len() {
            if let Some(around) = track.parent(state) {
                inner[around] += track.end[state] - track.start[state];
            }
        }
        let own = |state: usize| (track.end[state] - track.start[state] - inner[state]).max(0.0);
        (0..track.len()).filter(is_meant).map(|state| (state as u32, own(state))).collect()
    };
    let all: Vec<Vec<(u32, f64)>> = graph.tracks().list().iter().enumerate().map(of).collect();
    if all.iter().all(Vec::is_empty) {
        let (state, none) = (states.state.as_str(), "no such state in these containers");
        let container = states.container.as_ref().map_or("*", Glob::as_str);
        return Err(format!("state={state},container={container}: {none}; nothing would change"));
    }
    Ok(all)
}

fn mean(of: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = of.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

fn balance_states(
    graph: &Graph<'_>,
    balance: &Balance,
    applied: &mut Applied,
) -> Result<(), String> {
    let all = instances(graph, &balance.states)?;
    let some = || all.iter().filter(|states| !states.is_empty());
    let most = some().map(Vec::len).max().unwrap_or(0);
    let kth: Vec<f64> = match balance.mode {
        Mode::GlobalInstance => {
            let least = some().map(Vec::len).min().unwrap_or(0);
            if least != most {
                applied.notes.push(format!(
                    "balanced containers have {least} to {most} states; the k-th states are balanced where they exist"
                ));
            }
            (0..most).map(|k| mean(some().filter_map(|s| s.get(k)).map(|(_, own)| *own))).collect()
        }
        _ => Vec::new(),
    };
    let overall = mean(some().flatten().map(|(_, own)| *own));
    let sum = |states: &Vec<(u32, f64)>| states.iter().map(|(_, own)| own).sum::<f64>();
    let mean_sum = mean(some().map(sum));
    let plan = &mut applied.plan;
    make_factors(graph, plan);
    for (at, states) in all.iter().enumerate() {
        let (local, sum) = (mean(states.iter().map(|(_, own)| *own)), sum(states));
        for (k, (state, own)) in states.iter().enumerate() {
            let target = match balance.mode {
                Mode::GlobalInstance => kth[k],
                Mode::ProcessLocal => local,
                Mode::Global => overall,
                Mode::Scaled if sum > 0.0 => own * mean_sum / sum,
                Mode::Scaled => mean_sum / states.len() as f64,
            };
            let factor = &mut plan.states[at][*state as usize];
            // States that already have the right length keep it exactly.
            let is_same = (target - own).abs() <= 1e-12 * own;
            *factor = match *own > 0.0 {
                true if is_same => *factor,
                true => factor.max(0.0) * target / own,
                false if target == 0.0 => *factor,
                false => -target,
            };
        }
    }
    Ok(())
}

fn make_factors(graph: &Graph<'_>, plan: &mut Plan) {
    if plan.states.is_empty() {
        plan.states = graph.tracks().list().iter().map(|track| vec![1.0; track.len()]).collect();
    }
}

fn cut(graph: &Graph<'_>, states: &States, plan: &mut Plan) -> Result<(), String> {
    let all = instances(graph, states)?;
    if plan.cut_states.is_empty() {
        let none = |track: &paje_comm::tracks::Track| vec![false; track.len()];
        plan.cut_states = graph.tracks().list().iter().map(none).collect();
    }
    for (cut, states) in plan.cut_states.iter_mut().zip(all) {
        states.iter().for_each(|(state, _)| cut[*state as usize] = true);
    }
    Ok(())
}

/// Also removes everything that depends on removed states. This includes nested states, collectives
/// with a removed member, and messages with a removed end.
fn close_cuts(graph: &Graph<'_>, plan: &mut Plan) {
    if plan.cut_states.is_empty() {
        return;
    }
    let spread = |cut: &mut Vec<Vec<bool>>| {
        for (track, cut) in graph.tracks().list().iter().zip(cut) {
            for state in 0..track.len() {
                cut[state] |= track.parent(state).is_some_and(|around| cut[around]);
            }
        }
    };
    spread(&mut plan.cut_states);
    for series in &graph.run.facts.collectives.series {
        let members = &series.tracks;
        for instance in 0..series.len() {
            let all = || members.iter().zip(series.operation(instance));
            if all().any(|(track, state)| plan.cut_states[*track as usize][*state as usize]) {
                for (track, state) in all() {
                    plan.cut_states[*track as usize][*state as usize] = true;
                }
            }
        }
    }
    spread(&mut plan.cut_states);
    plan.cut_messages.resize(graph.messages().list().len(), false);
    for (message, cut) in graph.messages().list().iter().zip(&mut plan.cut_messages) {
        let is_cut = |track: u32, state: Option<usize>| {
            state.is_some_and(|state| plan.cut_states[track as usize][state])
        };
        *cut |= is_cut(message.from, message.send()) || is_cut(message.to, message.recv());
    }
}

fn cut_messages(
    graph: &Graph<'_>,
    condition: &Condition,
    applied: &mut Applied,
) -> Result<(), String> {
    let trace = graph.tracks().trace();
    let list = graph.messages().list();
    let tags = if condition.needs_tags() { fields::tags(graph) } else { Vec::new() };
    if condition.needs_tags() && tags.iter().all(Option::is_none) {
        return Err("the messages of this trace have no tags; use size, value, from or to".into());
    }
    if condition.needs_sizes() && list.iter().all(|message| message.bytes().is_none()) {
        return Err("the messages of this trace have no sizes; use value, from or to".into());
    }
    let plan = &mut applied.plan;
    plan.cut_messages.resize(list.len(), false);
    let name =
        |track: u32| trace.containers().name(graph.tracks().list()[track as usize].container).text;
    let lanes: FxHashMap<LaneId, TypeId> =
        trace.lanes().map(|lane| (lane.id(), lane.type_id())).collect();
    let mut count = 0;
    for (at, message) in list.iter().enumerate() {
        let type_ = lanes.get(&message.lane);
        let value =
            type_.map_or(&b""[..], |type_| trace.types().value_name(*type_, message.value).text);
        let properties = Properties {
            numbers: [message.bytes(), tags.get(at).copied().flatten()],
            names: [value, name(message.from), name(message.to)],
        };
        if condition.holds(&properties) {
            plan.cut_messages[at] = true;
            count += 1;
        }
    }
    applied.notes.push(format!("{count} of {} messages are removed", list.len()));
    Ok(())
}

fn draw(graph: &Graph<'_>, random: &Random, run: u32, plan: &mut Plan) {
    make_factors(graph, plan);
    let seed = random.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(run));
    let mut source = Xoshiro256PlusPlus::seed_from_u64(seed);
    // Returns the parameters with which the mean is 1 and the coefficient of variation is as given.
    let variance = random.cv.mul_add(random.cv, 1.0).ln();
    let lognormal = LogNormal::new(-variance / 2.0, variance.sqrt()).ok();
    let normal = Normal::new(1.0, random.cv).ok();
    let mut factor = || match random.distribution {
        Distribution::Lognormal => lognormal.map_or(1.0, |it| it.sample(&mut source)),
        Distribution::Normal => normal.map_or(1.0, |it| it.sample(&mut source)).max(0.0),
    };
    for (at, factors) in plan.states.iter_mut().enumerate() {
        for (state, own) in factors.iter_mut().enumerate() {
            if graph.tracks().class(at, state) == Class::Compute {
                *own *= factor();
            }
        }
    }
}
