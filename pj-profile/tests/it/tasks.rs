//! Tests of the reports on tasks from the command line.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use splitter::{Input, Kind};

use crate::cli::program;

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../paje-analysis/tests/starpu").join(name)
}

fn text(name: &str) -> String {
    let input = Input::open(Some(&recorded(name))).expect("a file");
    let Kind::Stream(mut reader) = input.into_kind() else { panic!("it is compressed") };
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("text");
    text
}

fn run(words: &[&str]) -> (i32, String, String) {
    testkit::outcome(&program(words).env("PAJE_NO_WARNINGS", "").output().expect("run"))
}

#[test]
fn tasks_beside_the_trace_are_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("paje.trace");
    fs::write(&trace, text("cholesky-gpu.trace.xz")).expect("written");
    let trace = trace.to_str().expect("text");
    let (status, _, err) = run(&["critical", trace]);
    assert!(status == 2 && err.contains("tasks.rec"), "{err}");
    let (status, _, err) = run(&["tasks", trace]);
    assert!(
        status == 2 && err.contains("the report needs a trace of StarPU with the file tasks.rec"),
        "{err}"
    );
    let file = folder.path().join("tasks.rec");
    fs::write(&file, text("cholesky-gpu.rec.xz")).expect("written");
    let given = recorded("cholesky-gpu.rec.xz");
    for report in
        [&["tasks"][..], &["tasks", "--by", "task"], &["waits"], &["critical", "--by", "value"]]
    {
        let words = [report, &["--format", "csv", trace]].concat();
        let (status, out, err) = run(&words);
        assert!(status == 0 && out.lines().count() > 2, "{out} {err}");
        let again =
            [&words[..], &["--tasks", given.to_str().expect("text"), "--threads", "3"]].concat();
        assert_eq!(run(&again), (status, out, err));
    }
    let (status, _, err) = run(&["critical", "--no-files", trace]);
    assert!(status == 2 && err.contains("do not record which task waits for which"), "{err}");
    // The file describes another run.
    fs::write(&file, text("lu-gpu.rec.xz")).expect("written");
    let (status, _, err) = run(&["waits", trace]);
    assert!(status == 2 && err.contains("the trace has no state with the job id"), "{err}");
    fs::write(&file, "JobId: 1\nWorkerId: x\n").expect("written");
    let (status, _, err) = run(&["waits", trace]);
    assert!(status == 2 && err.contains("tasks.rec:2: `x` is not a value of WorkerId"), "{err}");
    // A link to a file elsewhere is not read, because the trace may come from a stranger.
    let elsewhere = tempfile::tempdir().expect("a folder");
    let target = elsewhere.path().join("secret");
    fs::write(&target, "secret\n").expect("written");
    fs::remove_file(&file).expect("removed");
    std::os::unix::fs::symlink(&target, &file).expect("a link");
    let (status, _, err) = run(&["waits", trace]);
    assert!(status == 2 && err.contains("is not below the trace's folder"), "{err}");
}

#[test]
fn the_documents_show_current_reports() {
    let [trace, file] = ["trace", "rec"].map(|it| recorded(&format!("cholesky-gpu.{it}.xz")));
    let [trace, file] = [&trace, &file].map(|path| path.to_str().expect("text"));
    let (status, out, _) = run(&["tasks", "--tasks", file, trace]);
    assert_eq!(status, 0);
    let docs = include_str!("../../../docs/tasks.md");
    // The first lines have the name of the file.
    let lines = out.lines().skip_while(|line| !line.starts_with("note:"));
    lines.for_each(|line| assert!(docs.contains(line), "docs/tasks.md lacks\n{line}"));
}

#[test]
fn bounds_are_results_of_the_whole_run() {
    let [trace, file] = ["trace", "rec"].map(|it| recorded(&format!("cholesky-gpu.{it}.xz")));
    let [trace, file] = [&trace, &file].map(|path| path.to_str().expect("text"));
    let words = ["tasks", "--no-warnings", "--format", "csv", "--tasks", file, trace];
    let (status, _, err) = run(&words);
    assert!(status == 0 && err.contains("note: tasks took 223 ms; the best possible"), "{err}");
    assert!(err.contains("note: the bounds assume") && !err.contains("warning"), "{err}");
    let (status, _, err) = run(&[&words[..], &["-s", "100"]].concat());
    assert!(status == 0 && err.contains("note: in the whole run, tasks took 223 ms;"), "{err}");
}

#[test]
fn lines_after_a_destruction_may_only_need_sorting() {
    let trace = recorded("lu-gpu.trace.xz");
    let words = ["variables", trace.to_str().expect("text")];
    let (status, unsorted, err) = run(&words);
    assert!(status == 0 && err.contains("means may be wrong; `--sort` includes"), "{err}");
    let (status, sorted, err) = run(&[&words[..], &["--sort"]].concat());
    assert!(status == 0 && !err.contains("--sort"), "{err}");
    assert_ne!(sorted, unsorted);
}

#[test]
fn traces_of_others_ignore_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("mpi.trace");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples/mpi.trace");
    fs::copy(example, &trace).expect("copied");
    let trace = trace.to_str().expect("text");
    let alone = run(&["critical", "--format", "csv", trace]);
    fs::write(folder.path().join("tasks.rec"), "JobId: 1\n").expect("written");
    assert_eq!(run(&["critical", "--format", "csv", trace]), alone);
    let (status, _, err) = run(&["tasks", trace]);
    assert!(status == 2 && err.contains("the report needs a trace of StarPU"), "{err}");
    let (status, _, err) = run(&["comm", "--tasks", "x", trace]);
    assert!(
        status == 2
            && err.contains(
                "--tasks applies to waits, critical, tasks, summary and why, not to comm"
            ),
        "{err}"
    );
}

#[test]
fn reports_have_the_documented_columns() {
    let trace = recorded("cholesky-cpu.trace.xz");
    let file = recorded("cholesky-cpu.rec.xz");
    let [trace, file] = [&trace, &file].map(|path| path.to_str().expect("text"));
    let manual = include_str!("../../src/manual.rs").replace(char::is_whitespace, "");
    for (name, words) in [
        ("tasks", &["tasks"][..]),
        ("tasks--byworker", &["tasks", "--by", "worker"]),
        ("tasks--bykernel", &["tasks", "--by", "kernel"]),
        ("tasks--bytask", &["tasks", "--by", "task"]),
        ("critical", &["critical"]),
        ("critical--byvalue,withtasks", &["critical", "--by", "value"]),
        ("waits", &["waits"]),
    ] {
        let (status, out, err) =
            run(&[words, &["--format", "csv", "--tasks", file, trace]].concat());
        assert_eq!(status, 0, "{err}");
        let head = out.lines().next().expect("a head");
        assert!(manual.contains(&format!("{name}:{head}\\n")), "{name}:{head}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    for (words, title) in [
        (&["tasks"][..], "idle although a task was ready"),
        (&["tasks", "--by", "kernel"], "Time by kernel and kind of worker"),
        (&["tasks", "--by", "task"], "Tasks that were ready beside an idle worker"),
        (&["critical", "--by", "value"], "States on the critical path"),
    ] {
        let html = page.to_str().expect("text");
        let (status, _, err) = run(&[words, &["--html", html, "--tasks", file, trace]].concat());
        assert_eq!(status, 0, "{err}");
        assert!(fs::read_to_string(&page).expect("a page").contains(title), "{title}");
    }
    let (status, _, err) = run(&["waits", "--by", "pair", "--tasks", file, trace]);
    assert!(status == 2 && err.contains("tasks wait for tasks, not for containers"), "{err}");
    let (status, _, err) = run(&["critical", "--by", "kernel", "--tasks", file, trace]);
    assert!(status == 2 && err.contains("--by value shows the kernels of tasks"), "{err}");
    let (status, out, _) = run(&["tasks", "--by", "task", "--top", "3", "--tasks", file, trace]);
    assert!(status == 0 && out.contains("the best possible makespan is at least"), "{out}");
}

#[test]
fn stolen_tasks_and_transfers_are_no_messages() {
    for name in ["cholesky-cpu", "cholesky-gpu"] {
        let trace = recorded(&format!("{name}.trace.xz"));
        let trace = trace.to_str().expect("text");
        let (status, out, _) = run(&["waits", "--no-files", "--format", "csv", trace]);
        assert!(status == 0 && !out.contains("late sender"), "{out}");
        let (_, out, _) = run(&["waits", "--no-files", trace]);
        assert!(out.contains("note: no waiting can be found: StarPU's traces do not"), "{out}");
    }
    // All time of the workers is accounted for.
    let trace = recorded("cholesky-cpu.trace.xz");
    let trace = trace.to_str().expect("text");
    let (_, out, _) = run(&["why", "--no-files", "--format", "csv", trace]);
    assert!(out.contains("2 CPU: executing 40.8 %, overhead 0.8 %, idle 58.4 %"), "{out}");
}

#[test]
fn kernels_count_once() {
    let [trace, file] = ["trace", "rec"].map(|it| recorded(&format!("cholesky-gpu.{it}.xz")));
    let [trace, file] = [&trace, &file].map(|path| path.to_str().expect("text"));
    let sums = |words: &[&str], name: usize, count: usize| {
        let (_, out, _) = run(&[words, &["--format", "csv", trace]].concat());
        let mut sums = std::collections::BTreeMap::new();
        for row in out.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>()) {
            *sums.entry(row[name].to_owned()).or_insert(0) += row[count].parse().unwrap_or(0_u64);
        }
        sums
    };
    let states = sums(&["states", "--of-type", "Worker State"], 1, 2);
    let tasks = sums(&["tasks", "--by", "kernel", "--tasks", file], 0, 2);
    assert_eq!(tasks.len(), 4);
    assert!(tasks.iter().all(|(kernel, count)| states[kernel] == *count), "{states:?} {tasks:?}");
}

#[test]
fn the_page_of_a_run_of_tasks_knows_their_dependencies() {
    let [trace, file] = ["trace", "rec"].map(|it| recorded(&format!("lu-gpu.{it}.xz")));
    let [trace, file] = [&trace, &file].map(|path| path.to_str().expect("text"));
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    let words = ["summary", "--html", page.to_str().expect("text"), trace];
    let with = |more: &[&str]| {
        let (status, _, err) = run(&[&words[..], more].concat());
        assert_eq!(status, 0, "{err}");
        fs::read_to_string(&page).expect("a page")
    };
    let html = with(&["--tasks", file]);
    for part in
        ["Tasks on unsuitable workers", "although a task was ready", "States on the critical path"]
    {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("do not record which task waits"), "{html}");
    assert!(with(&["--no-files"]).contains("do not record which task waits"));
}

#[test]
fn states_are_grouped_by_kind_of_worker() {
    let trace = recorded("cholesky-gpu.trace.xz");
    let trace = trace.to_str().expect("text");
    let words = ["states", "--by", "kind", "--of-type", "Worker State", "--format", "csv", trace];
    let (status, out, err) = run(&words);
    assert_eq!(status, 0, "{err}");
    let kinds: Vec<&str> = out.lines().skip(1).filter_map(|row| row.split(',').next()).collect();
    assert!(kinds.iter().all(|kind| ["CPU", "CUDA"].contains(kind)), "{out}");
    assert!(out.contains("CUDA,Worker State,GEMM,56,"), "{out}");
    let (_, _, err) = run(&["comm", "--by", "kind", trace]);
    assert!(err.contains("--by kind: the trace has no such container type; there are"), "{err}");
    assert!(err.contains("'Scheduler State'"), "{err}");
}
