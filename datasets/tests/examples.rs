//! Tests that example traces equal the traces of the generators, and that each of them has its
//! expected outputs.

use std::fs;
use std::path::{Path, PathBuf};

use datasets::{Shape, generate};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

#[test]
fn traces_of_shapes_are_up_to_date() {
    for shape in Shape::ALL {
        let path = examples().join(format!("{shape}.trace"));
        let trace = fs::read(&path).unwrap();
        // The size of a trace is a few bytes below or above a number of kilobytes.
        let made = (4..=16).any(|kilobytes| generate(shape, kilobytes << 10, 1) == trace);
        assert!(made, "{} is outdated: run examples/regenerate", path.display());
    }
}

#[test]
fn every_trace_is_small_and_has_an_expected_output() {
    let names: Vec<String> = fs::read_dir(examples())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let traces: Vec<&str> = names.iter().filter_map(|name| name.strip_suffix(".trace")).collect();
    assert!(traces.len() >= Shape::ALL.len());
    let readme = fs::read_to_string(examples().join("README.md")).unwrap();
    for trace in traces {
        let output =
            |name: &&String| name.starts_with(&format!("{trace}.")) && name.ends_with(".csv");
        assert!(names.iter().any(|name| output(&name)), "{trace} has no expected output");
        assert!(readme.contains(&format!("| `{trace}` |")), "{trace} is not in the README");
        assert!(
            fs::metadata(examples().join(format!("{trace}.trace"))).unwrap().len() < 20_000,
            "{trace}"
        );
    }
    for output in names.iter().filter(|name| name.ends_with(".csv")) {
        let text = fs::read_to_string(examples().join(output)).unwrap();
        assert!(!text.is_empty() && !text.contains("Exception"), "{output}");
    }
}

#[test]
fn the_files_of_the_example_have_all_lines_of_the_trace() {
    let read = |name: &str| fs::read_to_string(examples().join("files").join(name)).unwrap();
    let mut lines = Vec::new();
    for name in ["root.trace", "ping.trace", "more/messages.trace", "more/pong.trace"] {
        lines.extend(read(name).lines().map(str::to_owned));
    }
    // Each file has different event numbers.
    let fields = |line: &str| line.split_once(' ').map(|(_, fields)| fields.to_owned());
    let held: Vec<_> = lines.iter().filter_map(|line| fields(line)).collect();
    let whole = read("whole.trace");
    for line in whole.lines().filter(|line| !line.starts_with(['%', '#'])) {
        let wanted = fields(line).unwrap();
        assert!(held.iter().any(|held| held.starts_with(&wanted)), "{line}");
    }
    assert!(!read("whole.csv").is_empty());
}
