//! Computes the runs of sweeps, and random runs.

use std::str::FromStr;

use paje_decimal::amounts;
use paje_whatif::hypothesis::{Changes, Hypothesis, Random};
use paje_whatif::{Graph, Settings};
use rayon::prelude::*;

/// Values of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Key whose value changes from run to run.
    pub key: String,
    /// Values of the key, in the form that hypotheses use.
    pub values: Vec<String>,
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "expected KEY=FROM..TO/N, such as factor=0.1..1.0/10 or latency=x1..x10/4".to_owned()
        };
        let (key, range) = text.split_once('=').ok_or_else(wrong)?;
        let (from, rest) = range.split_once("..").ok_or_else(wrong)?;
        let (to, count) = rest.split_once('/').ok_or_else(wrong)?;
        let times = if amounts::marked_factor(from).is_some() { "x" } else { "" };
        let number = |text: &str| {
            let number = amounts::marked_factor(text).map_or_else(
                || match key {
                    "latency" => amounts::seconds(text),
                    "bandwidth" => amounts::rate(text),
                    "eager" => amounts::size(text).map(|size| size as f64),
                    _ => text.parse().map_err(|_| wrong()),
                },
                Ok,
            );
            number.ok().filter(|number| number.is_finite()).ok_or_else(wrong)
        };
        let (from, to) = (number(from)?, number(to)?);
        let count = count.parse::<u32>().ok().filter(|count| (2..=10_000).contains(count));
        let count = count.ok_or("expected 2 to 10000 values after the `/`")?;
        let value = |at: u32| {
            let part = f64::from(at) / f64::from(count - 1);
            let value = from + (to - from) * part;
            // Values are rounded, so that decimal steps give decimal values.
            let rounded = format!("{value:.12}").parse().unwrap_or(value);
            format!("{times}{rounded}")
        };
        Ok(Sweep { key: key.to_owned(), values: (0..count).map(value).collect() })
    }
}

/// Makespan of a run in seconds, or the cycle that keeps the run from ending.
pub(crate) type Outcome = Result<f64, String>;

/// Computes the makespans of all runs in parallel. Fails if a hypothesis does not fit the trace.
pub(crate) fn sweep(
    graph: &Graph<'_>,
    all: &[Vec<Hypothesis>],
    changes: Changes<'_>,
    settings: &Settings,
) -> Result<Vec<Outcome>, String> {
    all.par_iter()
        .map(|hypotheses| {
            let changes = Changes { hypotheses, ..changes };
            let eager = changes.eager();
            let changed = eager.map(|_| Graph::of(graph.facts(), settings, eager));
            let graph = changed.as_ref().unwrap_or(graph);
            let plan = changes.apply(graph)?.plan;
            let retimed = graph.retime(&plan, false, eager.is_none());
            Ok(retimed.map(|run| run.makespan()).map_err(|cycle| cycle.to_string()))
        })
        .collect()
}

/// Returns the makespans of random runs in ascending order.
pub(crate) fn random(
    graph: &Graph<'_>,
    random: &Random,
    changes: Changes<'_>,
) -> Result<Vec<f64>, String> {
    let runs = (0..random.runs).into_par_iter().map(|run| {
        let changes = Changes { random: Some((random, run)), ..changes };
        let plan = changes.apply(graph)?.plan;
        let retimed = graph.retime(&plan, false, changes.eager().is_none());
        retimed.map(|run| run.makespan()).map_err(|cycle| cycle.to_string())
    });
    let mut makespans = runs.collect::<Result<Vec<f64>, String>>()?;
    makespans.sort_by(f64::total_cmp);
    Ok(makespans)
}

/// Distribution of makespans in seconds, with the mean, the median, and the interval that has the
/// middle 95 %.
pub(crate) struct Spread {
    pub(crate) mean: f64,
    /// Half the width of the 95 % confidence interval of the mean.
    pub(crate) of_mean: f64,
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// Computes the distribution of at least two makespans, which must be in ascending order.
    pub(crate) fn of(makespans: &[f64]) -> Self {
        let count = makespans.len() as f64;
        let mean = makespans.iter().sum::<f64>() / count;
        let squares: f64 = makespans.iter().map(|makespan| (makespan - mean).powi(2)).sum();
        let deviation = (squares / (count - 1.0)).sqrt();
        let at = |part: f64| makespans[((count - 1.0) * part).round() as usize];
        Spread {
            mean,
            of_mean: 1.96 * deviation / count.sqrt(),
            low: at(0.025),
            median: at(0.5),
            high: at(0.975),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_are_parsed() {
        let sweep = |text: &str| text.parse::<Sweep>();
        assert_eq!(
            sweep("factor=0.1..0.4/4").expect("a sweep").values,
            ["0.1", "0.2", "0.3", "0.4"]
        );
        assert_eq!(sweep("latency=x1..x10/2").expect("a sweep").values, ["x1", "x10"]);
        assert_eq!(sweep("latency=1ms..3ms/2").expect("a sweep").values, ["0.001", "0.003"]);
        for wrong in ["factor", "factor=1", "factor=1..2", "factor=1..b/3", "factor=1..2/1"] {
            assert!(sweep(wrong).is_err(), "{wrong}");
        }
    }
}
