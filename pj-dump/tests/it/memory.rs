//! Tests of `--memory-limit`. Objects beyond the limit go to a temporary file, and the output stays
//! the same.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use datasets::Shape;
use serde_json::Value;

use crate::world::{header, said};

static TRACE: LazyLock<tempfile::TempPath> = LazyLock::new(|| {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&datasets::generate(Shape::Mpi, 60 << 20, 7)).expect("written");
    file.into_temp_path()
});

fn command(options: &[&str], folder: &Path, trace: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pj_dump"));
    command.args(options).arg("--temp-dir").arg(folder).arg(trace);
    command
}

fn run(options: &[&str], folder: &Path) -> Output {
    command(options, folder, &TRACE).output().expect("run")
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("a folder").next().is_none()
}

#[test]
fn rows_are_the_same_within_the_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = run(&["--memory-limit", "none"], folder.path());
    assert!(all.status.success(), "{}", said(&all));
    for threads in ["1", "3"] {
        let options = ["--memory-limit", "40M", "--stats=json", "--threads", threads];
        let limited = run(&options, folder.path());
        assert!(limited.status.success(), "{}", said(&limited));
        assert!(limited.stdout == all.stdout, "{threads} threads");
        let stats: Value = serde_json::from_str(&said(&limited)).expect("one object");
        assert!(stats["spilled"].as_u64() > Some(10 << 20), "{stats}");
        // Names, filters and blocks stay in memory, beyond the limit.
        assert!(stats["peak_memory"].as_u64() < Some(72 << 20), "{stats}");
    }
    assert!(is_empty(folder.path()));
}

#[test]
fn user_defined_fields_may_exceed_the_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t");
    let mut trace = header();
    trace.push_str("ctype Process 0 P\nstype State P S\ncreate 0 p P 0\n");
    let tag = "x".repeat(190);
    for i in 0..320_000 {
        trace.push_str(&format!("set_in {i} S p a {i} {tag}\n"));
    }
    fs::write(&path, trace).expect("written");
    let files = tempfile::tempdir().expect("a folder");
    let run = |limit: &str| {
        let options = ["-u", "--threads", "1", "--stats=json", "--memory-limit", limit];
        command(&options, files.path(), &path).output().expect("run")
    };
    let (all, limited) = (run("none"), run("32M"));
    assert!(limited.status.success() && limited.stdout == all.stdout, "{}", said(&limited));
    let stats: Value = serde_json::from_str(&said(&limited)).expect("one object");
    assert!(stats["spilled"].as_u64() > Some(32 << 20), "{stats}");
    assert!(stats["peak_memory"].as_u64() < Some(52 << 20), "{stats}");
    let stats: Value = serde_json::from_str(&said(&all)).expect("one object");
    assert!(stats["peak_memory"].as_u64() > Some(70 << 20), "{stats}");
}

#[test]
fn there_is_no_file_below_the_limit() {
    let nowhere = Path::new("/no/such/folder");
    let dumped = run(&["-q", "--memory-limit", "4G", "--stats=json"], nowhere);
    assert!(dumped.status.success(), "{}", said(&dumped));
    assert!(!said(&dumped).contains("spilled"));
}

#[test]
fn a_missing_folder_is_reported() {
    let failed = run(&["--memory-limit", "32M"], Path::new("/no/such/folder"));
    assert_eq!(failed.status.code(), Some(2));
    assert!(failed.stdout.is_empty());
    let told = said(&failed);
    assert!(
        told.contains(
            "cannot keep objects in a temporary file in \"/no/such/folder\": No such file"
        ),
        "{told}"
    );
}

/// The file has no name, so nothing is left behind, no matter how the program ends.
#[test]
fn nothing_is_left_by_a_killed_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = command(&["--memory-limit", "32M", "--threads", "1"], folder.path(), &TRACE)
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    // The rows are never read, so the program does not end.
    let began = Instant::now();
    let maps = format!("/proc/{}/maps", child.id());
    let name = folder.path().to_str().expect("a name").to_owned();
    while !fs::read_to_string(&maps).unwrap_or_default().contains(&name) {
        assert!(
            began.elapsed() < Duration::from_secs(120),
            "the program should use its temporary file"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(is_empty(folder.path()));
    child.kill().expect("killed");
    child.wait().expect("over");
    assert!(is_empty(folder.path()));
}

/// Needs a separate file system, which only root can mount.
#[test]
fn a_full_disk_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=20m", "tmpfs"])
        .arg(folder.path())
        .output();
    if !mount.is_ok_and(|mount| mount.status.success()) {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    let failed = run(&["--memory-limit", "32M"], folder.path());
    let unmounted = Command::new("umount").arg(folder.path()).status();
    assert_eq!(failed.status.code(), Some(2), "{}", said(&failed));
    assert!(failed.stdout.is_empty());
    assert!(said(&failed).contains("No space left on device"), "{}", said(&failed));
    assert!(unmounted.is_ok_and(|status| status.success()));
}
