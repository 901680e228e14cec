//! What part of a transfer is latency, and what part bytes: estimated from the recorded transfers.
//!
//! Transfers of several sizes, or of one size that had to share links now and then, tell both. What they had to share is
//! found by letting them go through the network at their recorded times, again and again with a better estimate.

use crate::graph::Graph;
use crate::network::{Flows, Network};
use crate::plan::Plan;
use crate::retime::Dropped;

/// How latency and bandwidth depend on a message's size: factors from so many bytes on, the largest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Factors {
    /// What it is called.
    pub name: &'static str,
    latency: &'static [(f64, f64)],
    bandwidth: &'static [(f64, f64)],
    /// How much of the link back a message takes.
    pub(crate) cross: f64,
}

impl Factors {
    /// None: latency + bytes / bandwidth.
    pub const NONE: Factors = Factors { name: "none", latency: &[], bandwidth: &[], cross: 0.0 };

    /// Those of SimGrid's SMPI, unless one sets others (its options `smpi/lat-factor`, `smpi/bw-factor` and
    /// `network/crosstraffic`).
    pub const SMPI: Factors = Factors {
        name: "smpi",
        latency: &[
            (65_472.0, 11.6436),
            (15_424.0, 3.48845),
            (9_376.0, 2.59299),
            (5_776.0, 2.18796),
            (3_484.0, 1.88101),
            (1_426.0, 1.61075),
            (732.0, 1.9503),
            (257.0, 1.95341),
            (0.0, 2.01467),
        ],
        bandwidth: &[
            (65_472.0, 0.940_694),
            (15_424.0, 0.697_866),
            (9_376.0, 0.58729),
            (5_776.0, 1.08739),
            (3_484.0, 0.77493),
            (1_426.0, 0.608_902),
            (732.0, 0.341_987),
            (257.0, 0.338_112),
            (0.0, 0.812_084),
        ],
        cross: 0.05,
    };

    fn of(list: &[(f64, f64)], bytes: f64) -> f64 {
        list.iter().find(|(from, _)| bytes >= *from).map_or(1.0, |(_, factor)| *factor)
    }

    /// The latency of a network of latency 1 for so many bytes, and their time at bandwidth 1.
    fn parts(&self, bytes: f64) -> (f64, f64) {
        (Self::of(self.latency, bytes), bytes / Self::of(self.bandwidth, bytes))
    }
}

/// A network's latency and bandwidth.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Seconds.
    pub latency: f64,
    /// Seconds for each byte.
    pub per_byte: f64,
    /// How they depend on sizes.
    pub factors: Factors,
    /// By how much the recorded transfers differ from it, as a part: the root of the mean square.
    pub misfit: f64,
}

impl Fit {
    /// The latency of a message, and the time of its bytes, in seconds.
    #[must_use]
    pub fn times(&self, bytes: f64) -> (f64, f64) {
        let (latency, work) = self.factors.parts(bytes);
        (latency * self.latency, work * self.per_byte)
    }
}

/// The recorded network with its sharing, if it explains the recorded run almost exactly: then messages that meet in a changed
/// run share links there, too. `None` if it does not, or if there are very many messages.
#[must_use]
pub fn own_network(graph: &Graph<'_>, dropped: &Dropped) -> Option<(Network, Fit)> {
    let list = graph.messages.list();
    if list.len() > MOST {
        return None;
    }
    let fit = fit(graph, true).filter(|fit| fit.misfit < EXACT)?;
    let times = |bytes: Option<f64>| bytes.map_or((f64::NAN, f64::NAN), |bytes| fit.times(bytes));
    let times = list.iter().map(|message| times(message.bytes)).collect();
    let network = Network { times, shares: true, cross: fit.factors.cross };
    let plan = Plan { network: Some(network), ..Plan::default() };
    let retimed = graph.retime(&plan, false, false, &mut dropped.clone()).ok()?;
    let (begin, end) = graph.span()?;
    let is_same = (retimed.makespan() - (end - begin)).abs() <= 0.1 * EXACT * (end - begin);
    plan.network.filter(|_| is_same).map(|network| (network, fit))
}

/// By how much transfers may differ from a network that explains them almost exactly; makespans, by a tenth of that.
const EXACT: f64 = 3e-3;

/// How many messages are looked at.
const MOST: usize = 100_000;

/// How often the estimate is improved.
const ROUNDS: usize = 16;

/// The latency and bandwidth that explain the recorded transfers best; `None` if they do not tell the two apart.
#[must_use]
pub fn fit(graph: &Graph<'_>, shares: bool) -> Option<Fit> {
    let is_simulated = graph.tracks.trace().comments().windows(7).any(|word| word == b"SimGrid");
    let plain = fit_with(graph, shares, Factors::NONE);
    if !is_simulated {
        return plain;
    }
    let smpi = fit_with(graph, shares, Factors::SMPI);
    match (plain, smpi) {
        (Some(plain), Some(smpi)) if plain.misfit < 0.5 * smpi.misfit - 1e-3 => Some(plain),
        (plain, smpi) => smpi.or(plain),
    }
}

fn fit_with(graph: &Graph<'_>, shares: bool, factors: Factors) -> Option<Fit> {
    let list = graph.messages.list();
    let known = |at: &usize| list[*at].bytes.is_some() && graph.transfers[*at].is_used();
    let all: Vec<usize> = (0..list.len()).filter(known).take(MOST).collect();
    let mut stretch = vec![1.0; all.len()];
    let mut found: Option<Fit> = None;
    for round in 0..ROUNDS {
        let mut sums = [0.0; 5];
        let mut squares = 0.0;
        let mut count = 0.0;
        for (at, stretch) in all.iter().zip(&stretch) {
            let transfer = &graph.transfers[*at];
            let seconds = transfer.seconds;
            if !transfer.is_awaited || seconds <= 0.0 {
                continue;
            }
            let (latency, work) = factors.parts(list[*at].bytes.unwrap_or(0.0));
            // Each transfer counts by what its time is off as a part.
            let (a, b) = (latency / seconds, work * stretch / seconds);
            let terms = [a * a, a * b, b * b, a, b];
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
            count += 1.0;
            if let Some(fit) = &found {
                squares += (a * fit.latency + b * fit.per_byte - 1.0).powi(2);
            }
        }
        let [aa, ab, bb, a, b] = sums;
        let determinant = aa * bb - ab * ab;
        let is_told = determinant > 1e-5 * aa * bb;
        if count < 2.0 || !is_told && (round > 0 || !shares || a * b == 0.0) {
            return None;
        }
        // Of one size, a half each to begin with: what they have to share may tell more.
        let (latency, per_byte) = match is_told {
            true => ((a * bb - b * ab) / determinant, (aa * b - ab * a) / determinant),
            false => (count / (2.0 * a), count / (2.0 * b)),
        };
        let is_possible = latency >= 0.0 && per_byte > 0.0;
        if !is_possible && round + 1 == ROUNDS {
            return None;
        }
        // A bad estimate of what is shared leads astray; the next one is better.
        let latency = if latency >= 0.0 { latency } else { count / (20.0 * a) };
        let per_byte = if per_byte > 0.0 { per_byte } else { count / (20.0 * b) };
        let misfit = (squares / count).sqrt();
        let fit = Fit { latency, per_byte, factors: factors.clone(), misfit };
        if shares {
            stretch_of(graph, &all, &fit, &mut stretch);
        }
        found = Some(fit);
    }
    found
}

/// How much longer the bytes of messages take since others share their links, at their recorded times.
fn stretch_of(graph: &Graph<'_>, all: &[usize], fit: &Fit, stretch: &mut [f64]) {
    let list = graph.messages.list();
    let mut times = vec![(f64::NAN, f64::NAN); list.len()];
    for at in all {
        times[*at] = fit.times(list[*at].bytes.unwrap_or(0.0));
    }
    let network = Network { times, shares: true, cross: fit.factors.cross };
    let mut flows = Flows::new(&network, graph);
    for at in all {
        flows.start(*at as u32, graph.transfers[*at].start);
    }
    let mut arrivals = vec![f64::NAN; list.len()];
    loop {
        let arrived = flows.next_arrivals();
        if arrived.is_empty() {
            break;
        }
        for (message, time) in arrived {
            arrivals[message as usize] = time;
        }
    }
    for (at, stretch) in all.iter().zip(stretch) {
        let (latency, work) = network.times[*at];
        let lasting = arrivals[*at] - graph.transfers[*at].start - latency;
        *stretch = if work > 0.0 && lasting.is_finite() { (lasting / work).max(1.0) } else { 1.0 };
    }
}

/// How long messages of some sizes take, as measured.
///
/// ```toml
/// # How much of the link back a message takes; 0 if not given.
/// cross-traffic = 0.05
/// # Between two sizes, times are interpolated; beyond the largest, bytes take as long each as there.
/// [[message]]
/// bytes = 1000
/// latency = 19.5e-6
/// transfer = 2.9e-6
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Bytes, latency and time of the bytes in seconds; ascending.
    rows: Vec<(f64, f64, f64)>,
    pub(crate) cross: f64,
}

impl Table {
    /// Reads a table in TOML.
    ///
    /// # Errors
    /// The text is no TOML, with line and column; or what it says is not what a table says.
    pub fn parse(text: &str) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| e.to_string())?;
        let number = |value: &toml::Value| match value {
            toml::Value::Integer(number) => Some(*number as f64),
            toml::Value::Float(number) => Some(*number),
            _ => None,
        };
        let number = |table: &toml::Table, key: &str| match table.get(key) {
            None => Err(format!("`{key}` is missing")),
            Some(value) => number(value)
                .filter(|number| *number >= 0.0 && number.is_finite())
                .ok_or_else(|| format!("`{key} = {value}`: expected a number of 0 or more")),
        };
        if let Some(key) =
            table.keys().find(|key| !["message", "cross-traffic"].contains(&key.as_str()))
        {
            return Err(format!(
                "`{key}` is unknown here; there are [[message]] and cross-traffic"
            ));
        }
        let cross = if table.contains_key("cross-traffic") {
            number(&table, "cross-traffic")?
        } else {
            0.0
        };
        if cross > 1.0 {
            return Err("`cross-traffic`: expected a number from 0 to 1".into());
        }
        let messages = table.get("message").and_then(toml::Value::as_array);
        let messages = messages.filter(|messages| !messages.is_empty());
        let messages =
            messages.ok_or("a table needs [[message]] with bytes, latency and transfer")?;
        let mut rows = Vec::new();
        for message in messages {
            let message = message.as_table().ok_or("`message`: expected tables, [[message]]")?;
            let row = ["bytes", "latency", "transfer"].map(|key| number(message, key));
            let [bytes, latency, transfer] = row;
            rows.push((bytes?, latency?, transfer?));
        }
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        if rows.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err("two messages of one size".into());
        }
        Ok(Table { rows, cross })
    }

    /// The latency of a message, and the time of its bytes, in seconds.
    pub(crate) fn times(&self, bytes: f64) -> (f64, f64) {
        let behind = self.rows.partition_point(|row| row.0 < bytes);
        let per_byte =
            |row: (f64, f64, f64)| (row.1, if row.0 > 0.0 { row.2 * bytes / row.0 } else { row.2 });
        match (behind.checked_sub(1).map(|at| self.rows[at]), self.rows.get(behind)) {
            (_, Some(row)) if row.0 == bytes => (row.1, row.2),
            (Some(a), Some(b)) => {
                let part = (bytes - a.0) / (b.0 - a.0);
                (a.1 + part * (b.1 - a.1), a.2 + part * (b.2 - a.2))
            }
            (Some(row), None) | (None, Some(&row)) => per_byte(row),
            (None, None) => (f64::NAN, f64::NAN),
        }
    }
}
