//! The pieces do not depend on the number of threads, the size of blocks and the kind of input.

use std::fs::{self, File};
use std::io::Write;
use std::process::Stdio;

use datasets::{Shape, random};

use crate::splitting::{Place, Split};

#[test]
fn pieces_do_not_depend_on_threads_and_blocks() {
    let mut traces: Vec<Vec<u8>> = Shape::ALL
        .into_iter()
        .filter(|shape| shape.is_sorted())
        .map(|shape| datasets::generate(shape, 20_000, 3))
        .collect();
    let random = (0..60).map(random::trace).filter(datasets::random::RandomTrace::is_valid);
    traces.extend(random.map(|trace| trace.bytes));
    for (number, trace) in traces.iter().enumerate() {
        let place = Place::new(trace);
        let count = ["1", "3", "8", "100"][number % 4];
        let options = |threads| ["--no-warnings", "-nzp", count, "--threads", threads];
        let wanted = place.split(&options("1"), 1 << 20);
        for (threads, block) in [("1", 1), ("2", 300), ("3", 1000), ("4", 5000), ("7", 1 << 20)] {
            let found = place.split(&options(threads), block);
            assert!(found == wanted, "trace {number}, {threads} threads, blocks of {block}");
        }
    }
}

#[test]
fn pieces_do_not_depend_on_the_input() {
    let trace = datasets::generate(Shape::Mpi, 400_000, 1);
    let place = Place::new(&trace);
    let options = ["-p", "5", "-o", "d"];
    let wanted = place.split(&options[..2], 1 << 17);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&trace).unwrap();
    fs::write(place.path("t.gz"), packed.finish().unwrap()).unwrap();
    let names = ["t", "t.gz"];
    let check = |about: &str| {
        assert!(Split::read(&place.path("d")) == wanted, "{about}");
        fs::remove_dir_all(place.path("d")).unwrap();
        assert_eq!(place.names(), names, "{about}");
    };
    for threads in ["1", "3"] {
        let options = [&options[..], &["--threads", threads]].concat();
        for name in names {
            assert!(place.run(&[&options[..], &[name]].concat()).status.success());
            check(name);
            // The trace is standard input, which can be read again only if it is a plain file.
            let file = File::open(place.path(name)).unwrap();
            assert!(place.command(&options).stdin(file).status().unwrap().success());
            check("standard input");
            let mut child = place.command(&options).arg("-").stdin(Stdio::piped()).spawn().unwrap();
            let bytes = fs::read(place.path(name)).unwrap();
            child.stdin.take().unwrap().write_all(&bytes).unwrap();
            assert!(child.wait().unwrap().success());
            check("a pipe");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn pieces_do_not_depend_on_the_limit_of_open_files() {
    let trace = datasets::generate(Shape::ManyContainers, 400_000, 1);
    let place = Place::new(&trace);
    let wanted = place.split(&["-p", "300"], 1 << 17);
    assert_eq!(wanted.pieces.len(), 300);
    let program = env!("CARGO_BIN_EXE_pj_split");
    for limit in ["50", "34", "20"] {
        let script = format!("ulimit -n {limit}; exec {program} t -o d -p 300");
        let mut command = std::process::Command::new("sh");
        let status = command.args(["-c", &script]).current_dir(place.path("")).status();
        assert!(status.unwrap().success(), "{limit}");
        assert!(Split::read(&place.path("d")) == wanted, "{limit}");
        fs::remove_dir_all(place.path("d")).unwrap();
    }
}

#[test]
fn compressed_pieces_have_the_same_text() {
    let trace = datasets::generate(Shape::Mpi, 400_000, 1);
    let place = Place::new(&trace);
    let plain = place.split(&["-p", "5"], 1 << 17);
    for (format, suffix) in [("gzip", "gz"), ("zstd", "zst")] {
        // This also dumps the root.
        let split = place.split(&["-p", "5", "--compress", format], 1 << 12);
        assert!(split.pieces == plain.pieces, "{format}");
        let root = String::from_utf8_lossy(&split.root);
        assert_eq!(root.replace(&format!(".trace.{suffix}\""), ".trace\"").as_bytes(), plain.root);
        let threads = ["-p", "5", "--compress", format, "-o", "d", "t", "--threads", "3"];
        assert!(place.run(&threads).status.success());
        let packed = fs::read_dir(place.path("d")).unwrap();
        let packed = packed.map(|entry| entry.unwrap().metadata().unwrap().len()).sum::<u64>();
        assert!(packed < trace.len() as u64 / 2, "{format}: {packed} bytes");
        assert!(Split::read(&place.path("d")) == split, "{format}");
        fs::remove_dir_all(place.path("d")).unwrap();
    }
}
