//! Checks that the stored reports of packed traces equal those of a replay, byte for byte.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Output;

use paje_analysis::kept::{Facts, Keeper, Kept, VERSION};
use paje_pack::{Definitions, Segment, Segments, Settings, Writer};
use paje_sim::{Portion, Progress, Source, Trace};
use paje_workers::Workers;
use tempfile::TempDir;

use crate::cli::program;

fn reports(text: &[u8], portion: u64) -> Option<[Kept; 2]> {
    let (workers, mut keeper) = (Workers::one(), Keeper::default());
    let mut see = |portion: &Portion<'_>| {
        keeper.see(portion.trace(), &workers);
        ControlFlow::Continue(())
    };
    let (source, progress) = (Source::stream(text), Progress::default());
    let options = Keeper::options(text);
    let trace = Trace::read_in_portions(source, &options, &workers, &progress, portion, &mut see);
    let trace = trace.ok()?;
    keeper.reports(&trace, Facts::of(&trace))
}

/// Packs a trace with its reports. Returns whether the packed trace has any reports.
fn packed(text: &[u8], portion: u64) -> (Vec<u8>, bool) {
    let settings = Settings::default();
    let mut segments = Segments::new(text, settings);
    let mut writer = Writer::new(Vec::new()).expect("memory");
    while let Some(text) = segments.next_text().expect("memory") {
        let segment = Segment::pack(&text, &Definitions::default(), settings).expect("memory");
        writer.put(&segment).expect("memory");
    }
    let reports = reports(text, portion);
    for kept in reports.iter().flatten() {
        let put = writer.put_summary(kept.table.name, VERSION, kept.to_bytes(), u64::MAX);
        assert!(put.expect("memory"));
    }
    (writer.finish().expect("memory"), reports.is_some())
}

/// Writes a trace as text and as a packed trace, under the same name. Returns whether the packed
/// trace has reports.
fn both(text: &[u8], portion: u64) -> (TempDir, TempDir, bool) {
    let (packed, has_reports) = packed(text, portion);
    (testkit::folder(&[("t", text)]), testkit::folder(&[("t", &packed)]), has_reports)
}

fn run(folder: &TempDir, words: &[&str]) -> Output {
    program(words).arg("t").current_dir(folder.path()).output().expect("it runs")
}

/// Returns the number of bytes read from a packed trace, or `None` if it was replayed.
fn bytes_read(folder: &TempDir, words: &[&str]) -> Option<u64> {
    let output = run(folder, &[words, &["--stats"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = said.lines().find_map(|line| line.strip_prefix("read "))?;
    let numbers = line.split_whitespace().filter_map(|word| word.parse().ok());
    let [read, size] = numbers.collect::<Vec<u64>>()[..] else { return None };
    (read < size).then_some(read)
}

#[test]
fn reports_of_examples_are_the_same() {
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples"));
    let (mut with, mut without) = (0, 0);
    for entry in fs::read_dir(examples).expect("a folder") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|ending| ending != "trace") {
            continue;
        }
        let (text, packed, has_reports) = both(&fs::read(&path).expect("a file"), 5000);
        for report in ["states", "comm"] {
            for format in ["table", "csv", "json", "parquet"] {
                let words = [report, "--format", format];
                assert_eq!(run(&packed, &words), run(&text, &words), "{}", path.display());
            }
            assert_eq!(bytes_read(&packed, &[report]).is_some(), has_reports, "{}", path.display());
        }
        if has_reports { with += 1 } else { without += 1 }
    }
    assert!(with > 5 && without > 1, "{with} and {without}");
}

/// The traces have all kinds of names, arbitrary times, and missing values.
#[test]
fn reports_of_generated_traces_are_the_same() {
    for shape in [datasets::Shape::Quoted, datasets::Shape::AllLinks, datasets::Shape::Mpi] {
        let (text, packed, has_reports) = both(&datasets::generate(shape, 60_000, 5), 1 << 14);
        assert!(has_reports);
        for words in [&["states"][..], &["comm"], &["--top", "2"], &["comm", "--top=3"]] {
            assert_eq!(run(&packed, words), run(&text, words), "{shape:?} {words:?}");
            assert!(bytes_read(&packed, words).is_some_and(|bytes| bytes > 100), "{words:?}");
            for picture in ["--svg", "--html"] {
                let words = [words, &[picture, "picture", "-o", "table"]].concat();
                assert_eq!(run(&packed, &words), run(&text, &words));
                for name in ["picture", "table"] {
                    let read = |folder: &TempDir| testkit::read(folder.path(), name);
                    assert!(read(&packed) == read(&text), "{shape:?} {words:?}");
                }
            }
        }
    }
}

#[test]
fn other_reports_need_a_replay() {
    let trace = datasets::generate(datasets::Shape::Mpi, 20_000, 5);
    let (text, packed, _) = both(&trace, 1 << 14);
    for words in [
        &["--by", "container"][..],
        &["-s", "0.001"],
        &["-e", "0.01"],
        &["--in", "rank-1"],
        &["--of-type", "MPI*"],
        &["--quotes", "keep"],
        &["--sort"],
        &["-n"],
        &["-z"],
        &["--recover"],
        &["--no-files"],
        &["--max-line", "1M"],
        &["comm", "--by", "MPI"],
        &["comm", "--bytes", "Size"],
        &["time"],
        &["variables"],
        &["events"],
        &["waits"],
        &["critical"],
        &["summary"],
    ] {
        let words = [words, &["--format", "csv"]].concat();
        assert_eq!(run(&packed, &words), run(&text, &words), "{words:?}");
        assert_eq!(bytes_read(&packed, &words), None, "{words:?}");
    }
    assert!(bytes_read(&packed, &["--by", "value", "--quotes", "strip"]).is_some());
}

#[test]
fn damage_is_reported_where_it_matters() {
    let trace = datasets::generate(datasets::Shape::Mpi, 20_000, 5);
    let (text, packed, _) = both(&trace, 1 << 14);
    let sound = fs::read(packed.path().join("t")).expect("the packed file");
    let damaged = |at: usize| {
        let mut damaged = sound.clone();
        damaged[at] ^= 1;
        fs::write(packed.path().join("t"), damaged).expect("writable");
        run(&packed, &["states", "--format=csv"])
    };
    assert_eq!(damaged(sound.len() / 3), run(&text, &["states", "--format=csv"]));
    for at in [sound.len() - 1, sound.len() - 20] {
        let output = damaged(at);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains("byte"), "{said}");
    }
}

#[test]
fn a_pipe_is_replayed() {
    let (text, packed, _) = both(&datasets::generate(datasets::Shape::Mpi, 20_000, 5), 1 << 14);
    let pipe = tempfile::tempdir().expect("a folder");
    testkit::pipe(&pipe.path().join("t"));
    let bytes = fs::read(packed.path().join("t")).expect("the packed file");
    let writer = std::thread::spawn({
        let place = pipe.path().join("t");
        move || fs::write(place, bytes).expect("the pipe is read")
    });
    assert_eq!(run(&pipe, &["states"]), run(&text, &["states"]));
    writer.join().expect("the thread ends");
}

/// Packed traces keep the reports of the version that wrote them. If these bytes change,
/// [`VERSION`] must change too.
#[test]
fn the_version_changes_with_the_format() {
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples"));
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for name in ["mpi", "task-runtime", "user-fields", "quoted", "deep"] {
        let text = fs::read(examples.join(name).with_extension("trace")).expect("an example");
        for kept in reports(&text, 1 << 20).expect("a sound trace") {
            for byte in kept.to_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
    }
    assert_eq!((VERSION, hash), (3, 0xd0b2_36ff_05af_c85a), "{hash:#x}");
}
