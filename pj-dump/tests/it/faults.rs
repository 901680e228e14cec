//! Injected faults. Failures are reported with the right status, and incomplete output never looks
//! complete.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use datasets::{Shape, generate};
use paje_sim::{Options, Progress, Source, Trace};
use testkit::signal::{HUP, INT, KILL, TERM, ended_by, is_ignored, send};
use testkit::{Sandbox, ended, failing, failing_input, names, on_small_disk, outcome, pack, team};

use crate::world::{sandbox, trace};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pj_dump");

fn folder(text: &[u8]) -> Sandbox {
    sandbox(&[("t", text)])
}

fn large() -> Vec<u8> {
    generate(Shape::Mpi, 1_000_000, 1)
}

#[test]
fn input_that_fails_in_the_middle() {
    let folder = sandbox(&[]);
    let (plain, packed) = (large(), pack("gzip", &large()));
    for bytes in [&plain[..300_000], &packed[..packed.len() / 2]] {
        for threads in ["1", "3"] {
            for options in [&["--type-hierarchy=t.csv"][..], &["--sort"], &["-p", "MPI_STATE"]] {
                let mut command = folder.command(&["--threads", threads]);
                command.args(options);
                let output = failing_input(command, bytes);
                let wanted = "pj_dump: <stdin>: Connection reset by peer\n";
                assert_eq!(outcome(&output), (2, String::new(), wanted.into()), "{options:?}");
            }
        }
    }
    assert_eq!(folder.names(), [""; 0]);
}

/// With `-o`, some rows have already been written. The exit status shows that these rows are
/// incomplete.
#[test]
fn input_that_fails_in_the_middle_of_a_stream_of_rows() {
    let folder = sandbox(&[]);
    let bytes = generate(Shape::Mpi, 26_000_000, 1);
    let (end, ended_by) = channel();
    let (stdin, writer) = failing(&bytes[..24_000_000], ended_by);
    let mut command = folder.command(&["-o", "--threads=2"]);
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut rows = vec![0];
    stdout.read_exact(&mut rows).expect("there are rows");
    drop(end);
    stdout.read_to_end(&mut rows).expect("the program ends");
    let (status, _, stderr) = outcome(&ended(child));
    writer.join().expect("the program ends");
    assert_eq!((status, &*stderr), (2, "pj_dump: <stdin>: Connection reset by peer\n"));
    assert!(rows.ends_with(b"\n"), "whole lines: {} bytes", rows.len());
}

/// Uses a file system of a few pages, if the system permits one. A requested file is complete or
/// absent, and an existing one stays unchanged.
#[test]
fn a_full_file_system_is_reported() {
    let values: String = (0..50_000).map(|i| format!("set {i} S p value{i}\n")).collect();
    let folder = folder(&trace(values.as_bytes()));
    let script = "echo old > small/old && shift 0
        for name in new old; do
            \"$0\" -q --type-hierarchy=small/$name t; echo \"status $?\"
        done
        ls -A small; cat small/old";
    let Some(output) = on_small_disk("64k", script, PROGRAM, &folder.path("")) else { return };
    let (_, stdout, stderr) = outcome(&output);
    assert_eq!(stdout, "status 2\nstatus 2\nold\nold\n", "{stderr}");
    for name in ["new", "old"] {
        let wanted = format!("pj_dump: small/{name}: No space left on device\n");
        assert!(stderr.contains(&wanted), "{stderr}");
    }
}

#[test]
fn a_file_size_limit_is_reported() {
    let values: String = (0..50_000).map(|i| format!("set {i} S p value{i}\n")).collect();
    let folder = folder(&trace(values.as_bytes()));
    let script = "ulimit -f 8; exec \"$0\" -q --type-hierarchy=types.csv t";
    let output = folder.shell(script);
    let wanted = "pj_dump: types.csv: File too large\n";
    assert_eq!(outcome(&output), (2, String::new(), wanted.into()));
    assert_eq!(folder.names(), ["t"]);
}

#[test]
fn signals_end_the_program() {
    let folder = sandbox(&[]);
    let bytes = large();
    for number in [INT, TERM] {
        if is_ignored(number) {
            continue;
        }
        for options in [&["--type-hierarchy=t.csv"][..], &["-o", "--entity-hierarchy=e.csv"]] {
            let output = ended_by(number, folder.command(options), &bytes);
            assert_eq!(output.status.signal(), Some(number), "{output:?}");
            assert_eq!((output.stdout.len(), output.stderr.len()), (0, 0));
            assert_eq!(folder.names(), [""; 0]);
        }
    }
}

#[test]
fn refused_memory_ends_the_program() {
    let folder = folder(&generate(Shape::Mpi, 12_000_000, 1));
    let (mut refused, mut dumped) = (0, 0);
    for threads in ["1", "3"] {
        for mebibytes in [24, 32, 36, 40, 44, 48, 52, 56, 64, 80, 150, 1000] {
            let options = format!("--threads {threads} --type-hierarchy=t.csv t > rows");
            let output =
                folder.shell(&format!("ulimit -v {}; exec \"$0\" {options}", mebibytes << 10));
            let said = String::from_utf8_lossy(&output.stderr);
            let about = format!("{mebibytes} MiB, {threads} threads: {:?} {said}", output.status);
            let files = folder.names();
            match output.status.code() {
                Some(0) => {
                    assert!(said.is_empty(), "{about}");
                    assert_eq!(files, ["rows", "t", "t.csv"]);
                    folder.remove("t.csv");
                    dumped += 1;
                }
                // This is too little memory to load the program.
                Some(127) => {}
                // With so little memory, the system kills the program while it loads it.
                None if said.is_empty() && mebibytes <= 32 => {}
                // Rust's and C's libraries abort when a new thread needs memory.
                None if said.contains("emory") => {}
                Some(2) => {
                    assert!(said.contains("pj_dump: "), "{about}");
                    refused += 1;
                }
                _ => panic!("{about}"),
            }
            if files.len() > 2 {
                folder.remove("t.csv");
            }
        }
    }
    assert!(refused > 2 && dumped >= 2, "{refused} refused, {dumped} dumped");
}

/// Delivers these bytes, then panics in the reading worker.
struct Panics<'a>(&'a [u8]);

impl Read for Panics<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        assert!(!self.0.is_empty(), "injected by the test");
        let count = self.0.len().min(buffer.len()).min(10_000);
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

#[test]
fn a_panic_of_a_worker_reaches_the_caller() {
    let bytes = large();
    let mut options = Options::default();
    options.limits.block = 5_000;
    for threads in [1, 2, 3, 8] {
        let workers = team(threads);
        for part in 0..8 {
            let input = Panics(&bytes[..bytes.len() * part / 8]);
            let (source, progress) = (Source::stream(input), Progress::default());
            let read = || Trace::read_with(source, &options, &workers, &progress).is_ok();
            assert!(catch_unwind(AssertUnwindSafe(read)).is_err(), "{threads} threads, {part}/8");
        }
        let (source, progress) = (Source::stream(&bytes[..]), Progress::default());
        assert!(Trace::read_with(source, &options, &workers, &progress).is_ok());
    }
}

/// Runs a program that writes tables to a new folder. Returns its outcome and the files that exist
/// then.
fn tables_asked_for(folder: &Sandbox, script: &str) -> (Output, Vec<String>) {
    let output = folder.shell(script);
    let there = folder.names();
    folder.remove("d");
    (output, there)
}

#[test]
fn a_folder_of_tables_is_complete_or_absent() {
    let folder = folder(&generate(Shape::Mpi, 3_000_000, 1));
    let (mut ended, mut whole, mut left) = (0, 0, 0);
    for number in [TERM, HUP, KILL] {
        if is_ignored(number) {
            continue;
        }
        for milliseconds in (0..400).step_by(40) {
            let mut command = folder.command(&["-O", "d/tables", "--threads=2", "t"]);
            let mut child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
            std::thread::sleep(Duration::from_millis(milliseconds));
            send(&child, number);
            let status = child.wait().expect("it is our child");
            if folder.path("d/tables").is_dir() {
                assert_eq!(names(&folder.path("d/tables")).len(), 7, "{status}");
                whole += 1;
            } else {
                ended += 1;
                left += usize::from(folder.names().len() > 1);
            }
            assert!(status.success() || status.signal() == Some(number), "{status}");
            folder.remove("d");
        }
    }
    assert!(ended > 0, "{ended} ended, {whole} were whole");
    // A signal while the files are moved leaves the parent folder, but that takes only a moment.
    assert!(left <= 2, "{left} of {ended} left a folder");
}

#[test]
fn tables_that_exceed_limits_are_reported() {
    let folder = folder(&generate(Shape::Mpi, 3_000_000, 1));
    let script = "ulimit -f 16; exec \"$0\" -O d --format csv --threads 2 t";
    let (output, there) = tables_asked_for(&folder, script);
    // The longest table is first.
    let wanted = "pj_dump: d/link.csv: File too large\n";
    assert_eq!(outcome(&output), (2, String::new(), wanted.into()));
    assert_eq!(there, ["t"]);
    folder.write("file", "");
    let (output, _) = tables_asked_for(&folder, "\"$0\" -O file t");
    let wanted = "pj_dump: file: a file of this name exists\n";
    assert_eq!(outcome(&output), (2, String::new(), wanted.into()));
    folder.remove("file");
    let mut refused = 0;
    // Few of these limits let the program begin and not end; which ones depends on its own size.
    for mebibytes in (20..60).step_by(2) {
        let script = format!("ulimit -v {}; exec \"$0\" -O d --threads 1 t", mebibytes << 10);
        let (output, there) = tables_asked_for(&folder, &script);
        refused += u32::from(output.status.code() == Some(2));
        let whole = if output.status.success() { &["d", "t"][..] } else { &["t"] };
        assert_eq!(there, whole, "{mebibytes} MiB: {output:?}");
    }
    assert!(refused > 0);
}

/// The message names the disk and the file, for every file that is being written when the disk is
/// full.
#[test]
fn a_full_disk_is_reported_for_tables() {
    let folder = folder(&generate(Shape::Mpi, 5_000_000, 1));
    let script = "for i in 1 2 3; do
            for format in parquet arrow csv; do
                \"$0\" -O small/d --format $format --threads 4 t; echo \"status $?\"; ls -A small
            done
        done";
    let Some(output) = on_small_disk("100k", script, PROGRAM, &folder.path("")) else { return };
    let (_, stdout, stderr) = outcome(&output);
    assert_eq!(stdout, "status 2\n".repeat(9), "{stderr}");
    let full = |line: &str| {
        line.starts_with("pj_dump: small/d/") && line.ends_with(": No space left on device")
    };
    assert!(stderr.lines().count() == 9 && stderr.lines().all(full), "{stderr}");
}
