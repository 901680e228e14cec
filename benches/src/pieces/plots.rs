//! Plots: time over pieces, a line for each number of threads.

use paje_workers::Pin;

use super::record::{Job, Key, Points};
use crate::scaling::Result;
use crate::scaling::plots::axis::Axis;
use crate::scaling::plots::chart::{Chart, Colour, Line, Marker, Series};
use crate::scaling::plots::{Plot, megabytes, slug};

/// The name of the thin lines in legends.
pub const SINGLE_LABEL: &str = "thin, of the same colour: the single file";

/// The name of the line of `cp` in the legend.
pub const COPY_LABEL: &str = "cp of the trace";

/// Okabe and Ito's colours: told apart by colour-blind readers too.
const COLOURS: [Colour; 6] = [
    Colour(0, 114, 178),
    Colour(213, 94, 0),
    Colour(0, 158, 115),
    Colour(204, 121, 167),
    Colour(230, 159, 0),
    Colour(86, 180, 233),
];

const GREY: Colour = Colour(150, 150, 150);

/// For each trace, a plot for each program that writes or reads pieces; `about` stands at their heads.
///
/// # Errors
///
/// Errors of the drawing library.
pub fn plots(traces: &[Points], about: &str) -> Result<Vec<Plot>> {
    let mut plots: Vec<Plot> = Vec::new();
    for points in traces {
        for mut plot in of_trace(points, about)? {
            while plots.iter().any(|other| other.file == plot.file) {
                // Two names of files that differ in their punctuation only.
                plot.file.insert(plot.file.len() - ".svg".len(), '-');
            }
            plots.push(plot);
        }
    }
    Ok(plots)
}

fn of_trace(points: &Points, about: &str) -> Result<Vec<Plot>> {
    let trace = slug(&points.trace);
    let kinds = [
        (Job::Split, "split", "Cutting into pieces, pj_split"),
        (Job::Replay, "replay", "Replay from pieces, pj_dump -q"),
        (Job::Dump, "dump", "Dump from pieces, pj_dump"),
    ];
    let plot = |(job, file, title): (Job, &str, &str)| {
        let title = format!("{title}: {}, {}", points.trace, megabytes(points.bytes));
        let svg = chart(job, title, points, about).svg()?;
        Ok(Plot { file: format!("{file}-{trace}.svg"), svg })
    };
    kinds.into_iter().map(plot).collect()
}

fn chart(job: Job, title: String, points: &Points, about: &str) -> Chart {
    let counts: Vec<usize> =
        points.of(job).filter_map(|point| point.key.pieces).map(|pieces| pieces.count).collect();
    let ends = [counts.iter().min(), counts.iter().max()].map(|end| *end.unwrap_or(&1) as f64);
    // As a line from end to end.
    let beside = |job: Job, like: &Key| -> Vec<(f64, f64)> {
        let single = points.single(job, like);
        single.map_or_else(Vec::new, |single| ends.map(|end| (end, single.median)).to_vec())
    };
    let mut lines: Vec<(usize, &Pin)> =
        points.of(job).map(|point| (point.key.threads, &point.key.pin)).collect();
    lines.dedup();
    let mut threads: Vec<usize> = lines.iter().map(|(threads, _)| *threads).collect();
    threads.dedup();
    let mut pins: Vec<&Pin> = lines.iter().map(|(_, pin)| *pin).collect();
    pins.sort_unstable();
    pins.dedup();

    let mut series = Vec::new();
    for (count, pin) in lines {
        let place = threads.iter().position(|other| *other == count).unwrap_or(0);
        let colour = COLOURS[place % COLOURS.len()];
        let of = points.of(job).filter(|point| (point.key.threads, &point.key.pin) == (count, pin));
        let values = of.filter_map(|point| Some((point.key.pieces?.count as f64, point.median)));
        let (line, marker) = look(pins.iter().position(|other| *other == pin).unwrap_or(0));
        let like = Key { job, threads: count, pin: pin.clone(), pieces: None };
        series.push(thin("", colour, beside(job, &like)));
        series.push(Series {
            label: series_label(count, pin),
            note: None,
            colour,
            line,
            marker: Some(marker),
            points: values.collect(),
        });
    }
    if job == Job::Split {
        let like = Key { job, threads: 1, pin: Pin::None, pieces: None };
        series.push(thin(COPY_LABEL, GREY, beside(Job::Copy, &like)));
    } else {
        series.push(thin(SINGLE_LABEL, GREY, Vec::new()));
    }
    let values: Vec<f64> =
        series.iter().flat_map(|series| &series.points).map(|(_, value)| *value).collect();
    Chart {
        title,
        subtitle: about.to_owned(),
        x_name: "pieces".into(),
        y_name: "seconds".into(),
        x: Axis::counts(&counts),
        y: Axis::seconds(&values),
        series,
    }
}

/// Line and marker of a policy: threads have the colours.
fn look(pin: usize) -> (Line, Marker) {
    match pin {
        0 => (Line::Solid, Marker::Circle),
        1 => (Line::Dashed, Marker::HollowSquare),
        2 => (Line::Dashed, Marker::HollowTriangle),
        _ => (Line::Dashed, Marker::HollowDiamond),
    }
}

/// The name of a measured line in legends.
pub fn series_label(threads: usize, pin: &Pin) -> String {
    let threads = match threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    match pin {
        Pin::None => format!("{threads}, free"),
        pin => format!("{threads}, pinned, {pin}"),
    }
}

fn thin(label: &str, colour: Colour, points: Vec<(f64, f64)>) -> Series {
    Series { label: label.into(), note: None, colour, line: Line::Thin, marker: None, points }
}
