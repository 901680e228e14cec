//! The scaling study as a whole, with programs that only look like `pj_dump`, and its plots.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use benches::scaling::plots::{FLOOR_LABEL, IDEAL_LABEL, THESIS_LABEL, plots, series_label};
use benches::scaling::record::{Cache, HEADER, Kind, Run, Stats, csv, parse_csv};
use benches::scaling::speed::points;
use paje_workers::Pin;

/// A program that prints the trace, and what `after` prints. `$threads` and `$pin` are its options.
fn program(folder: &Path, after: &str) -> PathBuf {
    let path = folder.join("pj_dump");
    let script = format!(
        "#!/bin/sh\n\
         [ \"$1\" = --threads ] && [ \"$3\" = --pin ] && [ \"$5\" = --stats=json ] || exit 2\n\
         threads=$2; pin=$4\n\
         for trace; do :; done\n\
         cat \"$trace\"\n{after}\n"
    );
    fs::write(&path, script).expect("the folder is ours");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    path
}

fn scaling(program: &Path, out: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scaling"));
    command.arg("--program").arg(program).arg("--out").arg(out).args(words);
    command.output().expect("Cargo has built it")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_study_records_and_draws_every_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let told = r#"echo "{\"threads\":$threads,\"pin\":\"$pin\",\"seconds\":{\"total\":0.5,\"serial\":0.125},\"imbalance\":1.5,\"peak_memory\":4096}" >&2"#;
    let (program, out) = (program(folder.path(), told), folder.path().join("out"));
    let given = folder.path().join("my, own.trace");
    fs::write(&given, datasets::generate(datasets::Shape::Mpi, 30_000, 2)).unwrap();
    let words = ["--quick", "--shapes", "mpi", "--threads", "1,2,3", "--size", "40kB"];
    let words = [&words[..], &["--weak-size", "20kB", given.to_str().unwrap()]].concat();
    let output = scaling(&program, &out, &words);
    assert!(output.status.success(), "{}", text(&output.stderr));

    let record = fs::read_to_string(out.join("runs.csv")).unwrap();
    assert!(record.starts_with(HEADER));
    let runs = parse_csv(&record).unwrap();
    // Dropping depends on the file system.
    let caches = if runs.iter().any(|run| run.cache == Cache::Dropped) { 2 } else { 1 };
    // Threads, policies, repetitions; strong and weak ones, and the given trace's.
    assert_eq!(runs.len(), caches * 3 * 2 * 2 * 3, "{record}");
    for run in &runs {
        assert_eq!(run.stats.serial_share(), Some(0.25));
        assert_eq!((run.stats.imbalance, run.stats.peak_memory), (Some(1.5), Some(4096)));
        // The program prints its trace.
        assert_eq!(run.output_bytes, run.bytes);
        assert!(run.seconds > 0.0 && run.floor > 0.0);
        let size = if run.kind == Kind::Weak { 20_000 * run.threads as u64 } else { 40_000 };
        let size = if run.shape == "mpi" { size } else { 30_000 };
        assert!(run.bytes.abs_diff(size) <= size / 100, "{run:?}");
    }
    // Within a repetition each configuration runs once before any runs again.
    let first: Vec<u32> = runs.iter().take(caches * 12).map(|run| run.run).collect();
    assert!(first.iter().all(|run| *run == 1), "{first:?}");

    let tables = text(&output.stdout);
    assert!(tables.contains("| mpi | 0.0 | none | cached | 3 |"), "{tables}");
    assert!(tables.contains("| my, own.trace | 0.0 | compact | cached | 2 |"), "{tables}");
    let machine = fs::read_to_string(out.join("machine.txt")).unwrap();
    assert!(machine.starts_with("processor: "), "{machine}");
    for file in ["speedup-mpi", "efficiency-mpi", "weak-mpi", "speedup-my-own-trace"] {
        let svg = fs::read_to_string(out.join(format!("{file}.svg"))).unwrap();
        roxmltree::Document::parse(&svg).unwrap();
    }
    // The traces are gone.
    let left = fs::read_dir(&out).unwrap().flatten();
    let left: Vec<_> = left.filter(|entry| entry.file_type().unwrap().is_dir()).collect();
    assert!(left.is_empty(), "{left:?}");

    // The record alone gives the same plots and tables again.
    let plot = out.join("speedup-mpi.svg");
    let before = fs::read_to_string(&plot).unwrap();
    fs::remove_file(&plot).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_scaling"));
    let again = command.arg("--replot").arg(&out).output().unwrap();
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert_eq!(fs::read_to_string(&plot).unwrap(), before);
    assert_eq!(text(&again.stdout), tables);
}

#[test]
fn a_program_without_statistics_is_measured_too() {
    let folder = tempfile::tempdir().unwrap();
    let (program, out) = (program(folder.path(), ""), folder.path().join("out"));
    let words = ["--quick", "--shapes", "quoted", "--threads", "2", "--pins", "none"];
    let words = [&words[..], &["--size", "20kB", "--weak-size", "20kB", "--runs", "1"]].concat();
    let output = scaling(&program, &out, &words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let runs = parse_csv(&fs::read_to_string(out.join("runs.csv")).unwrap()).unwrap();
    assert!(runs.iter().all(|run| run.stats == Stats::default()), "{runs:?}");
    assert!(text(&output.stdout).contains("| – | – | – |"), "{}", text(&output.stdout));
}

#[test]
fn rows_that_depend_on_threads_are_not_measured() {
    let folder = tempfile::tempdir().unwrap();
    let (program, out) = (program(folder.path(), "echo $threads"), folder.path().join("out"));
    let words = ["--quick", "--shapes", "mpi", "--threads", "2", "--size", "20kB"];
    let output = scaling(&program, &out, &words);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    assert!(told.contains("mpi: 2 threads print other rows than one"), "{told}");
}

#[test]
fn a_program_that_fails_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (program, out) = (program(folder.path(), "echo 'no way' >&2; exit 1"), folder.path());
    let output = scaling(&program, out, &["--quick", "--shapes", "mpi", "--size", "20kB"]);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    assert!(told.contains("pj_dump failed (exit status: 1): no way"), "{told}");
    let output = scaling(&folder.path().join("nothing"), out, &["--quick", "--shapes", "mpi"]);
    assert!(text(&output.stderr).contains("nothing: No such file"), "{}", text(&output.stderr));
}

fn pins() -> [Pin; 5] {
    [Pin::None, Pin::Compact, Pin::Scatter, Pin::Numa(vec![]), Pin::List(vec![0, 2])]
}

/// Runs of a machine with 16 CPUs.
fn record() -> String {
    let mut runs = Vec::new();
    for kind in [Kind::Strong, Kind::Weak] {
        for (index, pin) in pins().iter().enumerate() {
            for cache in [Cache::Cached, Cache::Dropped] {
                for threads in [1, 2, 4, 8, 12, 16] {
                    let slower = 1.0 + 0.01 * (threads * (index + 1)) as f64;
                    let work = if kind == Kind::Strong { 1.0 / threads as f64 } else { 1.0 };
                    let run = Run {
                        shape: "a<b & c".into(),
                        bytes: 1_000_000,
                        kind,
                        threads,
                        pin: pin.clone(),
                        cache,
                        run: 1,
                        seconds: work * slower,
                        floor: work / 8.0,
                        output_bytes: 1,
                        stats: Stats::default(),
                    };
                    runs.push(run);
                }
            }
        }
    }
    csv(&runs)
}

#[test]
fn plots_of_a_record_hold_every_series() {
    let runs = parse_csv(&record()).unwrap();
    let plots = plots(&points(&runs), "a machine").unwrap();
    let files: Vec<&str> = plots.iter().map(|plot| plot.file.as_str()).collect();
    assert_eq!(files, ["speedup-a-b-c.svg", "efficiency-a-b-c.svg", "weak-a-b-c.svg"]);
    for plot in &plots {
        let document = roxmltree::Document::parse(&plot.svg).unwrap();
        let texts: Vec<&str> = document
            .descendants()
            .filter(|node| node.has_tag_name("text"))
            .map(|node| node.text().unwrap_or_default().trim())
            .collect();
        let strong = !plot.file.starts_with("weak");
        let mut labels = vec![IDEAL_LABEL.to_owned(), FLOOR_LABEL.to_owned()];
        for cache in [Cache::Cached, Cache::Dropped] {
            for pin in pins() {
                labels.push(series_label(cache, &pin));
            }
        }
        for label in &labels {
            assert!(texts.contains(&label.as_str()), "{}: {label}", plot.file);
        }
        assert_eq!(texts.contains(&THESIS_LABEL), strong, "{}", plot.file);
        assert!(texts.iter().any(|text| text.contains("a<b & c")), "{texts:?}");
        for threads in ["1", "2", "4", "8", "12", "16"] {
            assert!(texts.contains(&threads), "{}: {threads} has no tick", plot.file);
        }
        // Two circles for each point of the two free series, and for their places in the legend.
        let circles = document.descendants().filter(|node| node.has_tag_name("circle")).count();
        assert_eq!(circles, 2 * 2 * (6 + 1), "{}", plot.file);
        // A square, triangle or diamond for each point of the others.
        let polygons = document.descendants().filter(|node| node.has_tag_name("polygon")).count();
        assert_eq!(polygons, 8 * (6 + 1), "{}", plot.file);
    }
    let speedup = &plots[0].svg;
    assert!(speedup.contains("7.16× at 8 threads, 11.87× at 16 threads"), "{speedup}");
    // To look at them.
    if let Some(folder) = std::env::var_os("SCALING_PLOTS") {
        for plot in &plots {
            fs::write(Path::new(&folder).join(&plot.file), &plot.svg).unwrap();
        }
    }
}

/// Of any number of workers, drawn and told; measured where there are as many CPUs.
#[test]
fn workers_are_simulated() {
    let folder = tempfile::tempdir().unwrap();
    let given = folder.path().join("my, own.trace");
    fs::write(&given, datasets::generate(datasets::Shape::Mpi, 300_000, 2)).unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scaling"));
        command.args(["--simulate", "--quick", "--out"]).arg(folder.path()).args(words);
        command.output().expect("Cargo has built it")
    };
    let given = given.to_str().unwrap();
    let words =
        ["--shapes", "quoted", "--size", "100kB", "--workers", "3,40", "--bandwidth", "1GB"];
    let output = run(&[&words[..], &[given]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let told = text(&output.stdout);
    for name in ["quoted", "my, own.trace"] {
        let rows = told.lines().filter(|line| line.starts_with(&format!("| {name} |")));
        let cells: Vec<Vec<&str>> =
            rows.map(|row| row.split('|').map(str::trim).collect()).collect();
        let workers: Vec<&str> = cells.iter().map(|cells| cells[2]).collect();
        assert_eq!(workers, ["1", "3", "40"], "{told}");
        assert_eq!((cells[0][13], cells[0][14]), ("1.00", "100 %"), "{told}");
        assert_eq!(cells[0][17], "1.000", "nobody is beside one: {told}");
        let seconds =
            |cells: &[&str], column: usize| cells[column].parse::<f64>().expect("a number");
        assert!(cells.iter().all(|cells| seconds(cells, 11) <= seconds(cells, 12)), "{told}");
        for column in [18, 19] {
            assert!(cells[0][column].parse::<f64>().is_ok_and(|seconds| seconds > 0.0), "{told}");
            assert_eq!(cells[2][column] == "–", paje_workers::available().get() < 40, "{told}");
        }
    }
    for file in ["simulated-speedup-quoted.svg", "simulated-efficiency-my-own-trace.svg"] {
        let svg = fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(roxmltree::Document::parse(&svg).is_ok());
        for label in [IDEAL_LABEL, "simulated", "simulated, with limited memory", "measured"] {
            assert!(svg.contains(label), "{file}: {label}");
        }
    }

    let output = run(&["--only-given", "/no/such.trace"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("scaling: /no/such.trace: "));
}
