//! Tables in Markdown, and records of every run.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use benches::scaling::speed;

use crate::measure::{Job, Round};

/// The medians: one table of dumps, one of checks, a row for each trace.
pub(crate) fn tables(rounds: &[Round], pajeng: &str, runs: u32) -> String {
    let traces: Vec<Vec<&Round>> = by_trace(rounds);
    let mut text = format!(
        "Medians of {runs} runs on {}, against PajeNG {pajeng}.\n\n\
         | trace | MB | floor | PajeNG `pj_dump` | one thread | faster | MB/s | all threads | faster | MB/s | PajeNG's memory | ours | less |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        cpu()
    );
    for trace in &traces {
        let (floor, single) = (median(trace, Job::Floor), median(trace, Job::Single));
        let slow = median(trace, Job::PajengDump);
        let megabytes = trace[0].bytes as f64 / 1e6;
        let _ = writeln!(
            text,
            "| {} | {megabytes:.1} | {floor:.3} s | {slow:.2} s | {single:.3} s | {:.0}× | {:.0} | {} |",
            trace[0].trace,
            slow / single,
            megabytes / single,
            pair(trace, Job::PajengDump, Job::Dump).split_once(" | ").map_or("", |(_, rest)| rest),
        );
    }
    text.push_str(
        "\n| trace | PajeNG `pj_dump -q` | `pj_dump -q` | faster | MB/s | PajeNG's memory | ours | less |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for trace in &traces {
        let pair = pair(trace, Job::PajengReplay, Job::Replay);
        let _ = writeln!(text, "| {} | {pair} |", trace[0].trace);
    }
    text.push_str(
        "\n| trace | PajeNG `pj_dump -q` | `pj_validate -q` | faster | MB/s | PajeNG's memory | ours | less |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for trace in &traces {
        let pair = pair(trace, Job::PajengReplay, Job::Validate);
        let _ = writeln!(text, "| {} | {pair} |", trace[0].trace);
    }
    text
}

/// Seconds of both, how many times faster ours is, its speed, peaks of both, how many times less.
fn pair(trace: &[&Round], theirs: Job, ours: Job) -> String {
    let (slow, fast) = (median(trace, theirs), median(trace, ours));
    let (much, little) = (peak(trace, theirs), peak(trace, ours));
    format!(
        "{slow:.2} s | {fast:.3} s | {:.0}× | {:.0} | {:.0} MB | {:.0} MB | {:.1}×",
        slow / fast,
        trace[0].bytes as f64 / 1e6 / fast,
        much / 1e6,
        little / 1e6,
        much / little,
    )
}

fn by_trace(rounds: &[Round]) -> Vec<Vec<&Round>> {
    let mut traces: Vec<Vec<&Round>> = Vec::new();
    for round in rounds {
        match traces.last_mut() {
            Some(trace) if trace[0].trace == round.trace => trace.push(round),
            _ => traces.push(vec![round]),
        }
    }
    traces
}

/// The median of a job's times, all of which were run.
fn median(trace: &[&Round], job: Job) -> f64 {
    let runs = trace.iter().filter(|round| round.job == job);
    speed::median(runs.map(|round| round.seconds)).unwrap_or(f64::NAN)
}

fn peak(trace: &[&Round], job: Job) -> f64 {
    trace.iter().filter(|round| round.job == job).map(|round| round.peak).max().unwrap_or(0) as f64
}

/// Every run, one a line.
pub(crate) fn csv(rounds: &[Round]) -> String {
    let mut text =
        "trace,bytes,program,run,seconds,user_s,system_s,mb_per_s,peak_bytes\n".to_owned();
    for round in rounds {
        let _ = writeln!(
            text,
            "\"{}\",{},{},{},{:.6},{:.6},{:.6},{:.1},{}",
            round.trace.replace('"', "\"\""),
            round.bytes,
            round.job.name(),
            round.run,
            round.seconds,
            round.user,
            round.system,
            round.bytes as f64 / 1e6 / round.seconds,
            round.peak,
        );
    }
    text
}

/// `benches/records/DATE-CPU.csv`, in the source tree.
pub(crate) fn record_path() -> Result<PathBuf, Box<dyn Error>> {
    let output = Command::new("date").args(["-u", "+%F"]).output()?;
    let date = String::from_utf8(output.stdout)?;
    let name = format!("{}-{}.csv", date.trim(), slug(&cpu()));
    Ok(Path::new(env!("CARGO_MANIFEST_DIR")).join("records").join(name))
}

/// The processor's name, as Linux gives it, and how many of its cores there are.
fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':'));
    let name = name.map_or(std::env::consts::ARCH, |(_, name)| name.trim());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} cores", name.replace("(R)", "").replace("(TM)", ""))
}

fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> =
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    words.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(job: Job, run: u32, seconds: f64, peak: u64) -> Round {
        let (trace, bytes) = ("a, b".to_owned(), 3_000_000);
        Round { trace, bytes, job, run, seconds, user: seconds, system: 0.0, peak }
    }

    #[test]
    fn medians_and_ratios() {
        let mut rounds = Vec::new();
        for (run, ours) in [(1, 0.25), (2, 0.5), (3, 0.125)] {
            rounds.extend(Job::ALL.map(|job| match job {
                Job::PajengDump | Job::PajengReplay => round(job, run, 5.0, 9_000_000),
                job => round(job, run, ours, 2_000_000),
            }));
        }
        let text = tables(&rounds, "1.3.6", 3);
        let row = "| a, b | 3.0 | 0.250 s | 5.00 s | 0.250 s | 20× | 12 | 0.250 s | 20× | 12 | \
                   9 MB | 2 MB | 4.5× |";
        assert!(text.contains(row), "{text}");
        let csv = csv(&rounds);
        assert_eq!(csv.lines().count(), 1 + 21);
        let run = "\"a, b\",3000000,pj_dump,2,0.500000,0.500000,0.000000,6.0,2000000";
        assert!(csv.lines().any(|line| line == run), "{csv}");
    }

    #[test]
    fn names_of_files() {
        assert_eq!(
            slug("Intel Xeon  E5-2680 @ 2.4GHz, 2 cores"),
            "intel-xeon-e5-2680-2-4ghz-2-cores"
        );
    }
}
