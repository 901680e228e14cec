//! Writes the record of all runs, and tables of their results.
//!
//! T(p, s) is the time of a program with p threads on a trace of s bytes: the minimum of the runs,
//! since noise only adds time.
//!
//! | | |
//! |---|---|
//! | speedup | S(p) = T(1, s) / T(p, s): strong scaling, the same trace for every p |
//! | sizeup | Z(p) = p · T(1, s) / T(p, p·s): weak scaling, a trace p times as large for p threads |
//! | efficiency | S(p) / p, or Z(p) / p |
//!
//! T(1) is measured with the same program, placement and state of the page cache.

use std::fmt::Write as _;

use clap::ValueEnum;
use paje_workers::Pin;

use crate::Result;
use crate::study::{Cache, Case, Kind, Program, Run};

impl Program {
    /// Returns the name in tables and records.
    pub const fn name(self) -> &'static str {
        match self {
            Program::Floor => "floor",
            Program::Dump => "pj_dump",
            Program::Replay => "pj_dump -q",
            Program::Split => "pj_split",
            Program::Copy => "cp",
        }
    }
}

impl Kind {
    /// Returns the name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Strong => "strong",
            Kind::Weak => "weak",
        }
    }
}

impl Cache {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Returns the median of some numbers, or `None` for no numbers.
pub fn median(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut numbers: Vec<f64> = numbers.into_iter().collect();
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.len() % 2 {
        1 => Some(numbers[middle]),
        _ => Some((numbers.get(middle.checked_sub(1)?)? + numbers[middle]) / 2.0),
    }
}

const COLUMNS: [&str; 13] = [
    "trace",
    "bytes",
    "kind",
    "program",
    "pieces",
    "threads",
    "pin",
    "cache",
    "run",
    "seconds",
    "cpu",
    "peak_memory",
    "serial",
];

/// Returns the runs as CSV, with a header. Unknown values are empty.
pub fn csv(runs: &[Run]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS.iter().chain(&["imbalance"]))?;
    let decimal = |number: Option<f64>| number.map(|n| format!("{n:.6}")).unwrap_or_default();
    for run in runs {
        let Case { kind, program, pieces, pin, cache, threads } = &run.case;
        writer.write_record([
            run.trace.clone(),
            run.bytes.to_string(),
            kind.name().into(),
            program.name().into(),
            pieces.to_string(),
            threads.to_string(),
            pin.to_string(),
            cache.name(),
            run.run.to_string(),
            decimal(Some(run.seconds)),
            decimal(Some(run.cpu)),
            run.peak_memory.to_string(),
            decimal(run.serial),
            decimal(run.imbalance),
        ])?;
    }
    Ok(writer.into_inner()?)
}

struct Point<'a> {
    case: &'a Case,
    bytes: u64,
    seconds: f64,
    cpu: f64,
    peak_memory: u64,
    fastest: &'a Run,
}

/// Returns the runs of one trace as Markdown tables, one for each kind of scaling.
pub fn tables(runs: &[Run]) -> String {
    let points = points(runs);
    let mut text = String::new();
    for (kind, title) in [
        (Kind::Strong, "the same trace for any number of threads"),
        (Kind::Weak, "a trace whose size is proportional to the number of threads"),
    ] {
        let mut rows = points.iter().filter(|point| point.case.kind == kind).peekable();
        let Some(first) = rows.peek() else { continue };
        let _ = writeln!(
            text,
            "{} scaling of {}: {title}.\n\n\
             | program | pieces | MB | pin | cache | threads | seconds | processor s | MB/s | × time | \
             × processor | of | speedup | efficiency | serial | imbalance | peak MB |\n\
             |---|--:|--:|---|---|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|",
            if kind == Kind::Strong { "Strong" } else { "Weak" },
            first.fastest.trace,
        );
        rows.for_each(|point| text += &row(point, &points));
        text.push('\n');
    }
    text
}

fn points(runs: &[Run]) -> Vec<Point<'_>> {
    let mut sorted: Vec<&Run> = runs.iter().collect();
    sorted.sort_by(|a, b| a.case.cmp(&b.case));
    let cases = sorted.chunk_by(|a, b| a.case == b.case);
    cases
        .filter_map(|runs| {
            let fastest = runs.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
            Some(Point {
                case: &fastest.case,
                bytes: fastest.bytes,
                seconds: fastest.seconds,
                cpu: runs.iter().map(|run| run.cpu).min_by(f64::total_cmp)?,
                peak_memory: runs.iter().map(|run| run.peak_memory).max()?,
                fastest,
            })
        })
        .collect()
}

fn row(point: &Point<'_>, points: &[Point<'_>]) -> String {
    let case = point.case;
    let find = |case: Case| points.iter().find(|point| *point.case == case);
    // Compare with the run that has the same number of threads on the same CPUs.
    let beside = match (case.program, case.pieces) {
        (Program::Dump, 0) => find(Case { program: Program::Floor, ..case.clone() }),
        (Program::Dump | Program::Replay, 1..) => find(Case { pieces: 0, ..case.clone() }),
        (Program::Split, _) => find(Case { program: Program::Replay, pieces: 0, ..case.clone() }),
        (Program::Replay, 0) => {
            let pin = Pin::None;
            find(Case { program: Program::Copy, pin, threads: 1, ..case.clone() })
        }
        _ => None,
    };
    let of = beside.map_or("–", |beside| match beside.case.program {
        program if program == case.program => "single file",
        program => program.name(),
    });
    let times = |factor: Option<f64>| factor.map_or("–".into(), |factor| format!("{factor:.2}"));
    let percent =
        |part: Option<f64>| part.map_or("–".into(), |part| format!("{:.0} %", part * 100.0));
    let gain = find(Case { threads: 1, ..case.clone() }).map(|one| match case.kind {
        Kind::Strong => one.seconds / point.seconds,
        Kind::Weak => case.threads as f64 * one.seconds / point.seconds,
    });
    let megabytes = point.bytes as f64 / 1e6;
    format!(
        "| {} | {} | {megabytes:.1} | {} | {} | {} | {:.3} | {:.3} | {:.0} | {} | {} | {of} | {} | {} | {} | {} | \
         {:.1} |\n",
        case.program.name(),
        if case.pieces == 0 { "–".into() } else { case.pieces.to_string() },
        case.pin,
        case.cache.name(),
        case.threads,
        point.seconds,
        point.cpu,
        megabytes / point.seconds,
        times(beside.map(|beside| point.seconds / beside.seconds)),
        times(beside.map(|beside| point.cpu / beside.cpu)),
        times(gain),
        percent(gain.map(|gain| gain / case.threads as f64)),
        percent(point.fastest.serial),
        times(point.fastest.imbalance),
        point.peak_memory as f64 / 1e6,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(kind: Kind, program: Program, pieces: usize, threads: usize, seconds: f64) -> Run {
        let case = Case { kind, program, pieces, pin: Pin::None, cache: Cache::Cached, threads };
        Run {
            trace: "a, b".into(),
            bytes: 100_000_000,
            case,
            run: 1,
            seconds,
            cpu: seconds * threads as f64,
            peak_memory: (seconds * 1e6) as u64,
            serial: Some(0.25),
            imbalance: None,
        }
    }

    #[test]
    fn medians_are_found() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([]), None);
    }

    #[test]
    fn tables_have_minima_ratios_and_gains() {
        use Kind::{Strong, Weak};
        use Program::{Dump, Floor, Replay, Split};
        let mut compact = run(Strong, Dump, 0, 4, 0.5);
        compact.case.pin = Pin::Compact;
        let text = tables(&[
            run(Strong, Dump, 0, 2, 5.0),
            run(Strong, Dump, 0, 1, 8.0),
            run(Strong, Dump, 0, 2, 4.0),
            run(Strong, Floor, 0, 2, 0.5),
            run(Strong, Replay, 0, 2, 2.0),
            run(Strong, Dump, 9, 2, 2.0),
            run(Strong, Split, 9, 2, 3.0),
            compact,
            run(Weak, Dump, 0, 1, 2.0),
            run(Weak, Dump, 0, 2, 2.5),
        ]);
        for row in [
            "| pj_dump | – | 100.0 | none | cached | 2 | 4.000 | 8.000 | 25 | 8.00 | 8.00 | floor | 2.00 | 100 % | 25 % | – | 5.0 |",
            "| pj_dump | – | 100.0 | compact | cached | 4 | 0.500 | 2.000 | 200 | – | – | – | – | – | 25 % | – | 0.5 |",
            "| pj_dump | 9 | 100.0 | none | cached | 2 | 2.000 | 4.000 | 50 | 0.50 | 0.50 | single file | – | – | 25 % | – | 2.0 |",
            "| pj_split | 9 | 100.0 | none | cached | 2 | 3.000 | 6.000 | 33 | 1.50 | 1.50 | pj_dump -q | – | – | 25 % | – | 3.0 |",
            "| pj_dump | – | 100.0 | none | cached | 2 | 2.500 | 5.000 | 40 | – | – | – | 1.60 | 80 % | 25 % | – | 2.5 |",
        ] {
            assert!(text.lines().any(|line| line == row), "{row}\n{text}");
        }
    }
}
