//! Plots of the points: speedup, efficiency and sizeup over threads, one of each for every trace.

pub(crate) mod axis;
pub(crate) mod chart;

use super::Result;
use super::record::{Cache, Kind};
use super::speed::{Point, efficiency};
use axis::Axis;
use chart::{Chart, Colour, Line, Marker, Series};
use paje_workers::Pin;

/// Figures of PajeNG that the thesis on it in parallel publishes, pinned, on traces cut into files beforehand:
/// threads, speedup, efficiency.
pub const THESIS: [(usize, f64, f64); 2] = [(8, 7.16, 0.89), (16, 11.87, 0.74)];

/// The name of its points in legends.
pub const THESIS_LABEL: &str = "parallel PajeNG, trace cut beforehand (thesis)";

/// The name of the ideal line in legends.
pub const IDEAL_LABEL: &str = "ideal";

/// The name of the floor's line in legends: a program that only reads, counts and copies.
pub const FLOOR_LABEL: &str = "floor: read, count lines, copy";

/// A plot.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Name of its file.
    pub file: String,
    /// Its text.
    pub svg: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Figure {
    Speedup,
    Efficiency,
    Sizeup,
}

impl Figure {
    const ALL: [Figure; 3] = [Figure::Speedup, Figure::Efficiency, Figure::Sizeup];

    fn kind(self) -> Kind {
        if self == Figure::Sizeup { Kind::Weak } else { Kind::Strong }
    }

    /// First part of the file's name, title, name of the axis.
    fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Figure::Speedup => ("speedup", "Strong scaling", "speedup S(p) = T(1) / T(p)"),
            Figure::Efficiency => {
                ("efficiency", "Efficiency of strong scaling", "efficiency S(p) / p")
            }
            Figure::Sizeup => ("weak", "Weak scaling", "sizeup Z(p) = p · T(1, s) / T(p, p·s)"),
        }
    }

    fn value(self, gain: f64, threads: usize) -> f64 {
        if self == Figure::Efficiency { efficiency(gain, threads) } else { gain }
    }

    /// The thesis's points; it has none for weak scaling.
    fn thesis(self) -> Vec<(f64, f64)> {
        let point = |(threads, speedup, efficiency): (usize, f64, f64)| {
            (threads as f64, if self == Figure::Speedup { speedup } else { efficiency })
        };
        if self == Figure::Sizeup { Vec::new() } else { THESIS.map(point).to_vec() }
    }
}

/// All plots of some points; `machine` stands at their heads.
///
/// # Errors
///
/// Errors of the drawing library.
pub fn plots(points: &[Point], machine: &str) -> Result<Vec<Plot>> {
    let mut traces: Vec<&str> = Vec::new();
    for point in points {
        if !traces.contains(&point.shape.as_str()) {
            traces.push(&point.shape);
        }
    }
    let mut plots: Vec<Plot> = Vec::new();
    for trace in traces {
        for figure in Figure::ALL {
            let of = |point: &&Point| point.shape == trace && point.kind == figure.kind();
            let points: Vec<&Point> = points.iter().filter(of).collect();
            if points.is_empty() {
                continue;
            }
            let mut file = format!("{}-{}.svg", figure.names().0, slug(trace));
            while plots.iter().any(|plot| plot.file == file) {
                // Two names of files that differ in their punctuation only.
                file.insert(file.len() - ".svg".len(), '-');
            }
            plots.push(Plot { file, svg: chart(figure, trace, &points, machine).svg()? });
        }
    }
    Ok(plots)
}

fn chart(figure: Figure, trace: &str, points: &[&Point], machine: &str) -> Chart {
    let measured = measured(figure, points);
    let thesis = figure.thesis();
    let all = measured.iter().flat_map(|series| &series.points).chain(&thesis);
    let values: Vec<f64> = all.map(|(_, value)| *value).collect();
    let mut threads: Vec<usize> = points.iter().map(|point| point.threads).collect();
    threads.extend(thesis.iter().map(|(threads, _)| *threads as usize));
    let x = Axis::counts(&threads);
    let y = match figure {
        Figure::Efficiency => Axis::shares(&values),
        Figure::Speedup | Figure::Sizeup => Axis::gains(&values, &x),
    };
    let most = threads.iter().copied().max().unwrap_or(1) as f64;
    let ideal = if figure == Figure::Efficiency { [1.0, 1.0] } else { [1.0, most] };
    // Drawn first: what is measured lies above it.
    let mut series = vec![Series {
        label: IDEAL_LABEL.into(),
        note: None,
        colour: Colour(150, 150, 150),
        line: Line::Thin,
        marker: None,
        points: vec![(1.0, ideal[0]), (most, ideal[1])],
    }];
    if !thesis.is_empty() {
        let told = THESIS.map(|(threads, speedup, efficiency)| match figure {
            Figure::Efficiency => format!("{:.0} % at {threads} threads", efficiency * 100.0),
            _ => format!("{speedup}× at {threads} threads"),
        });
        series.push(Series {
            label: THESIS_LABEL.into(),
            note: Some(format!("pinned; {}", told.join(", "))),
            colour: Colour(106, 61, 154),
            line: Line::None,
            marker: Some(Marker::OpenStar),
            points: thesis,
        });
    }
    series.extend(measured);
    let (_, title, value_name) = figure.names();
    let bytes = points.iter().map(|point| point.bytes).min().unwrap_or(0);
    let each = if figure == Figure::Sizeup { " for each thread" } else { "" };
    Chart {
        title: format!("{title}: {trace}, {}{each}", megabytes(bytes)),
        subtitle: machine.to_owned(),
        x_name: "threads p".into(),
        y_name: value_name.into(),
        x,
        y,
        series,
    }
}

/// A line for each policy and state of the cache, and the floor's.
fn measured(figure: Figure, points: &[&Point]) -> Vec<Series> {
    let mut series = Vec::new();
    let mut keys: Vec<_> = points.iter().map(|point| (point.cache, &point.pin)).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut named: Vec<&Pin> = keys.iter().map(|(_, pin)| *pin).collect();
    named.retain(|pin| matches!(pin, Pin::Numa(_) | Pin::List(_)));
    named.sort_unstable();
    named.dedup();
    let line = |(cache, pin): (Cache, &Pin), gain: &dyn Fn(&Point) -> Option<f64>| {
        let of = points.iter().filter(|point| (point.cache, &point.pin) == (cache, pin));
        let place = |point: &&Point| {
            Some((point.threads as f64, figure.value(gain(point)?, point.threads)))
        };
        of.filter_map(place).collect::<Vec<_>>()
    };
    if let Some(first) = keys.first() {
        series.push(Series {
            label: FLOOR_LABEL.into(),
            note: Some(series_label(first.0, first.1)),
            colour: Colour(110, 110, 110),
            line: Line::Dashed,
            marker: Some(Marker::Cross),
            points: line(*first, &|point| point.floor_gain),
        });
    }
    for key in &keys {
        let (colour, marker) = match key.1 {
            // Okabe and Ito's colours: told apart by colour-blind readers too.
            Pin::None => (Colour(0, 114, 178), Marker::Circle),
            Pin::Compact => (Colour(213, 94, 0), Marker::Square),
            Pin::Scatter => (Colour(0, 158, 115), Marker::Triangle),
            pin => {
                // Any number of nodes and lists: their legends tell them apart when colours are used up.
                let colours = [Colour(204, 121, 167), Colour(230, 159, 0), Colour(86, 180, 233)];
                let turn = named.iter().position(|other| *other == pin).unwrap_or(0);
                (colours[turn % colours.len()], Marker::Diamond)
            }
        };
        let (line_kind, marker) = match key.0 {
            Cache::Cached => (Line::Solid, marker),
            Cache::Dropped => (Line::Dashed, marker.hollow()),
        };
        series.push(Series {
            label: series_label(key.0, key.1),
            note: None,
            colour,
            line: line_kind,
            marker: Some(marker),
            points: line(*key, &|point| point.gain),
        });
    }
    series.retain(|series| !series.points.is_empty());
    series
}

/// The name of a measured line in legends.
pub fn series_label(cache: Cache, pin: &Pin) -> String {
    let pin = match pin {
        Pin::None => "free".to_owned(),
        pin => format!("pinned, {pin}"),
    };
    match cache {
        Cache::Cached => format!("{pin}; trace in the page cache"),
        Cache::Dropped => format!("{pin}; trace not in the page cache"),
    }
}

/// A size, as titles have it.
pub(crate) fn megabytes(bytes: u64) -> String {
    match bytes as f64 / 1e6 {
        megabytes if megabytes >= 9.95 => format!("{megabytes:.0} MB"),
        megabytes if megabytes >= 0.995 => format!("{megabytes:.1} MB"),
        megabytes => format!("{:.0} kB", megabytes * 1e3),
    }
}

/// A name as part of the name of a file.
pub fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> =
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    words.join("-")
}
