//! `--stats` and `--verbose`.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

use crate::world::{dump, said, trace};

/// Returns a trace with `lines` state changes, and its number of event lines.
fn long(lines: u64) -> (Vec<u8>, u64) {
    let sets: String = (0..lines).map(|i| format!("set {i} S p v{}\n", i % 7)).collect();
    // The common head has nine lines. A comment is a line but not an event.
    (trace(format!("{sets}# end\n\n").as_bytes()), lines + 9)
}

fn lines_of(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

fn parsed(output: &Output) -> Value {
    let told = said(output);
    assert!(told.ends_with('\n'), "{told}");
    let last = told.lines().last().expect("there is a line");
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {last}"))
}

fn seconds(value: &Value) -> f64 {
    let seconds = value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"));
    assert!(seconds.is_finite() && seconds >= 0.0, "{seconds}");
    seconds
}

fn assert_plausible(stats: &Value, threads: u64) {
    assert_eq!(stats["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(stats["threads"], threads);
    let phase = |name: &str| seconds(&stats["seconds"][name]);
    let (total, replay, export) = (phase("total"), phase("replay"), phase("export"));
    // Each duration is rounded to microseconds.
    assert!(replay + export <= total + 1e-5, "{stats}");
    assert!(phase("serial") <= replay + export + 1e-5, "{stats}");
    let workers = stats["workers"].as_array().expect("an array");
    assert_eq!(workers.len() as u64, threads);
    for worker in workers {
        for what in ["read", "decode", "replay", "export", "idle"] {
            assert!(seconds(&worker[what]) <= replay + export + 1e-5, "{what}: {stats}");
        }
    }
    assert!(workers.iter().any(|worker| seconds(&worker["decode"]) > 0.0), "{stats}");
    let imbalance = seconds(&stats["imbalance"]);
    assert!((1.0 - 1e-5..=threads as f64 + 1e-5).contains(&imbalance), "{stats}");
    assert!(stats["events_per_second"].as_u64() > Some(0), "{stats}");
    assert!(stats["bytes_per_second"].as_u64() > Some(0), "{stats}");
    if cfg!(target_os = "linux") {
        assert!(stats["peak_memory"].as_u64() > Some(1 << 16), "{stats}");
    }
}

#[test]
fn stats_are_plausible_for_files_and_pipes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.trace");
    let (text, events) = long(60_000);
    fs::write(&path, &text).expect("the folder is writable");
    let plain = dump(&[], &text).stdout;
    for threads in [1, 2, 3] {
        let threads_option = format!("--threads={threads}");
        let file = Command::new(env!("CARGO_BIN_EXE_pj_dump"))
            .args([&threads_option, "--stats=json", "-l6"])
            .arg(&path)
            .output()
            .expect("the program starts");
        let pipe = dump(&[&threads_option, "--stats=json"], &text);
        for output in [file, pipe] {
            let stats = parsed(&output);
            assert_plausible(&stats, threads);
            assert_eq!(said(&output).lines().count(), 1);
            assert_eq!(stats["pin"], "none");
            assert_eq!(stats["bytes"], text.len());
            assert_eq!(stats["lines"], lines_of(&text));
            assert_eq!(stats["events"], events);
            assert_eq!(stats["rows"], lines_of(&output.stdout));
            assert_eq!(stats["output_bytes"], output.stdout.len());
            assert!(output.stdout == plain);
        }
    }
}

#[test]
fn stats_count_no_rows_without_rows() {
    let (text, events) = long(10);
    for option in ["-q", "-c", "-d", "-pState"] {
        let output = dump(&["--threads=2", "--stats=json", option], &text);
        let stats = parsed(&output);
        assert_plausible(&stats, 2);
        assert_eq!((&stats["rows"], &stats["output_bytes"]), (&0.into(), &0.into()), "{option}");
        assert_eq!(stats["events"], events);
        assert_eq!(stats["seconds"]["export"], 0.0);
    }
    let stats = parsed(&dump(&["-h", "--stats=json"], &text));
    assert_eq!(stats["rows"], lines_of(&dump(&[], &text).stdout));
}

#[test]
fn stats_come_after_everything_else() {
    let output = dump(&["--verbose", "--stats=json"], &trace(b"set 0 S p a b\nset 1 S p a\n"));
    assert_plausible(&parsed(&output), parsed(&output)["workers"].as_array().unwrap().len() as u64);
    let told = said(&output);
    let [.., warning, last] = told.lines().collect::<Vec<_>>()[..] else { panic!("{told}") };
    assert!(warning.starts_with("pj_dump: <stdin>:") && warning.contains("warning"), "{told}");
    assert!(last.starts_with('{'), "{told}");
}

#[test]
fn stats_are_readable_as_text() {
    let (text, events) = long(1000);
    for option in ["--stats", "--stats=text"] {
        let output = dump(&["--threads", "2", option], &text);
        let told = said(&output);
        let fact = |what: &str| {
            let mut values = told.lines().filter_map(|line| line.strip_prefix(what));
            let value = values.next().unwrap_or_else(|| panic!("no {what}: {told}"));
            value.trim().to_owned()
        };
        assert_eq!(fact("version "), env!("CARGO_PKG_VERSION"));
        assert_eq!((fact("threads "), fact("pinned ")), ("2".into(), "no".into()));
        assert_eq!(fact("bytes "), text.len().to_string());
        assert_eq!(fact("lines "), lines_of(&text).to_string());
        assert_eq!(fact("event lines "), events.to_string());
        assert_eq!((fact("states "), fact("values ")), ("1,000".to_owned(), "7".to_owned()));
        assert_eq!(fact("rows "), lines_of(&output.stdout).to_string());
        assert_eq!(fact("output bytes "), output.stdout.len().to_string());
        for phase in ["total ", "replay ", "export ", "  writing ", "serial "] {
            let seconds = fact(phase);
            let number = seconds.strip_suffix(" s").and_then(|number| number.parse::<f64>().ok());
            assert!(number.is_some_and(|number| number >= 0.0), "{phase}: {seconds}");
        }
        for worker in ["worker 0 ", "worker 1 "] {
            let times = fact(worker);
            let words: Vec<&str> =
                times.split(", ").filter_map(|time| time.split(' ').next()).collect();
            assert_eq!(words, ["read", "decode", "replay", "export", "idle"]);
        }
        for number in ["imbalance ", "events/s ", "MB/s "] {
            assert!(fact(number).parse::<f64>().is_ok(), "{told}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn stats_and_verbose_name_the_cpus() {
    // Any allowed CPU will do, even if the system refuses to pin to it.
    let cpu = paje_workers::allowed().expect("Linux says")[0];
    let pin = format!("--pin={cpu}");
    let output = dump(&[&pin, "--stats=json", "--verbose"], &trace(b"set 0 S p a\n"));
    let (stats, told) = (parsed(&output), said(&output));
    assert_eq!(stats["pin"], cpu.to_string());
    if told.contains("refused") {
        assert_eq!(stats.get("cpus"), None);
        assert!(told.contains("pj_dump: 1 thread, where the system puts it\n"), "{told}");
    } else {
        assert_eq!(stats["cpus"], serde_json::json!([cpu]));
        assert!(told.contains(&format!("pj_dump: 1 thread, on CPU {cpu}\n")), "{told}");
    }
}
