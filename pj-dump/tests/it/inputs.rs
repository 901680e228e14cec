//! Output does not depend on the medium of a trace and the number of threads.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};

use datasets::{Shape, generate};
use paje_sim::{Options, Progress, Source, Trace};
use splitter::{Input, Limits};

use crate::world::{dump, sandbox, trace};
use testkit::{COMPRESSIONS, outcome, pack, pipe};

const THREADS: [&str; 4] = ["1", "2", "3", "4"];

fn large() -> Vec<u8> {
    let bytes = generate(Shape::Mpi, 300_000, 1);
    assert!(bytes.len() > 2 * Limits::default().block);
    bytes
}

fn invalid() -> Vec<u8> {
    let line = |i: usize| format!("set {i} S p a\n");
    let mut lines: String = (0..10_000).map(line).collect();
    lines.push_str("set 10000 S nobody a\n");
    lines.extend((10_001..20_000).map(line));
    lines.push_str("99\n");
    trace(lines.as_bytes())
}

#[test]
fn compressed_traces_are_dumped_as_plain_ones() {
    let folder = sandbox(&[]);
    let write = |bytes: &[u8]| folder.write("t", bytes);
    for (bytes, status) in [(large(), 0), (invalid(), 1)] {
        write(&bytes);
        let wanted = folder.run(&["t"]);
        assert_eq!(wanted.0, status);
        let (first, second) = bytes.split_at(bytes.len() / 3);
        let whole = COMPRESSIONS.map(|how| pack(how, &bytes));
        let members = ["gzip", "bzip2"].map(|how| [pack(how, first), pack(how, second)].concat());
        for (turn, bytes) in [&bytes].into_iter().chain(&whole).chain(&members).enumerate() {
            write(bytes);
            // Medium and number of threads do not affect each other, so two numbers of threads
            // suffice for each medium.
            for threads in [THREADS[turn % 4], THREADS[(turn + 2) % 4]] {
                let arguments = ["--threads", threads, "t"];
                assert!(folder.run(&arguments) == wanted, "a file, {threads} threads");
                let found = outcome(&dump(&arguments[..2], bytes));
                let named = (found.0, found.1, found.2.replace("<stdin>", "t"));
                assert!(named == wanted, "a pipe, {threads} threads: {}", named.2);
            }
        }
    }
}

/// Frames of zstd are decompressed in parallel. This must not change the order of messages, even if
/// a frame is damaged.
#[test]
fn frames_are_decompressed_in_order() {
    let folder = sandbox(&[]);
    let write = |bytes: &[u8]| folder.write("t", bytes);
    let bytes = generate(Shape::Mpi, 3_000_000, 1);
    write(&bytes);
    let wanted = folder.run(&["t"]);
    assert_eq!(wanted.0, 0, "{}", wanted.2);
    let frames: Vec<Vec<u8>> = bytes.chunks(600_000).map(|part| pack("zstd", part)).collect();
    write(&frames.concat());
    for threads in THREADS {
        assert!(folder.run(&["--threads", threads, "t"]) == wanted, "{threads} threads");
    }
    let mut damaged = frames.concat();
    let at = damaged.len() / 2;
    damaged[at] ^= 0x10;
    write(&damaged);
    for arguments in [&["t"][..], &["--recover", "t"]] {
        let wanted = folder.run(&[&["--threads", "1"], arguments].concat());
        assert!(wanted.2.contains("zstd: the compressed data are damaged"), "{}", wanted.2);
        for threads in ["2", "3"] {
            let found = folder.run(&[&["--threads", threads], arguments].concat());
            assert!(found == wanted, "{threads} threads: {}", found.2);
        }
    }
}

#[test]
fn intervals_of_compressed_traces_are_equal() {
    let folder = sandbox(&[]);
    let bytes = generate(Shape::Mpi, 20_000, 1);
    let wanted = outcome(&dump(&["-p", "MPI_STATE"], &bytes));
    assert_eq!(wanted.0, 0, "{}", wanted.2);
    for how in COMPRESSIONS {
        folder.write("t", pack(how, &bytes));
        assert_eq!(folder.run(&["-p", "MPI_STATE", "t"]), wanted, "{how}");
    }
}

/// Damaged data may decompress to invalid lines. An error about these lines would mislead, so the
/// damage is reported instead.
#[test]
fn cut_or_damaged_compressed_data_are_reported() {
    let folder = sandbox(&[]);
    let sound = large();
    let invalid = invalid();
    for how in COMPRESSIONS {
        let whole = pack(how, &sound);
        let mut all = vec![
            (whole[..7].to_vec(), "end too early"),
            (whole[..whole.len() / 2].to_vec(), "end too early"),
            (whole[..whole.len() - 1].to_vec(), "end too early"),
            ([&whole[..], b"% and then?\n"].concat(), ""),
        ];
        for at in [20, whole.len() / 3, whole.len() / 2, whole.len() - 5] {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            all.push((damaged, ""));
        }
        let whole = pack(how, &invalid);
        all.push((whole[..whole.len() - 1].to_vec(), "end too early"));
        for (packed, reason) in all {
            folder.write("t", &packed);
            let two = &["--threads=2", "--type-hierarchy=types.csv", "t"][..];
            for arguments in [two, &["-p", "State", "t"]] {
                let (status, stdout, stderr) = folder.run(arguments);
                assert_eq!((status, stdout.as_str()), (2, ""), "{how}: {stderr}");
                let start = format!("pj_dump: t: {how}: the compressed data {reason}");
                assert!(stderr.starts_with(&start), "{start}: {stderr}");
                assert_eq!(stderr.lines().count(), 1, "{stderr}");
            }
            let (status, stdout, stderr) = outcome(&dump(&[], &packed));
            assert_eq!((status, stdout.as_str()), (2, ""), "{how}: {stderr}");
            let start = format!("pj_dump: <stdin>: {how}: the compressed data {reason}");
            assert!(stderr.starts_with(&start), "{start}: {stderr}");
        }
        assert!(!folder.path("types.csv").exists());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_does_not_depend_on_hashing() {
    for shape in [Shape::ManyContainers, Shape::UniqueValues] {
        let trace = generate(shape, 100_000, 1);
        let printed = |threads| dump(&["--threads", threads], &trace).stdout;
        let first = printed("1");
        assert!(first.len() > trace.len() / 2);
        for threads in THREADS {
            assert!(printed(threads) == first, "{shape:?}, {threads} threads");
        }
    }
}

#[test]
fn a_named_pipe_is_read() {
    for trace in [large(), invalid()] {
        let wanted = outcome(&dump(&[], &trace));
        for bytes in [trace.clone(), pack("gzip", &trace), pack("zstd", &trace)] {
            for threads in THREADS {
                // A process that another test is starting may hold the last pipe open for a moment, with what
                // nobody has read from it.
                let folder = sandbox(&[]);
                let path = folder.path("pipe");
                pipe(&path);
                let (to, bytes) = (path.clone(), bytes.clone());
                let writer = std::thread::spawn(move || {
                    let mut pipe = File::options().write(true).open(to).expect("it is there");
                    // The rest of an invalid uncompressed trace is not read.
                    drop(pipe.write_all(&bytes));
                });
                let (status, stdout, stderr) = folder.run(&["--threads", threads, "pipe"]);
                let found = (status, stdout, stderr.replace("pipe:", "<stdin>:"));
                assert!(found == wanted, "{threads} threads: {}", found.2);
                writer.join().expect("it ends");
            }
        }
    }
}

#[test]
fn standard_input_is_read_from_its_position() {
    let folder = sandbox(&[]);
    for trace in [large(), invalid()] {
        let wanted = outcome(&dump(&[], &trace));
        let packed = [pack("gzip", &trace), pack("xz", &trace)];
        for bytes in [&trace].into_iter().chain(&packed) {
            for before in [&b""[..], b"a line that another program has read\n"] {
                let mut file = tempfile::tempfile().expect("a file");
                file.write_all(before).expect("writable");
                file.write_all(bytes).expect("writable");
                for threads in THREADS {
                    file.seek(SeekFrom::Start(before.len() as u64)).expect("it is a file");
                    let mut command = folder.command(&["--threads", threads]);
                    let stdin = file.try_clone().expect("it is open");
                    let found = outcome(&command.stdin(stdin).output().expect("it starts"));
                    assert!(found == wanted, "{} before, {threads}: {}", before.len(), found.2);
                }
            }
        }
    }
}

#[test]
fn a_file_that_becomes_shorter_is_an_error() {
    let folder = sandbox(&[]);
    let path = folder.path("t");
    let trace = large();
    for workers in testkit::teams::<4>() {
        for left in [0, 1, trace.len() as u64 / 2, trace.len() as u64 - 1] {
            fs::write(&path, &trace).expect("writable");
            let source = Source::from(Input::open(Some(&path)).expect("it is there"));
            File::options()
                .write(true)
                .open(&path)
                .and_then(|file| file.set_len(left))
                .expect("a file");
            let error =
                Trace::read_with(source, &Options::default(), &workers, &Progress::default());
            let error = error.expect_err("a part is missing").to_string();
            assert!(error.ends_with("the file became shorter while it was being read"), "{error}");
        }
    }
}

#[test]
fn a_thousand_threads_are_fast_for_a_small_trace() {
    let folder = sandbox(&[]);
    folder.write("t", generate(Shape::Mpi, 20_000, 1));
    let wanted = folder.run(&["--threads=1", "t"]);
    let began = std::time::Instant::now();
    assert_eq!(folder.run(&["--threads=1000", "t"]), wanted);
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
}

/// After a problem, some more data are decompressed to see whether they are damaged. The rest is
/// not decompressed, since it may have a thousand times the size of the file.
#[test]
fn compressed_data_behind_a_problem_are_read_a_little() {
    let folder = sandbox(&[]);
    let problem = b"set 1 S nobody a\n";
    for (megabytes, status) in [(8, 2), (80, 1)] {
        let comments = b"# 456789abcdef\n#".repeat(megabytes << 16);
        let text = [trace(problem), comments, b"\n".to_vec()].concat();
        for how in ["zstd", "gzip"].into_iter().take(if megabytes == 8 { 2 } else { 1 }) {
            // The last bytes hold the checksum. If they are missing, the frame is incomplete.
            let packed = pack(how, &text);
            let cut = &packed[..packed.len() - 3];
            folder.write("t", cut);
            let root = trace(b"file p P piece\n");
            folder.write("root", root);
            let piece = [&problem[..], &text[trace(b"").len() + problem.len()..]].concat();
            let packed = pack(how, &piece);
            folder.write("piece", &packed[..packed.len() - 3]);
            for threads in ["--threads=1", "--threads=3"] {
                let (found, _, said) = folder.run(&[threads, "t"]);
                assert_eq!(found, status, "{said}");
                assert_eq!(said.contains("unknown container 'nobody'"), status == 1, "{said}");
                let (found, _, said) = folder.run(&[threads, "root"]);
                assert_eq!(found, status, "{said}");
                assert_eq!(said.contains("cannot read 'piece'"), status == 2, "{said}");
            }
        }
    }
}
