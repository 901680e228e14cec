//! Tests that iterating over a trace that is larger than memory releases memory.

#![cfg(target_os = "linux")]

use paje_sim::options::MemoryLimit;
use paje_sim::{Options, Trace};

fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").expect("exists on Linux");
    let line = text.lines().find(|line| line.starts_with("Rss:")).expect("resident size");
    let kilobytes = line.split_whitespace().nth(1).expect("it has a number");
    kilobytes.parse::<u64>().expect("it is a number") << 10
}

/// 1.5 million states take 30 MB.
#[test]
fn rows_of_a_temporary_file_do_not_stay_in_memory() {
    let mut text = b"\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 4\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState 5\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
1 Host 0\n2 S Host\n4 0 h Host 0
"
    .to_vec();
    for i in 0..1_500_000 {
        text.extend_from_slice(format!("5 {i} S h s\n").as_bytes());
    }
    let mut options = Options::default();
    options.memory = Some(MemoryLimit { bytes: 1, folder: std::env::temp_dir() });
    let trace = Trace::read(&text[..], &options).unwrap();
    assert!(trace.spilled() >= 30_000_000, "{}", trace.spilled());
    trace.relieve();
    let before = resident();
    let (mut seconds, mut most) = (0.0, 0);
    for (i, state) in trace.states().enumerate() {
        seconds += state.duration();
        if i % 50_000 == 0 {
            most = most.max(resident());
        }
    }
    assert_eq!(seconds, 1_499_999.0);
    let grown = most.saturating_sub(before);
    assert!(grown < 16_000_000, "{grown} bytes stayed");
}
