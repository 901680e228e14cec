//! Replacement of the network.

use super::{Applied, fields};
use crate::fit::{Fit, Table, fit};
use crate::graph::Graph;
use crate::hypothesis::{Amount, Net, Sharing};
use crate::network::Network;
use crate::plan::Rest;
use crate::settings::Shape;
use crate::shapes::element;

struct Times<'f> {
    net: &'f Net,
    table: Option<&'f Table>,
    fit: Option<Fit>,
}

impl Times<'_> {
    /// Returns latency and time of the bytes in the recorded run, in seconds; NaN if unknown.
    fn before(&self, bytes: f64) -> (f64, f64) {
        match (self.table, &self.fit) {
            (Some(table), _) => table.times(bytes),
            (None, Some(fit)) => fit.times(bytes),
            (None, None) => (f64::NAN, f64::NAN),
        }
    }

    fn after(&self, bytes: f64) -> (f64, f64) {
        let (latency, work) = self.before(bytes);
        let latency = match self.net.latency {
            None => latency,
            Some(Amount::Times(factor)) => latency * factor,
            Some(Amount::Of(seconds)) => seconds,
        };
        let work = match self.net.bandwidth {
            None => work,
            Some(Amount::Times(factor)) => work / factor,
            Some(Amount::Of(bandwidth)) => bytes / bandwidth,
        };
        (latency, work)
    }
}

pub(super) fn apply(
    graph: &Graph<'_>,
    net: &Net,
    table: Option<&Table>,
    applied: &mut Applied,
) -> Result<(), String> {
    if net.latency.is_none() && net.bandwidth.is_none() {
        return Ok(());
    }
    let is_absolute = |amount: Option<Amount>| matches!(amount, Some(Amount::Of(_)));
    let shares = net.sharing == Sharing::MaxMin;
    let needs_fit = table.is_none() && !(is_absolute(net.latency) && is_absolute(net.bandwidth));
    let fit = if needs_fit { fit(graph, shares) } else { None };
    if needs_fit && fit.is_none() {
        return Err("cannot separate latency from bandwidth: the messages have no sizes, or all the same size; \
                    record with tracing/smpi/display-sizes:yes, or give --net-table FILE, or --net with \
                    both latency=SECONDS and bandwidth=BYTES-PER-SECOND"
            .into());
    }
    let cross = match (table, &fit) {
        (Some(table), _) => table.cross,
        (None, Some(fit)) => fit.factors.cross,
        (None, None) => 0.0,
    };
    let times = Times { net, table, fit };
    let of = |message: &paje_analysis::messages::Message| match message.bytes() {
        Some(bytes) => times.after(bytes),
        None => (f64::NAN, f64::NAN),
    };
    let list = graph.messages.list();
    let without = list.iter().filter(|message| message.bytes().is_none()).count();
    if without > 0 {
        applied.notes.push(format!(
            "{without} of {} messages have no size; their transfers keep their recorded times",
            list.len()
        ));
    }
    applied.plan.network = Some(Network { times: list.iter().map(of).collect(), shares, cross });
    operations(graph, &times, applied);
    applied.fit = times.fit;
    Ok(())
}

/// Scales collectives without links like a message of their size.
fn operations(graph: &Graph<'_>, times: &Times<'_>, applied: &mut Applied) {
    let seats = |shaped: &crate::CollectiveModel| {
        graph.collectives.series[shaped.series].len() * shaped.members as usize
    };
    let is_bare = |shaped: &&crate::CollectiveModel| !shaped.has_links && seats(shaped) > 0;
    let Some(last) = graph.shapes.iter().rfind(is_bare) else { return };
    if times.before(1.0).0.is_nan() {
        applied.notes.push(
            "collectives have no links and the recorded network is unknown; they keep their recorded times"
                .into(),
        );
        return;
    }
    let count = last.first_seat as usize + seats(last);
    let sizes = fields::seat_sizes(graph, count);
    let types = graph.tracks.trace().types();
    let mut rests = vec![Rest::SAME; count];
    applied.plan.queues = vec![1.0; graph.collectives.series.len()];
    for shaped in graph.shapes.iter().filter(is_bare) {
        let series = &graph.collectives.series[shaped.series];
        let name = types.value_name(series.type_, series.value).text.to_ascii_lowercase();
        let element = element(&name);
        // Messages from all to one member share one link; in a tree, parents send in parallel.
        let holds = |word: &[u8]| name.windows(word.len()).any(|part| part == word);
        let concurrent = match [&b"alltoall"[..], b"gather", b"scatter"].into_iter().any(holds) {
            true => f64::from(shaped.members.saturating_sub(1).max(1)),
            false => f64::from(shaped.members).log2().ceil().midpoint(1.0).max(1.0),
        };
        let from = shaped.first_seat as usize;
        for seat in from..from + seats(shaped) {
            let bytes = sizes[seat].unwrap_or(0.0) * element;
            let (before, after) = (times.before(bytes), times.after(bytes));
            // The queue at the root accounts for all messages but the last.
            let is_queue = shaped.is_queue(shaped.seat(seat as u32).0, shaped.seat(seat as u32).1);
            if (is_queue || shaped.link_out_seconds > 0.0) && before.1 > 0.0 {
                applied.plan.queues[shaped.series] = after.1 / before.1;
            }
            if shaped.shape.is_held() {
                if shaped.shape == Shape::ReduceRelay && before.1 > 0.0 {
                    applied.plan.links.insert(shaped.series, (before.1, after.1));
                }
                // Messages follow one another; some may be accounted for already.
                let (before, after) = (before.0 + before.1, after.0 + after.1);
                let factor = if before > 0.0 { after / before } else { 1.0 };
                if shaped.shape == Shape::Relay {
                    applied.plan.queues[shaped.series] = factor;
                } else {
                    rests[seat].factor = factor;
                }
                continue;
            }
            // A member waits for just one message from its parent: the time beyond the latency is
            // for its bytes, however many share the link.
            let is_one =
                matches!(shaped.shape, Shape::OneToN | Shape::Binomial | Shape::ReduceBcast);
            if is_one && !is_queue && before.1 > 0.0 {
                rests[seat] = Rest { latency: (before.0, after.0), factor: after.1 / before.1 };
                continue;
            }
            let concurrent = if is_queue { 1.0 } else { concurrent };
            let sum = |(latency, work): (f64, f64)| latency + work * concurrent;
            let (before, after) = (sum(before), sum(after));
            rests[seat].factor = if before > 0.0 { after / before } else { 1.0 };
        }
    }
    applied.plan.operations = rests;
    applied.notes.push(
        "collectives have no links; their time beyond waiting changes like that of a message of their size".into(),
    );
}
