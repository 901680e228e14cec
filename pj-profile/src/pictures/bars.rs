//! Bars of what reports add up.

use paje_pictures::numbers::{amount, count, duration, percent};
use paje_pictures::{Bar, Bars, Colour, Colours, Picture};

use crate::output::Seen;

/// The bars of any table that has some.
pub(super) fn picture(seen: Seen<'_>, colours: &Colours) -> Picture {
    let bars = match seen.0.name {
        "states" if seen.0.column("container").is_some() => states_by_container(seen, colours),
        "states" => states(seen, colours),
        "kinds" | "waiters" => waits(seen),
        "critical" | "imbalance" => path(seen, colours),
        "compare" => compare(seen),
        "variables" => numbers(seen, "mean", "mean over time", |row| {
            amount(seen.number("mean", row).unwrap_or(0.0))
        }),
        _ => numbers(seen, "count", "number of events", |row| {
            count(seen.number("count", row).unwrap_or(0.0) as u64)
        }),
    };
    bars.picture()
}

/// The name of a row: without what all rows share.
fn names(seen: Seen<'_>, columns: &[&str]) -> Vec<String> {
    let differs = |column: &&&str| {
        let first = seen.text(column, 0);
        (1..seen.0.len()).any(|row| seen.text(column, row) != first)
    };
    let shown: Vec<&&str> = columns.iter().filter(differs).collect();
    let name = |row: usize| match shown.as_slice() {
        [] => columns.last().map_or(String::new(), |column| seen.text(column, row)),
        all => all.iter().map(|column| seen.text(column, row)).collect::<Vec<_>>().join(" "),
    };
    (0..seen.0.len()).map(name).collect()
}

/// The rows, the largest in a column first.
fn largest(seen: Seen<'_>, column: &str) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..seen.0.len()).collect();
    let number = |row: usize| seen.number(column, row).unwrap_or(0.0).abs();
    rows.sort_by(|a, b| number(*b).total_cmp(&number(*a)));
    rows
}

/// By what seconds are multiplied so that the largest can be read, and what they are then.
fn unit(seen: Seen<'_>, column: &str) -> (f64, &'static str) {
    let seconds = (0..seen.0.len()).filter_map(|row| seen.number(column, row)).map(f64::abs);
    match seconds.fold(0.0, f64::max) {
        0.5.. => (1.0, "s"),
        0.0005.. => (1e3, "ms"),
        _ => (1e6, "µs"),
    }
}

fn states(seen: Seen<'_>, colours: &Colours) -> Bars {
    let names = names(seen, &["type", "value"]);
    let bar = |row: usize| {
        let share = seen.number("share", row).unwrap_or(0.0);
        let seconds = duration(seen.number("exclusive", row).unwrap_or(0.0));
        let text = format!("{}, {seconds}", percent(share));
        let colour = colours.colour(&seen.text("value", row));
        let told = format!("{}: {text}", names[row]);
        Bar { name: names[row].clone(), parts: vec![(colour, share, told)], text }
    };
    Bars {
        title: "Exclusive time by value".into(),
        bars: largest(seen, "exclusive").into_iter().map(bar).collect(),
        axis: "share of the containers' time [%]".into(),
        scale: 100.0,
        ..Bars::default()
    }
}

fn states_by_container(seen: Seen<'_>, colours: &Colours) -> Bars {
    let mut bars: Vec<Bar> = Vec::new();
    let types = names(seen, &["type"]);
    let several = (1..types.len()).any(|row| types[row] != types[0]);
    for (row, type_) in types.iter().enumerate() {
        let mut name = seen.text("container", row);
        if several {
            name = format!("{name} {type_}");
        }
        let (value, share) = (seen.text("value", row), seen.number("share", row).unwrap_or(0.0));
        let seconds = duration(seen.number("exclusive", row).unwrap_or(0.0));
        let part = (
            colours.colour(&value),
            share,
            format!("{name}, {value}: {}, {seconds}", percent(share)),
        );
        match bars.iter_mut().rev().find(|bar| bar.name == name) {
            Some(bar) => bar.parts.push(part),
            None => bars.push(Bar { name, parts: vec![part], text: String::new() }),
        }
    }
    for bar in &mut bars {
        // Colours are in one order everywhere.
        bar.parts.sort_by_key(|part| part.0);
    }
    bars.sort_by(|a, b| paje_pictures::natural(&a.name, &b.name));
    Bars {
        title: "Exclusive time by container".into(),
        bars,
        whole: Some(1.0),
        axis: "share of the container's time [%]".into(),
        scale: 100.0,
        legend: colours.legend(),
    }
}

fn waits(seen: Seen<'_>) -> Bars {
    let names = names(seen, &["kind", "container"]);
    let bar = |row: usize| {
        let number = |column| seen.number(column, row).unwrap_or(0.0);
        let text =
            format!("{}, {} times", duration(number("seconds")), count(number("count") as u64));
        let told = format!("{}: {text}", names[row]);
        Bar {
            name: names[row].clone(),
            parts: vec![(Colour::Plain, number("seconds"), told)],
            text,
        }
    };
    let by = if seen.0.name == "kinds" { "kind" } else { "container" };
    let (scale, unit) = unit(seen, "seconds");
    Bars {
        title: format!("Waiting by {by}"),
        bars: largest(seen, "seconds").into_iter().map(bar).collect(),
        axis: format!("waiting [{unit}]"),
        scale,
        ..Bars::default()
    }
}

fn path(seen: Seen<'_>, colours: &Colours) -> Bars {
    let names = names(seen, &["type", "value", "container"]);
    let bar = |row: usize| {
        let (share, seconds) =
            (seen.number("share", row).unwrap_or(0.0), seen.number("seconds", row).unwrap_or(0.0));
        let text = format!("{}, {}", percent(share), duration(seconds));
        let value = seen.text("value", row);
        let (name, colour) = match value.is_empty() {
            true => (format!("{} (no state)", names[row].trim()), Colour::Of(usize::MAX)),
            false => (names[row].clone(), colours.colour(&value)),
        };
        let told = format!("{name}: {text}");
        Bar { name, parts: vec![(colour, share, told)], text }
    };
    Bars {
        title: "What the critical path is in".into(),
        bars: largest(seen, "seconds").into_iter().take(40).map(bar).collect(),
        axis: "share of the critical path [%]".into(),
        scale: 100.0,
        ..Bars::default()
    }
}

fn compare(seen: Seen<'_>) -> Bars {
    let names = names(seen, &["container", "type", "value"]);
    let bar = |row: usize| {
        let change = seen.number("change", row).unwrap_or(0.0);
        let colour = if change > 0.0 { Colour::Hot } else { Colour::Plain };
        let sign = if change > 0.0 { "+" } else { "" };
        let text = format!("{sign}{}", duration(change));
        let told = format!("{}: {text}", names[row]);
        Bar { name: names[row].clone(), parts: vec![(colour, change.abs(), told)], text }
    };
    let (scale, unit) = unit(seen, "change");
    Bars {
        title: "What changed from A to B".into(),
        bars: largest(seen, "change").into_iter().take(30).map(bar).collect(),
        axis: format!("change of exclusive time [{unit}]"),
        scale,
        legend: vec![(Colour::Hot, "longer in B".into()), (Colour::Plain, "shorter in B".into())],
        ..Bars::default()
    }
}

fn numbers(seen: Seen<'_>, column: &str, axis: &str, text: impl Fn(usize) -> String) -> Bars {
    let names = names(seen, &["type", "value", "container"]);
    let bar = |row: usize| {
        let number = seen.number(column, row).filter(|number| number.is_finite()).unwrap_or(0.0);
        let told = format!("{}: {}", names[row], text(row));
        Bar {
            name: names[row].clone(),
            parts: vec![(Colour::Plain, number.abs(), told)],
            text: text(row),
        }
    };
    Bars {
        title: format!("{}: {axis}", if column == "mean" { "Variables" } else { "Events" }),
        bars: largest(seen, column).into_iter().map(bar).collect(),
        axis: axis.into(),
        scale: 1.0,
        ..Bars::default()
    }
}
