//! Tests the program from its command line.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::CommandCargoExt;

const MPI: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");

pub(crate) fn program(words: &[&str]) -> Command {
    let mut command = Command::cargo_bin("pj_profile").expect("the program is built");
    command.args(words).env_remove("COLUMNS").env_remove("NO_COLOR");
    command
}

fn piped(words: &[&str]) -> Child {
    program(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs")
}

pub(crate) fn run(words: &[&str]) -> Output {
    program(words).output().expect("it runs")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn variables_of_the_environment_are_no_options() {
    let mut command = program(&["--generate", "man"]);
    let output = command.env("PAJE_NO_WARNINGS", "1").output().expect("it runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = run(&["--generate", "man", "--no-warnings"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cannot be used with"), "{}", text(&output.stderr));
}

#[test]
fn columns_are_documented() {
    for (words, header) in [
        (
            &["states"][..],
            "type,value,count,inclusive,exclusive,share,min,mean,median,p95,max,containers,imbalance",
        ),
        (
            &["--by=container"],
            "container,type,value,count,inclusive,exclusive,share,min,mean,median,p95,max,containers,imbalance",
        ),
        (&["comm"], "type,value,from,to,count,bytes,min,mean,max,first,last"),
        (&["time"], "bin,start,end,container,type,value,seconds"),
        (&["variables"], "type,container,count,min,max,mean,integral"),
        (&["variables", "--bins=3"], "bin,start,end,type,container,mean"),
        (&["events"], "type,value,container,count,first,last,rate"),
        (&["summary"], "section,name,value"),
        (
            &["compare", MPI],
            "type,value,count_a,count_b,exclusive_a,exclusive_b,change,percent,share",
        ),
    ] {
        let output = run(&[words, &["--format=csv", MPI]].concat());
        let (printed, said) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(
            (output.status.code(), printed.lines().next()),
            (Some(0), Some(header)),
            "{said}"
        );
        assert!(printed.lines().count() > 1, "{words:?}");
    }
}

#[test]
fn files_pipes_and_compressed_traces_give_the_same_report() {
    let bytes = fs::read(MPI).expect("an example");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&bytes).expect("in memory");
    let gzip = gzip.finish().expect("in memory");
    for report in ["states", "comm", "time", "variables", "events", "summary"] {
        let words = [report, "--format=csv"];
        let file = text(&run(&[&words[..], &[MPI]].concat()).stdout);
        for input in [&bytes, &gzip] {
            let mut child = piped(&words);
            let mut stdin = child.stdin.take().expect("a pipe");
            stdin.write_all(input).expect("the program reads everything");
            drop(stdin);
            let output = child.wait_with_output().expect("it ends");
            assert_eq!(text(&output.stdout), file, "{report}");
        }
    }
}

#[test]
fn statuses_and_messages() {
    let folder = tempfile::tempdir().expect("a folder");
    let bad = folder.path().join("bad.trace");
    fs::write(&bad, "no trace\n").expect("writable");
    let bad = bad.to_str().expect("text");
    for (words, status, said) in [
        (&[MPI][..], 0, ""),
        (&[bad], 1, "bad.trace"),
        (&["/nowhere/it.trace"], 2, "/nowhere/it.trace"),
        (&["states", "--bins=3", MPI], 2, "--bins applies to time and variables, not to states"),
        (&["compare", MPI], 2, "compare needs two traces"),
        (&["--live", "time", MPI], 2, "--live needs --start and --end for bins"),
        (&["--format=runes", MPI], 2, "runes"),
        (&["--of-type=MPI_STAT", MPI], 2, "the trace has no such type; did you mean 'MPI_STATE'?"),
        (&["--in=rnk-1", MPI], 2, "no such container; did you mean 'rank-1'?"),
        (&["--by=NODE", MPI], 2, "--by NODE: the trace has no such container type; there are "),
        (&["comm", "--by=MP", MPI], 2, "--by MP: the trace has no such container type; did"),
        (
            &["comm", "--bytes=Sise", MPI],
            2,
            "--bytes Sise: the trace has no such user-defined field",
        ),
        (&["waits", "--group=node", MPI], 2, "--group node: the trace has no such container type"),
        (
            &["waits", "--root=rank-9", MPI],
            2,
            "--root rank-9: the trace has no such container; did",
        ),
        (&["wait", MPI], 2, "'wait' is neither a report nor a file; did you mean 'waits'?"),
        (&["-s", "5", MPI], 0, "the window from 5 s begins after the end of the trace, 0.043388 s"),
        (&["-o", "/nowhere/it.csv", MPI], 2, "/nowhere/it.csv"),
    ] {
        let output = run(words);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {told}");
        assert!(told.contains(said), "{words:?}: {told}");
        assert_eq!(told.is_empty(), said.is_empty(), "{words:?}: {told}");
        assert!(status == 0 || output.stdout.is_empty(), "{words:?}");
    }
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("states.csv");
    let name = path.to_str().expect("text");
    let bad = folder.path().join("bad.trace");
    fs::write(&bad, "no trace\n").expect("writable");
    fs::write(&path, "before").expect("writable");
    assert_eq!(run(&["-o", name, bad.to_str().expect("text")]).status.code(), Some(1));
    assert_eq!(fs::read_to_string(&path).expect("the file exists"), "before");
    let output = run(&["--format=csv", "-o", name, MPI]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let printed = run(&["--format=csv", MPI]).stdout;
    assert_eq!(fs::read(&path).expect("the file exists"), printed);
    assert_eq!(testkit::names(folder.path()), ["bad.trace", "states.csv"]);
}

#[test]
fn all_formats_have_the_same_contents() {
    let csv = text(&run(&["--format=csv", MPI]).stdout);
    let json = text(&run(&["--format=json", MPI]).stdout);
    let rows: Vec<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_str(&json).expect("valid JSON");
    let names: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
    assert_eq!(rows.len(), csv.lines().count() - 1);
    for (row, line) in rows.iter().zip(csv.lines().skip(1)) {
        for (name, field) in names.iter().zip(line.split(',')) {
            match &row[*name] {
                serde_json::Value::String(text) => assert_eq!(text, field),
                number => assert_eq!(number.as_f64(), field.parse().ok(), "{name}"),
            }
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("states.parquet");
    run(&["--format=parquet", "-o", path.to_str().expect("text"), MPI]);
    let file = fs::File::open(&path).expect("the file was written");
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
    let batches = reader.expect("valid Parquet").build().expect("valid Parquet");
    let batch = batches.map(|batch| batch.expect("sound")).next().expect("rows");
    assert_eq!(batch.num_rows(), rows.len());
    let schema = batch.schema();
    let columns: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(columns, names);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = program(&["time", "--bins=10000", "--format=csv", MPI])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn live_ends_with_the_final_report() {
    let bytes = fs::read(MPI).expect("an example");
    let mut child = piped(&["--live", "--format=csv"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    for part in bytes.chunks(bytes.len() / 20) {
        stdin.write_all(part).expect("the program reads everything");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(text(&output.stdout), text(&run(&["--format=csv", MPI]).stdout));
}

/// Sends a live program the first half of a trace and, after `pause`, the second half. Returns its
/// output, and the report on the whole trace.
fn shown_slowly(pause: Duration) -> (Vec<u8>, Vec<u8>) {
    // The reports do not fit into a pipe, so the program waits for its reader.
    let mut bytes = Vec::new();
    datasets::write(datasets::Shape::ManyContainers, 200 << 10, 1, &mut bytes).expect("in memory");
    // Slow reports are shown less often. Therefore, the trace is short, and comments fill the
    // blocks.
    bytes.extend(b"# A line in which nothing happens.\n".repeat(6 << 15));
    let bytes = &bytes;
    let words = ["states", "--by=container", "--no-warnings"];
    let mut child = piped(&[&words[..], &["--live"]].concat());
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = child.stdout.take().expect("a pipe");
    let (shown, last) = std::thread::scope(|scope| {
        let feed = scope.spawn(|| {
            // The second half fills a block at the time of the next report.
            let (first, rest) = bytes.split_at(bytes.len() / 2);
            stdin.write_all(first).expect("the program reads everything");
            std::thread::sleep(pause);
            stdin.write_all(rest).expect("the program reads everything");
            drop(stdin);
        });
        std::thread::sleep(pause + Duration::from_millis(500));
        let mut shown = Vec::new();
        stdout.read_to_end(&mut shown).expect("readable output");
        feed.join().expect("the thread ends");
        let mut whole = piped(&words);
        let mut stdin = whole.stdin.take().expect("a pipe");
        scope.spawn(move || stdin.write_all(bytes).expect("the program reads everything"));
        (shown, whole.wait_with_output().expect("it ends").stdout)
    });
    assert!(child.wait().expect("it ends").success());
    (shown, last)
}

#[test]
fn a_slow_terminal_loses_nothing() {
    // On a loaded machine, a report takes long, and the next one is made only after twenty times
    // that time.
    let shown_before = [1100, 10_000, 60_000].into_iter().any(|pause| {
        let (shown, last) = shown_slowly(Duration::from_millis(pause));
        assert!(shown.ends_with(&last) && last.len() > 1 << 17);
        shown.len() > last.len() + (1 << 16)
    });
    assert!(shown_before, "only the last report was shown");
}

/// Interrupts the program when `pause` has passed since it received most of a trace. Returns its
/// output.
fn interrupted_after(pause: Duration) -> String {
    // Only full blocks are analysed.
    let mut bytes = Vec::new();
    datasets::write(datasets::Shape::Mpi, 8 << 20, 1, &mut bytes).expect("in memory");
    let mut child = piped(&["--live", "--format=csv"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    let until = Instant::now() + Duration::from_millis(500);
    let mut parts = bytes[..bytes.len() - 100].chunks(bytes.len() / 50);
    while let Some(part) = parts.next() {
        stdin.write_all(part).expect("the program reads everything");
        let left = until.saturating_duration_since(Instant::now());
        std::thread::sleep(left / (parts.len() as u32 + 1));
    }
    std::thread::sleep(pause);
    let id = child.id().to_string();
    Command::new("kill").args(["-INT", &id]).status().expect("`kill` exists");
    let output = child.wait_with_output().expect("it ends");
    drop(stdin);
    assert_eq!(output.status.code(), Some(130));
    text(&output.stdout)
}

#[test]
fn an_interrupt_shows_the_last_report() {
    // A loaded machine takes longer to read the first block.
    let pauses = [500, 5_000, 60_000].map(Duration::from_millis);
    let shown =
        |printed: &String| printed.starts_with("type,value,") && printed.lines().count() > 3;
    assert!(pauses.into_iter().map(interrupted_after).any(|printed| shown(&printed)));
}

#[test]
fn tables_to_read() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/people.txt");
    let mut all = String::new();
    for words in [
        &["states"][..],
        &["states", "--by=container", "--top=4"],
        &["comm", "--top=4"],
        &["time", "--bins=40"],
        &["time", "--bins=40", "--by=value"],
        &["variables"],
        &["variables", "--bins=20"],
        &["events", "--top=5"],
        &["summary"],
        &["compare", "mpi.trace"],
        &["why"],
        &["scaling", "mpi.trace"],
    ] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples");
        let words = [words, &["mpi.trace"]].concat();
        let output = program(&words).current_dir(folder).output().expect("it runs");
        all += &format!("$ pj_profile {}\n{}\n", words.join(" "), text(&output.stdout));
    }
    assert!(!all.contains('\x1b'), "no colours in a pipe");
    assert!(all.lines().all(|line| line.chars().count() <= 100), "{all}");
    testkit::assert_recorded(&all, &golden);
    // A narrow screen has fewer columns.
    let narrow = program(&["states", MPI]).env("COLUMNS", "50").output().expect("it runs");
    let narrow = text(&narrow.stdout);
    assert!(narrow.lines().skip(1).all(|line| line.chars().count() <= 50), "{narrow}");
}

#[test]
fn links_without_an_end_are_counted_once() {
    let trace = fs::read_to_string(MPI).expect("a trace");
    let end = trace.lines().find_map(|line| line.strip_prefix("%EventDef PajeEndLink "));
    let end = format!("{} ", end.expect("links have ends").trim());
    let kept = trace.lines().filter(|line| !line.starts_with(&end)).map(|line| format!("{line}\n"));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("open.trace");
    fs::write(&file, kept.collect::<String>()).expect("written");
    let output = run(&["--recover", "states", file.to_str().expect("UTF-8")]);
    let err = text(&output.stderr);
    let line = err.lines().find(|line| line.contains(" links are incomplete at the end of"));
    assert!(line.is_some_and(|line| !line.contains("more)")), "{err}");
}
