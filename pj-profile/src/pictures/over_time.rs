//! Pictures over time.

use std::collections::BTreeMap;

use paje_analysis::Table;
use paje_console::Failure;
use paje_decimal::amounts::{amount, percent};
use paje_pictures::{Colours, Fill, Picture, Quadrant, Strip, Strips};
use rustc_hash::FxHashMap;

use super::ends::value;
use crate::cli::Cli;
use crate::natural::NaturalName;
use crate::output::TableView;

/// A report over time: for each heading and name, the amount of each value in each bin.
struct Over {
    groups: BTreeMap<(String, NaturalName), BTreeMap<usize, BTreeMap<String, f64>>>,
    bins: usize,
    times: [f64; 2],
}

fn over(seen: TableView<'_>, column: &str) -> Over {
    let mut over =
        Over { groups: BTreeMap::new(), bins: 0, times: [f64::INFINITY, f64::NEG_INFINITY] };
    let mut length = 0.0;
    // There are many rows but few names, so names are hashed first, and sorted at the end.
    let mut groups: FxHashMap<(String, String), BTreeMap<usize, BTreeMap<String, f64>>> =
        FxHashMap::default();
    for row in 0..seen.0.len() {
        let number = |name| seen.number(name, row).unwrap_or(0.0);
        let (container, value) = (seen.text("container", row), seen.text("value", row));
        let name = if container.is_empty() { value.clone() } else { container };
        let bin = number("bin") as usize;
        let group = groups.entry((seen.text("type", row), name)).or_default();
        *group.entry(bin).or_default().entry(value).or_default() += number(column);
        over.bins = over.bins.max(bin + 1);
        length = number("end") - number("start");
        // Empty bins have no row.
        over.times[0] = over.times[0].min(number("start") - length * bin as f64);
        over.times[1] = over.times[1].max(number("end"));
    }
    over.times[1] = over.times[1].max(over.times[0] + length * over.bins as f64);
    let placed = |((type_, name), bins)| ((type_, NaturalName(name)), bins);
    over.groups = groups.into_iter().map(placed).collect();
    over
}

impl Over {
    fn bin(&self) -> f64 {
        ((self.times[1] - self.times[0]) / self.bins.max(1) as f64).max(f64::MIN_POSITIVE)
    }

    fn strips(
        &self,
        fill: impl Fn(&(String, NaturalName), &BTreeMap<String, f64>) -> Fill,
    ) -> Vec<(String, Vec<Strip>)> {
        let mut groups: Vec<(String, Vec<Strip>)> = Vec::new();
        for (key, bins) in &self.groups {
            let bins = bins.iter().map(|(bin, values)| (*bin, fill(key, values)));
            let strip = Strip { name: key.1.0.clone(), bins: bins.collect() };
            match groups.last_mut() {
                Some((heading, strips)) if *heading == key.0 => strips.push(strip),
                _ => groups.push((key.0.clone(), vec![strip])),
            }
        }
        groups
    }
}

fn parts(values: &BTreeMap<String, f64>, whole: f64, colours: &Colours) -> Fill {
    let part = |(value, seconds): (&String, &f64)| (colours.colour(value), seconds / whole);
    let mut parts: Vec<_> = values.iter().map(part).collect();
    parts.sort_by_key(|part| part.0);
    Fill::Parts(parts)
}

/// Draws a strip for each container. If containers are added up, draws shades for each value
/// instead.
pub(super) fn strips(seen: TableView<'_>, colours: &Colours) -> Picture {
    let over = over(seen, "seconds");
    let by_value = (0..seen.0.len()).all(|row| seen.text("container", row).is_empty());
    let mut most: BTreeMap<&(String, NaturalName), f64> = BTreeMap::new();
    for (key, bins) in &over.groups {
        let sums = bins.values().map(|values| values.values().sum::<f64>());
        most.insert(key, sums.fold(f64::MIN_POSITIVE, f64::max));
    }
    let whole = over.bin();
    let groups = over.strips(|key, values| match by_value {
        true => Fill::Shade(values.values().sum::<f64>() / most[key]),
        false => parts(values, whole, colours),
    });
    let shades =
        ("seconds of the value in the bin".to_owned(), "its maximum in any bin".to_owned());
    Strips {
        title: if by_value { "Values over time" } else { "States over time" }.into(),
        groups,
        bins: over.bins,
        times: over.times,
        legend: if by_value { Vec::new() } else { colours.legend() },
        shades: by_value.then_some(shades),
    }
    .picture()
}

pub(crate) fn on_one_axis(runs: [(&str, &Table); 2], colours: &Colours) -> Picture {
    let [a, b] = runs.map(|(_, table)| over(TableView(table), "seconds"));
    let whole = a.bin().max(b.bin());
    let mut groups = Vec::new();
    for ((name, _), over) in runs.into_iter().zip([&a, &b]) {
        let of_run = over.strips(|_, values| parts(values, whole, colours));
        groups
            .extend(of_run.into_iter().map(|(type_, strips)| (format!("{name}: {type_}"), strips)));
    }
    let length = (a.times[1] - a.times[0]).max(b.times[1] - b.times[0]);
    Strips {
        title: "Both runs from their starts, on one time axis".into(),
        groups,
        bins: a.bins.max(b.bins),
        times: [0.0, length],
        legend: colours.legend(),
        shades: None,
    }
    .picture()
}

/// Draws a matrix of shares: the part of each bin that containers spent in one value.
pub(super) fn matrix(cli: &Cli, seen: TableView<'_>) -> Result<Picture, Failure> {
    let wanted = value(cli, seen, "seconds")?;
    let over = over(seen, "seconds");
    let whole = over.bin();
    let part = |values: &BTreeMap<String, f64>| values.get(&wanted).copied().unwrap_or(0.0) / whole;
    let groups = over.strips(|_, values| Fill::Shade(part(values)));
    Ok(Strips {
        title: format!("Time in {wanted}, by container"),
        groups,
        bins: over.bins,
        times: over.times,
        shades: Some((format!("share of the bin in {wanted}"), percent(1.0))),
        ..Strips::default()
    }
    .picture())
}

pub(super) fn means(seen: TableView<'_>) -> Picture {
    let over = over(seen, "mean");
    let mut most: BTreeMap<&str, f64> = BTreeMap::new();
    for ((type_, _), bins) in &over.groups {
        let sums = bins.values().flat_map(BTreeMap::values).map(|mean| mean.abs());
        let greatest = most.entry(type_).or_insert(f64::MIN_POSITIVE);
        *greatest = sums.filter(|mean| mean.is_finite()).fold(*greatest, f64::max);
    }
    let mut groups = over.strips(|(type_, _), values| {
        Fill::Shade(values.values().sum::<f64>().abs() / most[type_.as_str()])
    });
    for (heading, _) in &mut groups {
        *heading = format!("{heading}: up to {}", amount(most[heading.as_str()]));
    }
    Strips {
        title: "Variables over time".into(),
        groups,
        bins: over.bins,
        times: over.times,
        shades: Some(("mean in the bin".into(), "the maximum of the type".into())),
        ..Strips::default()
    }
    .picture()
}

/// Draws how the time of each bin is divided among four kinds of classes. Many tracers record only
/// calls, so time without a state counts as computing if it is between the first and the last state
/// of a container.
pub(super) fn quadrant(seen: TableView<'_>) -> Result<Picture, Failure> {
    let over = over(seen, "seconds");
    let whole = over.bin();
    let mut points = Vec::new();
    for bins in over.groups.values() {
        let (Some(first), Some(last)) = (bins.keys().next(), bins.keys().next_back()) else {
            continue;
        };
        for bin in *first..=*last {
            let mut point = [0.0; 4];
            let mut rest = whole;
            for (class, seconds) in bins.get(&bin).into_iter().flatten() {
                rest -= seconds;
                match class.as_str() {
                    "compute" | "io" => point[0] += seconds,
                    "send" | "recv" | "sendrecv" => point[1] += seconds,
                    "wait" => point[2] += seconds,
                    "nxn" | "1xn" | "nx1" | "barrier" | "scan" => point[3] += seconds,
                    _ => {}
                }
            }
            if bin != *first && bin != *last {
                point[0] += rest.max(0.0);
            }
            points.push(point);
        }
    }
    let title = "Division between computing and communicating".into();
    let kinds = ["computing", "point to point", "waiting", "collective"];
    Ok(Quadrant { title, kinds, points }.picture())
}
