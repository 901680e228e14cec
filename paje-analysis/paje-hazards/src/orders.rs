//! Finds the orders in which messages could have arrived.
//!
//! One message into a container precedes another one if the sender of the second knew that the
//! first had arrived, or if both are in the same channel. To reduce the number of orders, messages
//! that can be exchanged are put in a fixed order. The rest is cut into consecutive groups, which
//! can be tried independently. (Source: Schaeli, 4.4.2 to 4.4.4.) This assumes that any order leads
//! to the same messages.

use num_bigint::BigUint;
use paje_analysis::order::{Order, Question, Step};
use rayon::prelude::*;

use crate::driven;
use crate::model::Model;
use crate::persistent::Persistent;
use crate::poset::{Orders, Poset};

/// Maximum number of messages in a part that is analysed. Larger parts are not split.
pub const LARGEST: usize = 2000;

/// Maximum size of a group whose orders are reduced, which takes time O(n⁴).
const REDUCED: usize = 200;

/// Messages into one container. Their orders can be tried independently of other groups.
#[derive(Clone, Debug)]
pub struct Group {
    /// Track of the container.
    pub track: usize,
    /// Messages in one of the allowed orders.
    pub messages: Vec<u32>,
    /// Partial order of the messages. Its elements are indices in `messages`. `None` if there are
    /// too many messages.
    pub poset: Option<Poset>,
}

/// Number of orders at one stage of the reduction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// Name of the stage: `events`, `messages`, `graph`, `persistent`, `containers`, `reduced`,
    /// `groups` or `states`.
    pub name: &'static str,
    /// Number of independent parts.
    pub parts: u64,
    /// Number of events or messages in the parts.
    pub things: u64,
    /// Total number of orders of the parts, or `None` if there are too many to count.
    pub orders: Option<BigUint>,
    /// Number of messages that are delivered if all orders are tried.
    pub deliveries: Option<BigUint>,
}

/// Returns the groups of at least two messages, ordered by container and time.
#[must_use]
pub fn groups(model: &Model<'_>, order: &Order) -> Vec<Group> {
    let containers = containers(model, order);
    let cut = containers.into_par_iter().map(|(track, coarse)| {
        let parts = coarse.into_iter().flat_map(|(messages, poset)| match poset {
            None => vec![Group { track, messages, poset: None }],
            Some(poset) => {
                let reduced = reduced(model, &messages, &poset);
                let of_group = |group: Vec<usize>| Group {
                    track,
                    poset: Some(reduced.part(&group)),
                    messages: group.iter().map(|at| messages[*at]).collect(),
                };
                reduced.groups().into_iter().map(of_group).collect()
            }
        });
        parts.filter(|group| group.messages.len() > 1).collect::<Vec<_>>()
    });
    cut.flatten().collect()
}

fn reduced(model: &Model<'_>, messages: &[u32], poset: &Poset) -> Poset {
    if model.access.is_empty() || messages.len() > REDUCED {
        return poset.clone();
    }
    poset.reduced(|a, b| exchange(model.access(messages[a]), model.access(messages[b])))
}

/// Returns whether two messages can be exchanged: neither writes what the other one accesses.
fn exchange(a: Option<&[u8]>, b: Option<&[u8]>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    let uses = |access: u8| matches!(access, b'r' | b'w');
    let collide = |(a, b): (&u8, &u8)| (*a == b'w' && uses(*b)) || (*b == b'w' && uses(*a));
    !a.iter().zip(b).any(collide)
}

/// Some of the messages into a container, and their order unless there are too many.
pub(crate) type Part = (Vec<u32>, Option<Poset>);

/// Returns the messages into each container, split wherever all earlier messages precede all later
/// ones.
fn containers(model: &Model<'_>, order: &Order) -> Vec<(usize, Vec<Part>)> {
    if model.is_driven {
        return driven::containers(model);
    }
    let known = crate::races::known(model, order);
    (0..model.facts.tracks.list().len())
        .into_par_iter()
        .map(|track| {
            let step = |message: u32| order.index(track, order.recv(message as usize));
            let received = model.facts.messages.received(track).iter().copied();
            let is_open = |message: &u32| model.is_open(*message as usize);
            let mut messages: Vec<u32> = received.filter(is_open).collect();
            messages.sort_by_key(|message| step(*message));
            let mut parts = Vec::new();
            let mut end = messages.len();
            // For each message, the lowest number of steps that the senders of later messages knew.
            // It is computed from the last message to the first.
            let mut least = u32::MAX;
            for at in (0..messages.len()).rev() {
                least = least.min(known[messages[at] as usize]);
                if at == 0 || step(messages[at - 1]) < least {
                    let part = messages[at..end].to_vec();
                    let poset = (part.len() <= LARGEST).then(|| {
                        Poset::new(part.len(), |a, b| {
                            let (a, b) = (part[a] as usize, part[b] as usize);
                            step(a as u32) < known[b] || model.channel[a] == model.channel[b]
                        })
                    });
                    parts.push((part, poset));
                    end = at;
                }
            }
            parts.reverse();
            (track, parts)
        })
        .collect()
}

/// Counts the orders at each stage. Stops at a stage that needs more than `limit` sets of messages.
#[must_use]
pub fn stages(model: &Model<'_>, order: &Order, limit: usize) -> Vec<Stage> {
    let messages = model.facts.messages.list().len();
    let all = deliveries(model, order);
    let counted = events(model, order).and_then(|poset| poset.count(limit));
    let mut stages = vec![Stage::of("events", 2 * messages as u64, counted.map(|one| one.orders))];
    let counted = all.as_ref().and_then(|(_, poset)| poset.count(limit));
    let orders = counted.as_ref().map(|one| one.orders.clone());
    stages.push(Stage::of("messages", messages as u64, orders));
    stages.push(Stage::graph("graph", messages as u64, counted));
    stages.push(Stage::graph(
        "persistent",
        messages as u64,
        all.and_then(|(messages, poset)| persistent(model, &messages, &poset, limit)),
    ));
    let containers = containers(model, order);
    let (mut plain, mut less) = (Stage::new("containers"), Stage::new("reduced"));
    let (mut groups, mut states) = (Stage::new("groups"), Stage::new("states"));
    for (_, parts) in &containers {
        let things: u64 = parts.iter().map(|(messages, _)| messages.len() as u64).sum();
        if things == 0 {
            continue;
        }
        // The total number of orders is the product of the numbers of all parts.
        let (mut all, mut fewer) = (Some(BigUint::from(1_u8)), Some(BigUint::from(1_u8)));
        for (messages, poset) in parts {
            let counted = poset.as_ref().and_then(|poset| poset.count(limit));
            all = all.zip(counted).map(|(all, counted)| all * counted.orders);
            let Some(poset) = poset else {
                fewer = None;
                for stage in [&mut groups, &mut states] {
                    stage.add(messages.len() as u64, None);
                }
                continue;
            };
            let reduced = reduced(model, messages, poset);
            for group in reduced.groups() {
                let counted: Option<Orders> = reduced.part(&group).count(limit);
                let orders = counted.as_ref().map(|counted| counted.orders.clone());
                let edges = counted.map(|counted| BigUint::from(counted.steps));
                fewer = fewer.zip(orders.as_ref()).map(|(fewer, orders)| fewer * orders);
                groups.add(group.len() as u64, orders.clone());
                states.add_with(group.len() as u64, orders, edges);
            }
        }
        plain.add(things, all);
        less.add(things, fewer);
    }
    stages.extend([plain, less, groups, states]);
    stages
}

/// Counts the orders in the graph of all messages, without equivalent branches.
fn persistent(model: &Model<'_>, messages: &[u32], poset: &Poset, limit: usize) -> Option<Orders> {
    let list = model.facts.messages.list();
    let into = |at: usize| list[messages[at] as usize].to;
    let exchange =
        |a: usize, b: usize| exchange(model.access(messages[a]), model.access(messages[b]));
    let now = |a, b| into(a) == into(b) && !exchange(a, b);
    let later = |a, b| match model.is_routed {
        true => model.container_type(into(a)) == model.container_type(into(b)) && !exchange(a, b),
        false => now(a, b),
    };
    Persistent::new(poset, now, later).count(limit)
}

impl Stage {
    /// Creates the stage of a graph whose edges are deliveries.
    fn graph(name: &'static str, things: u64, counted: Option<Orders>) -> Self {
        let mut stage = Stage::new(name);
        let edges = counted.as_ref().map(|counted| BigUint::from(counted.steps));
        stage.add_with(things, counted.map(|counted| counted.orders), edges);
        stage
    }

    fn new(name: &'static str) -> Self {
        let zero = Some(BigUint::default());
        Stage { name, orders: zero.clone(), deliveries: zero, ..Stage::default() }
    }

    fn of(name: &'static str, things: u64, orders: Option<BigUint>) -> Self {
        let mut stage = Stage::new(name);
        stage.add(things, orders);
        stage
    }

    fn add(&mut self, things: u64, orders: Option<BigUint>) {
        let deliveries = orders.as_ref().map(|orders| orders * things);
        self.add_with(things, orders, deliveries);
    }

    fn add_with(&mut self, things: u64, orders: Option<BigUint>, more: Option<BigUint>) {
        self.parts += 1;
        self.things += things;
        self.deliveries = self.deliveries.take().zip(more).map(|(all, more)| all + more);
        self.orders = self.orders.take().zip(orders).map(|(all, orders)| all + orders);
    }
}

/// Returns the order of all sends and receives. Sends and receives of the same step are not
/// ordered.
fn events(model: &Model<'_>, order: &Order) -> Option<Poset> {
    if model.is_driven {
        return driven::events(model);
    }
    let count = model.facts.messages.list().len();
    let steps = (0..count).flat_map(|message| {
        [(order.send(message), message, false), (order.recv(message), message, true)]
    });
    let mut events: Vec<(Step, usize, bool)> = steps.collect();
    let known = Known::new(model, order)?;
    // This order is allowed, because knowledge grows along each edge. Sends come before receives
    // with the same knowledge.
    events.sort_by_key(|(step, message, receives)| {
        let late =
            if *receives { known.sum_with(*step, order.send(*message)) } else { known.sum(*step) };
        (late, *receives, *step, *message)
    });
    Some(Poset::new(events.len(), |a, b| {
        let ((step, message, receives), (late, other, is_receive)) = (events[a], events[b]);
        let (track, index) = order.place(step);
        index < known.of(late, track)
            || is_receive
                && (index < known.of(order.send(other), track) || (message == other && !receives))
    }))
}

/// Returns the order of all messages. It follows from the knowledge of their senders.
fn deliveries(model: &Model<'_>, order: &Order) -> Option<(Vec<u32>, Poset)> {
    if model.is_driven {
        return driven::deliveries(model);
    }
    let list = model.facts.messages.list();
    let known = Known::new(model, order)?;
    let mut messages: Vec<u32> = (0..list.len() as u32).collect();
    messages.sort_by_key(|message| {
        let (send, recv) = (order.send(*message as usize), order.recv(*message as usize));
        (known.sum(send), recv, *message)
    });
    let poset = Poset::new(messages.len(), |a, b| {
        let (a, b) = (messages[a] as usize, messages[b] as usize);
        let (track, index) = order.place(order.recv(a));
        index < known.of(order.send(b), track)
            || (model.channel[a] == model.channel[b]
                && list[a].to == list[b].to
                && order.recv(a) < order.recv(b))
    });
    Some((messages, poset))
}

/// For each step, the number of steps of each track that it knows. This is computed only for small
/// traces.
struct Known {
    tracks: usize,
    by_step: Vec<u32>,
    steps: Vec<Step>,
}

impl Known {
    fn new(model: &Model<'_>, order: &Order) -> Option<Self> {
        let count = model.facts.messages.list().len();
        if count > LARGEST {
            return None;
        }
        let tracks = model.facts.tracks.list().len();
        let ends = (0..count).flat_map(|message| [order.send(message), order.recv(message)]);
        let mut steps: Vec<Step> = ends.collect();
        steps.sort_unstable();
        steps.dedup();
        let of_step = |step: &Step| {
            let step = *step;
            (0..tracks as u32).map(move |track| Question { step, track })
        };
        let questions: Vec<Question> = steps.iter().flat_map(of_step).collect();
        Some(Known { tracks, by_step: order.known(&questions), steps })
    }

    fn row(&self, step: Step) -> &[u32] {
        let at = self.steps.partition_point(|other| *other < step);
        &self.by_step[at * self.tracks..][..self.tracks]
    }

    fn of(&self, step: Step, track: usize) -> u32 {
        self.row(step)[track]
    }

    fn sum(&self, step: Step) -> u64 {
        self.row(step).iter().map(|known| u64::from(*known)).sum()
    }

    fn sum_with(&self, step: Step, other: Step) -> u64 {
        let pairs = self.row(step).iter().zip(self.row(other));
        pairs.map(|(a, b)| u64::from(*a.max(b))).sum()
    }
}
