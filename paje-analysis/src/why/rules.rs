//! The rules. Each looks at measured quantities and returns a cause if the quantities show it.
//! `docs/dev/why-rules.md` explains them and names their sources.

use std::collections::BTreeMap;

use paje_decimal::amounts::{duration, percent};

use super::lateness::Lateness;
use super::measures::{CallPath, Measures, Site, can_be_one_way};
use super::suggest::faster;
use super::{Cause, Kind, LEAST};
use crate::quantiles::median;
use crate::waits::rest::{Efficiency, Rest};

/// Time that a run loses, as shares of its length. Together with the parallel efficiency, the
/// first three add up to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Losses {
    pub(super) balance: f64,
    pub(super) serialisation: f64,
    pub(super) transfer: f64,
    /// Mean share of input and output, and of calls that do not communicate.
    pub(super) files: f64,
    pub(super) other: f64,
    /// Mean share of calls that could wait, if the trace has no message for them.
    pub(super) unexplained: f64,
}

impl Losses {
    /// Computes the losses. `transfer` is the transfer efficiency. Without it, the time in calls
    /// that is not waiting counts as transfer.
    pub(super) fn new(
        measures: &Measures<'_, '_>,
        all: &Efficiency,
        transfer: Option<f64>,
    ) -> Self {
        let (files, other) = (measures.share(&[Rest::Files]), measures.share(&[Rest::Other]));
        let balance = all.communication - all.parallel;
        let unexplained = measures.share(&[Rest::Unexplained]);
        let in_calls = measures.share(&[Rest::Transfer, Rest::Collective]);
        let transferring = transfer.map_or(in_calls, |transfer| 1.0 - transfer);
        let serial = 1.0 - transferring - all.communication - files - other;
        // Time that the prediction does not explain is not waiting.
        let waiting = measures.share_of(measures.waiting) - balance;
        let serialisation = serial.min(waiting).max(0.0);
        // Time in calls that is neither waiting nor transfer is spent inside the library.
        let in_all_calls = (serial - serialisation).min(in_calls - transferring).max(0.0);
        Losses {
            balance,
            serialisation,
            transfer: transferring.max(0.0) + in_all_calls,
            files,
            other,
            unexplained,
        }
    }
}

/// Smallest excess of a slow rank's computing over the median rank.
const SLOW: f64 = 0.2;

/// Smallest part of the waiting in which the awaited rank has to wait, too, if there are chains.
const CHAIN: f64 = 0.35;

/// Smallest part of the waiting for ranks that only send, if these are late.
const ONE_WAY: f64 = 0.4;

/// A node is slow if its ranks compute longer than all others, and by about the same factor at all
/// sites that other ranks have, too.
pub(super) fn slow_node(measures: &Measures<'_, '_>, losses: &Losses) -> Option<Cause> {
    if losses.balance < LEAST {
        return None;
    }
    let computing = measures.computing();
    let median = median(&computing);
    let slow: Vec<usize> =
        (0..computing.len()).filter(|rank| computing[*rank] > (1.0 + SLOW) * median).collect();
    let others = (0..computing.len()).filter(|rank| !slow.contains(rank));
    let others: Vec<usize> = others.collect();
    let is_even = others.iter().all(|rank| (computing[*rank] / median - 1.0).abs() < SLOW / 2.0);
    let node = node(measures, &slow)?;
    if !is_even || others.len() < 2 * slow.len() {
        return None;
    }
    let sites: Vec<_> = others.iter().take(64).map(|rank| measures.sites(*rank)).collect();
    let usual = |site: &Site| -> Option<f64> {
        let means = sites.iter().filter_map(|sites| sites.get(site));
        let mut means: Vec<f64> = means.map(|(count, sum)| sum / *count as f64).collect();
        means.sort_by(f64::total_cmp);
        (2 * means.len() > sites.len()).then(|| means[means.len() / 2])
    };
    let mut factors = Vec::new();
    for rank in &slow {
        let own = measures.sites(*rank);
        let factor = computing[*rank] / median;
        let mut like = 0.0;
        for (site, (count, sum)) in &own {
            let Some(usual) = usual(site) else { continue };
            let of_site = sum / *count as f64 / usual;
            if (of_site - 1.0) / (factor - 1.0) > 0.5 && (of_site - 1.0) / (factor - 1.0) < 2.0 {
                like += sum;
            }
        }
        if like < 0.8 * computing[*rank] {
            return None;
        }
        factors.push(factor);
    }
    let factor = factors.iter().sum::<f64>() / factors.len() as f64;
    let text = format!(
        "{node} computes {factor:.2} times as long as the others ({} instead of {}), by about the same factor in all of \
         its computing, and the others wait for it. The trace does not show whether it is slow, or has more work",
        measures.duration(slow.iter().map(|rank| computing[*rank]).fold(0.0, f64::max)),
        measures.duration(median),
    );
    let whatif = match slow[..] {
        [rank] => faster(&measures.name(measures.ranks[rank].track), 1.0 / factor),
        _ => None,
    };
    Some(Cause::new(Kind::SlowNode, losses.balance, text, "waits --by waiter").with_whatif(whatif))
}

/// Returns the name of the only rank, or of the container of all ranks on the same node. If the
/// trace has no nodes, they are consecutive ranks.
fn node(measures: &Measures<'_, '_>, slow: &[usize]) -> Option<String> {
    let containers = measures.waits.facts.tracks.trace().containers();
    let name = |rank: usize| measures.name(measures.ranks[rank].track);
    let parent = |rank: usize| {
        let track = measures.ranks[rank].track as usize;
        containers.parent(measures.waits.facts.tracks.list()[track].container)
    };
    let (first, last) = (*slow.first()?, *slow.last()?);
    let of_node = (0..measures.ranks.len()).filter(|rank| parent(*rank) == parent(first)).count();
    match of_node == measures.ranks.len() {
        _ if first == last => Some(name(first)),
        true if last - first + 1 == slow.len() => {
            Some(format!("the node of {} to {}", name(first), name(last)))
        }
        false if of_node == slow.len() && slow.iter().all(|it| parent(*it) == parent(first)) => {
            Some(containers.name(parent(first)).to_string())
        }
        _ => None,
    }
}

/// Senders are late if receivers wait for ranks that only send, and receivers are late if senders
/// wait for ranks that only receive. In an exchange, both sides would wait for a slow one.
pub(super) fn one_way(
    measures: &Measures<'_, '_>,
    losses: &Losses,
    late: &Lateness,
) -> Option<Cause> {
    let cost = losses.balance.max(losses.serialisation).min(measures.share_of(measures.waiting));
    // Ranks that wait pass the delay on. If few ranks compute longer, it begins with these.
    let computing = measures.computing();
    let usual = (1.0 + SLOW) * median(&computing);
    let heavy = computing.iter().filter(|it| **it > usual).count();
    let begins = losses.balance >= losses.serialisation && 4 * heavy <= computing.len();
    let [senders, receivers] = [&late.senders, &late.receivers].map(|all| all.iter().sum::<f64>());
    let is_main = senders.max(receivers) >= ONE_WAY * measures.waiting
        && (begins || late.chained <= CHAIN * measures.waiting);
    if !is_main || cost < LEAST {
        return None;
    }
    let is_sent = senders >= receivers;
    let (of_track, all) =
        if is_sent { (&late.senders, senders) } else { (&late.receivers, receivers) };
    let costs = measures.waits.costs(measures.window);
    let delay = |track: usize| {
        let cost = costs.iter().find(|cost| is_sent && cost.whom as usize == track);
        cost.map_or(of_track[track], |cost| cost.delay)
    };
    let awaited = (0..of_track.len()).filter(|track| of_track[*track] >= 0.05 * all);
    let mut awaited: Vec<_> = awaited.map(|track| (track, delay(track))).collect();
    awaited.sort_by(|a, b| b.1.total_cmp(&a.1));
    let whom = awaited.first()?;
    let name = measures.name(whom.0 as u32);
    let others = awaited.iter().filter(|(_, delay)| *delay >= 0.1 * whom.1).count() - 1;
    let more = if others > 0 { format!(" and {others} others") } else { String::new() };
    let time = measures.duration(all);
    let (kind, text) = match is_sent {
        true => (
            Kind::LateSender,
            format!(
                "messages of {name}{more} are sent after their receivers are ready. These wait {time} in{}",
                calls(measures, |path| can_be_one_way(measures.waits, path)),
            ),
        ),
        false => (
            Kind::LateReceiver,
            format!(
                "{name}{more} are not ready to receive when messages are sent. The senders wait {time} until they are"
            ),
        ),
    };
    let whatif = if others == 0 { faster(&name, 0.5) } else { None };
    Some(Cause::new(kind, cost, text, "waits --by pair").with_whatif(whatif))
}

/// A rank is a bottleneck if almost all waiting is for it, and it computes many times while the
/// others compute once: it serves them one after the other.
pub(super) fn bottleneck(
    measures: &Measures<'_, '_>,
    losses: &Losses,
    late: &Lateness,
) -> Option<Cause> {
    if losses.balance < LEAST || measures.ranks.len() < 3 {
        return None;
    }
    let computing = measures.computing();
    let busiest = (0..computing.len()).max_by(|a, b| computing[*a].total_cmp(&computing[*b]))?;
    let track = measures.ranks[busiest].track;
    let awaited = measures.culprits[track as usize] / measures.waiting;
    let pieces = |rank: usize| measures.sites(rank).values().map(|it| it.0 as f64).sum::<f64>();
    let others = (0..computing.len()).filter(|rank| *rank != busiest).take(16);
    let usual = median(&others.map(pieces).collect::<Vec<_>>());
    let served = (measures.ranks.len() as f64 / 2.0).max(3.0);
    let is_asked = late.senders.iter().sum::<f64>() < ONE_WAY * measures.waiting;
    if !is_asked || awaited < 0.8 || pieces(busiest) < served * usual {
        return None;
    }
    let text = format!(
        "{} serves the others one after the other: {} of all waiting is for it, and it computes {} of the time",
        measures.name(track),
        percent(awaited),
        percent(computing[busiest] / measures.length),
    );
    let whatif = faster(&measures.name(track), 0.5);
    Some(
        Cause::new(Kind::Serialisation, losses.balance, text, "waits --by waiter")
            .with_whatif(whatif),
    )
}

/// The load is imbalanced if some ranks compute longer than others in the whole run, or in each part
/// of it.
pub(super) fn imbalance(
    measures: &Measures<'_, '_>,
    losses: &Losses,
    late: &Lateness,
) -> Option<Cause> {
    let computing = measures.computing();
    let mean = computing.iter().sum::<f64>() / computing.len() as f64;
    let rank = |best: fn(f64, f64) -> bool| {
        let ranks = (0..computing.len())
            .reduce(|a, b| if best(computing[b], computing[a]) { b } else { a });
        ranks.map(|rank| (measures.name(measures.ranks[rank].track), computing[rank]))
    };
    let (most, least) = (rank(|b, a| b > a)?, rank(|b, a| b < a)?);
    if losses.balance >= LEAST {
        let text = format!(
            "{} computes {}, {} on average, and {} only {}. Others wait{}",
            most.0,
            measures.duration(most.1),
            measures.duration(mean),
            least.0,
            measures.duration(least.1),
            match calls(measures, |_| true) {
                none if none.is_empty() => String::new(),
                calls => format!(" in{calls}"),
            },
        );
        let even = measures.even_computing(mean);
        return Some(
            Cause::new(Kind::Imbalance, losses.balance, text, "--by container").with_whatif(even),
        );
    }
    if losses.serialisation < LEAST || late.chained > CHAIN * measures.waiting {
        return None;
    }
    let awaited = (0..).zip(&measures.culprits).max_by(|a, b| a.1.total_cmp(b.1))?;
    let who = match *awaited.1 >= 0.8 * measures.waiting {
        true => format!("others wait for {} in", measures.name(awaited.0)),
        false => "now one is late, now another. They wait in".into(),
    };
    let text = format!(
        "all ranks compute about {}, but not at the same time: {who}{}",
        measures.duration(mean),
        calls(measures, |_| true),
    );
    Some(Cause::new(Kind::Imbalance, losses.serialisation, text, "time --classes --svg time.svg"))
}

/// The run is serialised if ranks wait for ranks that wait for others.
pub(super) fn serialisation(
    measures: &Measures<'_, '_>,
    losses: &Losses,
    late: &Lateness,
) -> Option<Cause> {
    if losses.serialisation < LEAST || late.chained <= CHAIN * measures.waiting {
        return None;
    }
    let active = measures.share(&[Rest::Computing]) * measures.ranks.len() as f64;
    let text = format!(
        "ranks wait in chains: for {} of the waiting, the awaited rank has to wait before it computes. On average, {active:.1} of {} ranks compute \
         at a time. The waits are in{}",
        percent(late.chained / measures.waiting),
        measures.ranks.len(),
        calls(measures, |_| true),
    );
    Some(Cause::new(Kind::Serialisation, losses.serialisation, text, "critical"))
}

/// Time in input and output, or in calls of the library that do not communicate.
pub(super) fn elsewhere(measures: &Measures<'_, '_>, losses: &Losses) -> Vec<Cause> {
    let names = |rest: Rest| {
        let types = measures.waits.facts.tracks.trace().types();
        let calls = measures.calls_of(rest).into_iter().take(2);
        let names = calls.map(|(type_, value)| types.value_name(type_, value).to_string());
        names.collect::<Vec<_>>().join(" and ")
    };
    let rest = |kind, share: f64, rest: Rest| {
        let sum: f64 = measures.ranks.iter().map(|rank| rank.rest[rest as usize].to_f64()).sum();
        let mean = measures.duration(sum / measures.ranks.len() as f64);
        let text =
            || format!("each rank spends {mean} on average in calls such as {}", names(rest));
        (share >= LEAST).then(|| Cause::new(kind, share, text(), "states"))
    };
    let unrecorded = (losses.unexplained >= LEAST).then(|| {
        let text = match names(Rest::Unexplained) {
            none if none.is_empty() => {
                "messages start and end between states, so the calls that send and receive them are not recorded".into()
            }
            calls => format!(
                "the trace has no messages for this time in {calls}, so waiting and transfer are not told apart"
            ),
        };
        Cause::new(Kind::Unrecorded, losses.unexplained, text, "waits")
    });
    let files = rest(Kind::Files, losses.files, Rest::Files);
    let other = rest(Kind::OtherCalls, losses.other, Rest::Other);
    files.into_iter().chain(other).chain(unrecorded).collect()
}

/// Names the two call paths with the longest waits.
pub(super) fn calls(measures: &Measures<'_, '_>, which: impl Fn(CallPath) -> bool) -> String {
    let types = measures.waits.facts.tracks.trace().types();
    let name = |(type_, values): CallPath| {
        let names = values.into_iter().rev().flatten();
        let names = names.map(|value| types.value_name(type_, value).to_string());
        names.collect::<Vec<_>>().join(" > ")
    };
    let all: f64 = measures.calls.iter().map(|call| call.1).sum();
    let calls = measures.calls.iter().filter(|call| which(call.0) && call.1 >= 0.1 * all);
    let texts = calls.take(2).map(|call| format!(" {}", name(call.0)));
    texts.collect::<Vec<_>>().join(" and")
}

impl Measures<'_, '_> {
    pub(super) fn name(&self, track: u32) -> String {
        self.waits.name(track).into_owned()
    }

    pub(super) fn duration(&self, time: f64) -> String {
        duration(self.waits.scale().seconds(time))
    }
}

/// Returns the largest parts of the critical path by value, as text.
pub(super) fn path(measures: &Measures<'_, '_>) -> Option<String> {
    let waits = measures.waits;
    let path = crate::critical::CriticalPath::new(waits)?;
    let types = waits.facts.tracks.trace().types();
    let mut sums: BTreeMap<_, f64> = BTreeMap::new();
    for row in path.by_activity(waits, measures.window) {
        *sums.entry(row.activity).or_default() += row.seconds.to_f64();
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    let name = |(type_, value): crate::critical::Activity| {
        value.map_or("between calls".into(), |value| types.value_name(type_, value).to_string())
    };
    let parts = sums.iter().take(3).filter(|(_, sum)| *sum >= 0.01 * measures.length);
    let parts = parts
        .map(|(activity, sum)| format!("{} {}", name(*activity), percent(sum / measures.length)));
    Some(parts.collect::<Vec<_>>().join(", "))
}
