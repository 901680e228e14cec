//! Rules about the network: whether messages are slow, or too many.

use rayon::prelude::*;

use paje_decimal::amounts::{amount, count};

use super::measures::Measures;
use super::rules::Losses;
use super::{Cause, Kind, LEAST};
use crate::waits::rest::Rest;

/// Traffic of a run.
struct Traffic {
    messages: u64,
    /// Mean size in bytes, if known.
    bytes: Option<f64>,
    /// Messages from a rank to another between two long pieces of computing.
    per_round: f64,
    /// Mean time in transfer per message received, in the trace's unit.
    each: f64,
    /// Number of operations of all collectives, per rank and round.
    operations: f64,
    /// Whether collectives take more of the time than messages.
    is_collective: bool,
}

/// Number of messages or operations from which they could be combined.
const MANY: f64 = 4.0;

/// Largest mean size of small messages in bytes. The latency of usual networks is as long as the
/// transfer of some kilobytes.
const SMALL: f64 = 4096.0;

/// Longest time of a message in a usual network, in seconds.
const USUAL: f64 = 50e-6;

/// There are too many messages if ranks send several small ones to the same rank without much
/// computing between them, or if small messages are as fast as in usual networks. Otherwise, the
/// network is slow for what the program sends.
pub(super) fn transfer(measures: &Measures<'_, '_>, losses: &Losses) -> Option<Cause> {
    if losses.transfer < LEAST {
        return None;
    }
    let cause = |kind, text| {
        let whatif = (!measures.waits.lacks_messages())
            .then(|| "--net latency=x0.5,bandwidth=x2".to_owned());
        Some(Cause::new(kind, losses.transfer, text, "comm").with_whatif(whatif))
    };
    let traffic = Traffic::new(measures);
    let is_small = traffic.bytes.is_none_or(|bytes| bytes <= SMALL);
    let size = match traffic.bytes {
        Some(bytes) => format!("{}B on average", spaced(bytes)),
        None => "sizes not recorded".into(),
    };
    let number = count(traffic.messages);
    let per = match traffic.is_collective {
        true => traffic.operations,
        false => traffic.per_round,
    };
    if is_small && per >= MANY {
        let text = match traffic.is_collective {
            true => format!(
                "{per:.0} collectives per rank between two pieces of computing. Fewer and larger ones would take less time"
            ),
            false => format!(
                "{number} messages ({size}), {per:.0} from a rank to another between two pieces of computing. \
                 Fewer and larger ones would take less time"
            ),
        };
        return cause(Kind::SmallMessages, text);
    }
    let each = measures.waits.scale().seconds(traffic.each);
    if !traffic.is_collective && is_small && traffic.bytes.is_some() && each <= USUAL {
        let computing: f64 = measures.computing().iter().sum();
        let text = format!(
            "{number} messages ({size}) take only {} each, but ranks compute only {} per message. Fewer and larger ones would \
             take less time",
            measures.duration(traffic.each),
            measures.duration(computing / traffic.messages.max(1) as f64),
        );
        return cause(Kind::SmallMessages, text);
    }
    let text = match traffic.is_collective {
        true => format!(
            "collectives take {} of each rank's time beyond waiting",
            paje_decimal::amounts::percent(measures.share(&[Rest::Collective]))
        ),
        false => format!(
            "{number} messages ({size}) take {} each after both sides are ready",
            measures.duration(traffic.each)
        ),
    };
    cause(Kind::SlowNetwork, text)
}

fn spaced(bytes: f64) -> String {
    let text = amount(bytes.round());
    if text.contains(' ') { text } else { text + " " }
}

impl Traffic {
    fn new(measures: &Measures<'_, '_>) -> Self {
        let facts = &measures.waits.facts;
        let list = facts.messages.list();
        let (from, until) = measures.window;
        let is_in = |at: &u32| (from..=until).contains(&list[*at as usize].start);
        let of_rank = |rank: usize| {
            let (track, ends) =
                (measures.ranks[rank].track as usize, measures.rounds(measures.ranks[rank].track));
            let mut last = vec![usize::MAX; facts.tracks.list().len()];
            let (mut round, mut messages, mut groups) = (0, 0, 0);
            for at in facts.messages.sent(track).iter().filter(|at| is_in(at)) {
                let message = &list[*at as usize];
                while round < ends.len() && ends[round] <= message.start {
                    round += 1;
                }
                messages += 1;
                groups +=
                    u64::from(std::mem::replace(&mut last[message.to as usize], round) != round);
            }
            (messages, groups, ends.len() as u64)
        };
        let all = (0..measures.ranks.len()).into_par_iter().map(of_rank);
        let add = |a: (u64, u64, u64), b: (u64, u64, u64)| (a.0 + b.0, a.1 + b.1, a.2 + b.2);
        let (messages, groups, rounds) = all.reduce(|| (0, 0, 0), add);
        let sizes = list.iter().filter_map(|message| message.bytes());
        let (known, sum) = sizes.fold((0u64, 0.0), |(known, sum), bytes| (known + 1, sum + bytes));
        let seats = facts.collectives.series.iter().map(|it| (it.len() * it.tracks.len()) as u64);
        let shares = [Rest::Transfer, Rest::Collective].map(|rest| measures.share(&[rest]));
        let whole = measures.length * measures.ranks.len() as f64;
        Traffic {
            messages,
            bytes: (known > 0).then(|| sum / known as f64),
            per_round: messages as f64 / groups.max(1) as f64,
            each: shares[0] * whole / messages.max(1) as f64,
            operations: seats.sum::<u64>() as f64 / rounds.max(1) as f64,
            is_collective: shares[1] > shares[0],
        }
    }
}
