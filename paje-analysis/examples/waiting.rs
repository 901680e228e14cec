//! Prints the wait states of a trace, their causes and its critical path: `waiting TRACE`.

use std::fmt::Write;
use std::process::ExitCode;

use paje_analysis::classes::Map;
use paje_analysis::critical::CriticalPath;
use paje_analysis::waits::{Options, Waits};
use paje_sim::Trace;

pub(crate) fn report(trace: &Trace) -> String {
    let waits = Waits::new(trace, &Map::of_trace(trace), &Options::default());
    let (window, mut report) = (waits.whole(), String::new());
    for (kind, total) in waits.by_kind(window) {
        let (seconds, count) = (total.seconds, total.count);
        let _ = writeln!(report, "{seconds:12.6} {} ({count})", kind.name());
    }
    for cost in waits.costs(window) {
        let whom = waits.name(cost.whom);
        let _ = writeln!(report, "{:12.6} for {whom}, {:.6} caused by it", cost.direct, cost.delay);
    }
    let Some(path) = CriticalPath::new(&waits) else { return report };
    let _ = writeln!(report, "{:12.6} is the critical path's length", path.length(window));
    for row in path.by_activity(&waits, window) {
        let (type_, value) = row.activity;
        let value = value.map(|value| trace.types().value_name(type_, value).to_str_lossy());
        let value = value.unwrap_or("between states".into());
        let _ = writeln!(report, "{:12.6} {value} in {}", row.seconds, waits.name(row.track));
    }
    report
}

fn main() -> ExitCode {
    match Trace::open(std::env::args_os().nth(1).unwrap_or("-".into())) {
        Ok(trace) => print!("{}", report(&trace)),
        Err(error) => {
            eprintln!("waiting: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
