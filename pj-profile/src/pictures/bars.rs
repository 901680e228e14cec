//! Bar charts of reports.

use paje_decimal::amounts::{amount, count, duration, percent};
use paje_pictures::{Bar, Bars, Colour, Colours, Picture};

use crate::output::TableView;

pub(super) fn picture(seen: TableView<'_>, colours: &Colours) -> Picture {
    let bars = match seen.0.name {
        "states" if seen.0.column("container").is_some() => states_by_container(seen, colours),
        "states" => states(seen, colours),
        "kinds" | "waiters" => waits(seen),
        "critical" | "imbalance" | "path" => path(seen, colours),
        "workers" => usage(seen),
        "kernels" => {
            seconds(seen, "Time by kernel and kind of worker", &["kernel", "kind"], "seconds")
        }
        "tasks" => {
            let names = ["job", "kernel", "container"];
            seconds(seen, "Tasks that were ready beside an idle worker", &names, "beside_idle")
        }
        "compare" => compare(seen),
        "variables" => numbers(seen, "Variables", "mean", "mean over time", amount),
        _ => numbers(seen, "Events", "count", "number of events", |number| count(number as u64)),
    };
    bars.picture()
}

/// Returns the names of the rows. Leaves out columns that have the same name in all rows.
fn names(seen: TableView<'_>, columns: &[&str]) -> Vec<String> {
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

fn largest(seen: TableView<'_>, column: &str) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..seen.0.len()).collect();
    let number = |row: usize| seen.number(column, row).unwrap_or(0.0).abs();
    rows.sort_by(|a, b| number(*b).total_cmp(&number(*a)));
    rows
}

/// Returns a unit in which the largest duration is easy to read, and the factor that converts
/// seconds to it.
fn unit(seen: TableView<'_>, column: &str) -> (f64, &'static str) {
    let seconds = (0..seen.0.len()).filter_map(|row| seen.number(column, row)).map(f64::abs);
    match seconds.fold(0.0, f64::max) {
        0.5.. => (1.0, "s"),
        0.0005.. => (1e3, "ms"),
        _ => (1e6, "µs"),
    }
}

/// Returns a bar for each row. The largest value in column `by` comes first.
fn rows(
    seen: TableView<'_>,
    columns: &[&str],
    by: &str,
    bar: impl Fn(usize, String) -> (String, Colour, f64, String),
) -> Vec<Bar> {
    let names = names(seen, columns);
    let bar = |row: usize| {
        let (name, colour, length, text) = bar(row, names[row].clone());
        let tip = format!("{name}: {text}");
        Bar { name, parts: vec![(colour, length, tip)], text }
    };
    largest(seen, by).into_iter().map(bar).collect()
}

fn states(seen: TableView<'_>, colours: &Colours) -> Bars {
    let bars = rows(seen, &["type", "value"], "exclusive", |row, name| {
        let share = seen.number("share", row).unwrap_or(0.0);
        let seconds = duration(seen.number("exclusive", row).unwrap_or(0.0));
        let colour = colours.colour(&seen.text("value", row));
        (name, colour, share, format!("{}, {seconds}", percent(share)))
    });
    Bars {
        title: "Exclusive time by value".into(),
        bars,
        axis: "share of the containers' time [%]".into(),
        scale: 100.0,
        ..Bars::default()
    }
}

fn states_by_container(seen: TableView<'_>, colours: &Colours) -> Bars {
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
        // The colours have the same order in all bars.
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

fn waits(seen: TableView<'_>) -> Bars {
    let bars = rows(seen, &["kind", "container"], "seconds", |row, name| {
        let number = |column| seen.number(column, row).unwrap_or(0.0);
        let (seconds, times) = (number("seconds"), count(number("count") as u64));
        (name, Colour::Plain, seconds, format!("{}, {times} times", duration(seconds)))
    });
    let by = if seen.0.name == "kinds" { "kind" } else { "container" };
    let (scale, unit) = unit(seen, "seconds");
    Bars {
        title: format!("Waiting by {by}"),
        bars,
        axis: format!("waiting [{unit}]"),
        scale,
        ..Bars::default()
    }
}

fn path(seen: TableView<'_>, colours: &Colours) -> Bars {
    let mut bars = rows(seen, &["type", "value", "container"], "seconds", |row, name| {
        let number = |column| seen.number(column, row).unwrap_or(0.0);
        let (share, seconds) = (number("share"), duration(number("seconds")));
        let value = seen.text("value", row);
        let (name, colour) = match value.is_empty() {
            true => (format!("{} (no state)", name.trim()), Colour::Of(usize::MAX)),
            false => (name, colours.colour(&value)),
        };
        (name, colour, share, format!("{}, {seconds}", percent(share)))
    });
    bars.truncate(40);
    Bars {
        title: "States on the critical path".into(),
        bars,
        axis: "share of the critical path [%]".into(),
        scale: 100.0,
        ..Bars::default()
    }
}

/// Returns how workers of StarPU spent their time.
fn usage(seen: TableView<'_>) -> Bars {
    const PARTS: [(&str, &str); 7] = [
        ("execution", "tasks"),
        ("transfer", "waiting for data"),
        ("overhead", "overhead"),
        ("dependencies", "idle: dependencies"),
        ("submission", "idle: submission"),
        ("ready", "idle although a task was ready"),
        ("none_left", "idle: no task left"),
    ];
    let names = names(seen, &["kind", "container"]);
    let bars = names.into_iter().enumerate().map(|(row, name)| {
        let times = PARTS.map(|(column, _)| seen.number(column, row).unwrap_or(0.0));
        let whole: f64 = times.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let parts = PARTS.iter().zip(times).enumerate().map(|(at, ((_, title), time))| {
            let share = time / whole;
            let tip = format!("{name}, {title}: {}, {}", percent(share), duration(time));
            (Colour::Of(at), share, tip)
        });
        Bar { parts: parts.collect(), name: name.clone(), text: String::new() }
    });
    Bars {
        title: "Time of workers".into(),
        bars: bars.collect(),
        whole: Some(1.0),
        axis: "share of the workers' time [%]".into(),
        scale: 100.0,
        legend: (0..).map(Colour::Of).zip(PARTS.map(|(_, title)| title.to_owned())).collect(),
    }
}

fn seconds(seen: TableView<'_>, title: &str, columns: &[&str], column: &str) -> Bars {
    let mut bars = rows(seen, columns, column, |row, name| {
        let time = seen.number(column, row).unwrap_or(0.0);
        (name, Colour::Plain, time, duration(time))
    });
    bars.truncate(40);
    let (scale, unit) = unit(seen, column);
    let axis = format!("{} [{unit}]", column.replace('_', " "));
    Bars { title: title.into(), bars, axis, scale, ..Bars::default() }
}

fn compare(seen: TableView<'_>) -> Bars {
    let mut bars = rows(seen, &["container", "type", "value"], "change", |row, name| {
        let change = seen.number("change", row).unwrap_or(0.0);
        let (colour, sign) = if change > 0.0 { (Colour::Hot, "+") } else { (Colour::Plain, "") };
        (name, colour, change.abs(), format!("{sign}{}", duration(change)))
    });
    bars.truncate(30);
    let (scale, unit) = unit(seen, "change");
    Bars {
        title: "Changes from A to B".into(),
        bars,
        axis: format!("change of exclusive time [{unit}]"),
        scale,
        legend: vec![(Colour::Hot, "longer in B".into()), (Colour::Plain, "shorter in B".into())],
        ..Bars::default()
    }
}

fn numbers(
    seen: TableView<'_>,
    title: &str,
    column: &str,
    axis: &str,
    text: fn(f64) -> String,
) -> Bars {
    let bars = rows(seen, &["type", "value", "container"], column, |row, name| {
        let number = seen.number(column, row).unwrap_or(0.0);
        let length = if number.is_finite() { number.abs() } else { 0.0 };
        (name, Colour::Plain, length, text(number))
    });
    Bars {
        title: format!("{title}: {axis}"),
        bars,
        axis: axis.into(),
        scale: 1.0,
        ..Bars::default()
    }
}
