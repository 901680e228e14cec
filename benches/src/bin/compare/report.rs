//! Writes tables in Markdown and records of every run.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use benches::machine;
use benches::report::median;

use crate::measure::{Job, Run};

/// Columns of [`pair`].
const PAIR: &str =
    "faster | MB/s | PajeNG's memory | ours | less |\n|---|--:|--:|--:|--:|--:|--:|--:|\n";

/// Returns tables of medians for dumps, replays and checks, with a row for each trace.
pub(crate) fn tables(runs: &[Run], pajeng: &str, count: u32) -> String {
    let traces: Vec<&[Run]> = runs.chunk_by(|a, b| a.trace == b.trace).collect();
    let mut text = format!(
        "Medians of {count} runs on {}, against PajeNG {pajeng}.\n\n\
         | trace | MB | floor | PajeNG `pj_dump` | one thread | faster | MB/s | all threads | faster | MB/s | PajeNG's memory | ours | less |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        machine::processor()
    );
    for trace in &traces {
        let (floor, single) = (seconds(trace, Job::Floor), seconds(trace, Job::Single));
        let slow = seconds(trace, Job::PajengDump);
        let megabytes = trace[0].bytes as f64 / 1e6;
        let _ = writeln!(
            text,
            "| {} | {megabytes:.1} | {floor:.3} s | {slow:.2} s | {single:.3} s | {:.0}× | {:.0} | {} |",
            trace[0].trace,
            slow / single,
            megabytes / single,
            pair(trace, Job::PajengDump, Job::Dump),
        );
    }
    for job in [Job::Replay, Job::Validate] {
        let _ = write!(text, "\n| trace | PajeNG `pj_dump -q` | `{}` | {PAIR}", job.name());
        for trace in &traces {
            let slow = seconds(trace, Job::PajengReplay);
            let pair = pair(trace, Job::PajengReplay, job);
            let _ = writeln!(text, "| {} | {slow:.2} s | {pair} |", trace[0].trace);
        }
    }
    text
}

/// Returns table cells: our time, speed-up and speed, the peak memory of both programs, and the
/// ratio of these peaks.
fn pair(trace: &[Run], theirs: Job, ours: Job) -> String {
    let (slow, fast) = (seconds(trace, theirs), seconds(trace, ours));
    let (much, little) = (peak(trace, theirs), peak(trace, ours));
    format!(
        "{fast:.3} s | {:.0}× | {:.0} | {:.0} MB | {:.0} MB | {:.1}×",
        slow / fast,
        trace[0].bytes as f64 / 1e6 / fast,
        much / 1e6,
        little / 1e6,
        much / little,
    )
}

fn of(trace: &[Run], job: Job) -> impl Iterator<Item = &Run> {
    trace.iter().filter(move |run| run.job == job)
}

fn seconds(trace: &[Run], job: Job) -> f64 {
    median(of(trace, job).map(|run| run.timed.seconds)).unwrap_or(f64::NAN)
}

fn peak(trace: &[Run], job: Job) -> f64 {
    of(trace, job).map(|run| run.timed.peak_memory).max().unwrap_or(0) as f64
}

pub(crate) fn csv(runs: &[Run]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "trace",
        "bytes",
        "program",
        "run",
        "seconds",
        "user_s",
        "system_s",
        "mb_per_s",
        "peak_bytes",
    ])?;
    for Run { trace, bytes, job, run, timed } in runs {
        writer.write_record([
            trace.clone(),
            bytes.to_string(),
            job.name().into(),
            run.to_string(),
            format!("{:.6}", timed.seconds),
            format!("{:.6}", timed.user),
            format!("{:.6}", timed.system),
            format!("{:.1}", *bytes as f64 / 1e6 / timed.seconds),
            timed.peak_memory.to_string(),
        ])?;
    }
    Ok(writer.into_inner()?)
}

pub(crate) fn record_path() -> Result<PathBuf, Box<dyn Error>> {
    let output = Command::new("date").args(["-u", "+%F"]).output()?;
    let date = String::from_utf8(output.stdout)?;
    let name = machine::processor().to_ascii_lowercase();
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let file = format!("{}-{}.csv", date.trim(), words.join("-"));
    Ok(Path::new(env!("CARGO_MANIFEST_DIR")).join("records").join(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use benches::process::Timed;

    fn run(job: Job, run: u32, seconds: f64, peak_memory: u64) -> Run {
        let timed = Timed { seconds, user: seconds, peak_memory, ..Timed::default() };
        Run { trace: "a, b".into(), bytes: 3_000_000, job, run, timed }
    }

    #[test]
    fn tables_have_medians_and_ratios() {
        let mut runs = Vec::new();
        for (number, ours) in [(1, 0.25), (2, 0.5), (3, 0.125)] {
            runs.extend(Job::ALL.map(|job| match job {
                Job::PajengDump | Job::PajengReplay => run(job, number, 5.0, 9_000_000),
                job => run(job, number, ours, 2_000_000),
            }));
        }
        let text = tables(&runs, "1.3.6", 3);
        for row in [
            "| a, b | 3.0 | 0.250 s | 5.00 s | 0.250 s | 20× | 12 | 0.250 s | 20× | 12 | 9 MB | 2 MB | 4.5× |",
            "| a, b | 5.00 s | 0.250 s | 20× | 12 | 9 MB | 2 MB | 4.5× |",
        ] {
            assert!(text.lines().any(|line| line == row), "{text}");
        }
        let csv = String::from_utf8(csv(&runs).unwrap()).unwrap();
        assert_eq!(csv.lines().count(), 1 + 21);
        let row = "\"a, b\",3000000,pj_dump,2,0.500000,0.500000,0.000000,6.0,2000000";
        assert!(csv.lines().any(|line| line == row), "{csv}");
    }
}
