//! The summary, in Markdown.

use std::fmt::Write as _;

use super::record::{Job, Point, Points};

/// One table of what writes pieces, one of what reads them.
pub fn tables(points: &Points) -> String {
    let mut text = format!(
        "Cutting {}, {:.1} MB, into pieces.\n\n\
         | program | pieces | threads | pin | median | minimum | GB/s | × cp | × pj_dump -q | \
         processor | × by processor | peak MB |\n\
         |---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        points.trace,
        points.bytes as f64 / 1e6,
    );
    for point in points.of(Job::Copy).chain(points.of(Job::Split)) {
        let copy = points.single(Job::Copy, &point.key);
        let replay = points.single(Job::Replay, &point.key);
        let replay = replay.filter(|_| point.key.job == Job::Split);
        let _ = writeln!(
            text,
            "{} | {:.2} | {} | {} | {:.2} s | {} | {:.1} |",
            start(point),
            points.bytes as f64 / 1e9 / point.median,
            times(copy, |copy| point.median / copy.median),
            times(replay, |replay| point.median / replay.median),
            point.cpu,
            times(replay, |replay| point.cpu / replay.cpu),
            point.peak_memory as f64 / 1e6,
        );
    }
    let _ = writeln!(
        text,
        "\nReplaying {} from pieces (none: the single file).\n\n\
         | program | pieces | threads | pin | median | minimum | MB/s | × single file | × by minima | \
         processor | × by processor | peak MB |\n\
         |---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        points.trace,
    );
    for point in points.of(Job::Replay).chain(points.of(Job::Dump)) {
        let single = points.single(point.key.job, &point.key);
        let _ = writeln!(
            text,
            "{} | {:.0} | {} | {} | {:.2} s | {} | {:.1} |",
            start(point),
            points.bytes as f64 / 1e6 / point.median,
            times(single, |single| point.median / single.median),
            times(single, |single| point.minimum / single.minimum),
            point.cpu,
            times(single, |single| point.cpu / single.cpu),
            point.peak_memory as f64 / 1e6,
        );
    }
    text
}

/// Start of a row: the configuration, median and minimum of its times in seconds.
fn start(point: &Point) -> String {
    let key = &point.key;
    let pieces = key.pieces.map_or_else(|| "–".into(), |pieces| pieces.count.to_string());
    format!(
        "| {} | {pieces} | {} | {} | {:.3} s | {:.3} s",
        key.job.name(),
        key.threads,
        key.pin,
        point.median,
        point.minimum
    )
}

fn times(beside: Option<&Point>, ratio: impl Fn(&Point) -> f64) -> String {
    beside.map_or_else(|| "–".to_owned(), |beside| format!("{:.2}", ratio(beside)))
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::run;
    use super::*;
    use paje_workers::Pin;

    #[test]
    fn ratios_are_those_of_the_same_threads() {
        let runs = [
            run(Job::Copy, 1, Pin::None, 0, 1.0),
            run(Job::Split, 2, Pin::Compact, 64, 3.0),
            run(Job::Replay, 1, Pin::Compact, 0, 7.0),
            run(Job::Replay, 2, Pin::Compact, 0, 4.0),
            run(Job::Replay, 2, Pin::Compact, 64, 5.0),
        ];
        let text = tables(&Points::new(&runs).unwrap());
        for row in [
            "| cp | – | 1 | none | 1.000 s | 1.000 s | 1.00 | 1.00 | – | 1.00 s | – | 9.0 |",
            "| pj_split | 64 | 2 | compact | 3.000 s | 3.000 s | 0.33 | 3.00 | 0.75 | 6.00 s | 0.75 | 27.0 |",
            "| pj_dump -q | – | 2 | compact | 4.000 s | 4.000 s | 250 | 1.00 | 1.00 | 8.00 s | 1.00 | 36.0 |",
            "| pj_dump -q | 64 | 2 | compact | 5.000 s | 5.000 s | 200 | 1.25 | 1.25 | 10.00 s | 1.25 | 45.0 |",
        ] {
            assert!(text.lines().any(|line| line == row), "{row}\n{text}");
        }
    }
}
