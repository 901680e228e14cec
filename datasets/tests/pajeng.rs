//! Compares the generators with PajeNG: PajeNG must accept valid traces, and refuse invalid traces
//! at the expected line.
//!
//! These tests need PajeNG:
//! `PAJENG_PJ_DUMP=/usr/bin/pj_dump cargo test -p datasets --test pajeng -- --ignored`.
//! `PAJENG_SEEDS` sets the number of random traces (default 2,000).

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use datasets::files::{Style, cut};
use datasets::invalid::{self, Fault};
use datasets::{Shape, generate, random};

fn replay(name: &str, trace: &[u8], options: &[String]) -> Output {
    let program = env::var_os("PAJENG_PJ_DUMP").expect("PAJENG_PJ_DUMP must name PajeNG's pj_dump");
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, trace).expect("the target folder is writable");
    // The time limit keeps a hang from blocking all tests.
    Command::new("timeout")
        .arg("20")
        .arg(program)
        .args(options)
        .arg(file)
        .output()
        .expect("PajeNG runs")
}

#[test]
#[ignore = "needs PajeNG 1.3.6"]
fn random_traces_are_judged_as_expected() {
    let seeds = env::var("PAJENG_SEEDS")
        .map_or(2000, |seeds| seeds.parse().expect("PAJENG_SEEDS is a number"));
    for seed in 0..seeds {
        let trace = random::trace(seed);
        let output = replay("random.trace", &trace.bytes, &trace.options);
        let text = String::from_utf8_lossy(&output.stdout);
        let expected = if trace.is_valid() { 0 } else { 1 };
        assert_eq!(output.status.code(), Some(expected), "seed {seed}, {:?}: {text}", trace.fault);
        // For some faults, PajeNG prints a complaint to standard output and exits with status 0.
        let complaint =
            !output.stderr.is_empty() || text.contains("Field count") || text.contains(", NULL,");
        assert!(!(trace.is_valid() && complaint), "seed {seed}: {text}");
    }
}

#[test]
#[ignore = "needs PajeNG 1.3.6"]
fn faults_are_reported_at_the_expected_line() {
    // Two messages of PajeNG have no line number.
    let silent = [Fault::UnknownFieldType, Fault::OpenLinkAtDestroy];
    for fault in Fault::ALL.into_iter().filter(|fault| fault.is_reported_by_pajeng()) {
        for seed in 0..12 {
            let trace = invalid::trace(fault, seed);
            let output = replay("invalid.trace", &trace.bytes, &[]);
            let text = String::from_utf8_lossy(&output.stdout).to_lowercase();
            assert_eq!(output.status.code(), Some(1), "{fault}, seed {seed}: {text}");
            if let Some(line) = trace.line.filter(|_| !silent.contains(&fault)) {
                let named = [format!("line: {line},"), format!("line {line}\n")]
                    .iter()
                    .any(|place| text.contains(place));
                assert!(named, "{fault}, seed {seed}, line {line}: {text}");
            }
        }
    }
}

#[test]
#[ignore = "needs PajeNG 1.3.6"]
fn shapes_are_valid() {
    for shape in Shape::ALL {
        for size in [0, 16 << 10, 1 << 20] {
            let output = replay("shape.trace", &generate(shape, size, 1), &[]);
            // A trace without events counts as sorted.
            let expected = if shape.is_sorted() || size == 0 { 0 } else { 1 };
            assert_eq!(
                output.status.code(),
                Some(expected),
                "{shape}, {size}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

#[test]
#[ignore = "needs PajeNG 1.3.6"]
fn full_files_are_traces_with_all_rows() {
    let rows = |name: &str, trace: &[u8]| -> Vec<String> {
        let output = replay(name, trace, &[]);
        assert_eq!(output.status.code(), Some(0), "{name}");
        let text = String::from_utf8(output.stdout).expect("the shape is UTF-8");
        text.lines().filter(|row| !row.starts_with("Container")).map(Into::into).collect()
    };
    for shape in Shape::ALL.into_iter().filter(|shape| shape.is_sorted()) {
        let trace = generate(shape, 60_000, 1);
        let files = cut(&trace, Style::Full, 5);
        let pieces = files.pieces.iter();
        let mut found: Vec<String> =
            pieces.flat_map(|piece| rows("piece.trace", &piece.bytes)).collect();
        let mut wanted = rows("whole.trace", &trace);
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{shape}");
        assert_eq!(rows("root.trace", &files.root), [""; 0], "{shape}");
    }
}
