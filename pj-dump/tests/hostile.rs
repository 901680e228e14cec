//! Traces that are large in one respect. Each is dumped correctly, in linear time and memory, and
//! `pj_validate` accepts it.
//!
//! `PAJE_HOSTILE=10000000 cargo test --release -p pj-dump --test hostile -- --nocapture
//! --include-ignored` uses the sizes of `docs/dev/reliability.md` and prints the costs. Without the
//! variable, the traces are small. `PAJE_PJ_DUMP` and `PAJE_PJ_VALIDATE` name existing programs to
//! test.

#![cfg(target_os = "linux")]

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use wait4::Wait4;

type Lines = Box<dyn Iterator<Item = String> + Send>;

struct Case {
    name: &'static str,
    /// Largest size, even if `PAJE_HOSTILE` is larger.
    most: u64,
    options: &'static [&'static str],
    trace: fn(u64) -> Lines,
    rows: fn(u64) -> Lines,
}

/// Bytes of memory per byte of the trace, besides [`FIXED`]. Short definitions cost most.
const FACTOR: u64 = 40;
const FIXED: u64 = 64 << 20;
/// Bytes of memory per container with one lane and short lines, besides [`FIXED`]. `-o` also lists
/// the contents of each portion.
const EACH: u64 = 250;
const EACH_IN_PORTIONS: u64 = 280;
/// The limit is generous, since the machine may be busy.
const NANOSECONDS: u64 = 10_000;

const HEADER: &str = "\
%EventDef PajeDefineContainerType ctype\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType stype\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineLinkType ltype\n% Name string\n% Type string\n% StartContainerType string
% EndContainerType string\n%EndEventDef
%EventDef PajeDefineEntityValue value\n% Alias string\n% Type string\n% Name string\n%EndEventDef
%EventDef PajeCreateContainer create\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajePushState push\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajePopState pop\n% Time date\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState set\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajeStartLink from\n% Time date\n% Type string\n% Container string\n% Value string
% StartContainer string\n% Key string\n%EndEventDef
%EventDef PajeEndLink to\n% Time date\n% Type string\n% Container string\n% Value string
% EndContainer string\n% Key string\n%EndEventDef";

fn lines(text: &str) -> impl Iterator<Item = String> + Send + use<> {
    text.lines().map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// Returns the header, a process with a state type, and the lines `more`.
fn with_process(more: impl Iterator<Item = String> + Send + 'static) -> Lines {
    let world = lines("ctype P 0\nstype S P\nltype L 0 P P\ncreate 0 p P 0");
    Box::new(lines(HEADER).chain(world).chain(more))
}

/// Returns the rows of the root and the process, and the rows `more`.
fn process_rows(end: u64, more: impl Iterator<Item = String> + Send + 'static) -> Lines {
    let row = move |what| format!("Container, 0, {what}");
    let both = [row(format!("0, 0, {end}, {end}, 0")), row(format!("P, 0, {end}, {end}, p"))];
    Box::new(both.into_iter().chain(more))
}

fn time(i: u64, n: u64) -> u64 {
    i * 1000 / n
}

fn state(start: u64, end: u64, level: u64, value: &str) -> String {
    format!(
        "State, p, S, {start}.000000, {end}.000000, {}.000000, {level}.000000, {value}",
        end - start
    )
}

fn nested(n: u64) -> Lines {
    let level = |i: u64| match i {
        0 => "ctype T0 0\ncreate 0 c0 T0 0".to_owned(),
        _ => format!("ctype T{i} T{0}\ncreate 0 c{i} T{i} c{0}", i - 1),
    };
    Box::new(lines(HEADER).chain((0..n).map(level)))
}

const ALL: [Case; 14] = [
    Case {
        name: "open pushes, nested",
        most: 1_000_000,
        options: &[],
        trace: |n| with_process((0..n).map(move |i| format!("push {} S p a", time(i, n)))),
        rows: |n| {
            let end = time(n - 1, n);
            process_rows(end, (0..n).map(move |i| state(time(i, n), end, i, "a")))
        },
    },
    Case {
        name: "pushes and their pops",
        most: 1_000_000,
        options: &[],
        trace: |n| {
            let pushes = (0..n).map(move |i| format!("push {} S p a", time(i, n)));
            with_process(
                pushes.chain((0..n).map(move |i| format!("pop {} S p", 1000 + time(i, n)))),
            )
        },
        rows: |n| {
            let end = move |i| 1000 + time(n - 1 - i, n);
            process_rows(end(0), (0..n).map(move |i| state(time(i, n), end(i), i, "a")))
        },
    },
    Case {
        name: "states at one time",
        most: u64::MAX,
        options: &[],
        trace: |n| with_process((0..n).map(|_| "set 1 S p a".into())),
        rows: |n| process_rows(1, (0..n).map(|_| state(1, 1, 0, "a"))),
    },
    Case {
        name: "distinct values",
        most: u64::MAX,
        options: &[],
        trace: |n| with_process((0..n).map(|i| format!("set 1 S p v{i}"))),
        rows: |n| process_rows(1, (0..n).map(|i| state(1, 1, 0, &format!("v{i}")))),
    },
    Case {
        name: "definitions of values",
        most: u64::MAX,
        options: &["-q", "--type-hierarchy=/dev/stdout"],
        trace: |n| with_process((0..n).map(|i| format!("value v{i:08} S n{i}"))),
        rows: |n| {
            let types = lines("Parent, Name, Nature\n0, P, Container\n0, L, Link\nP, S, State");
            Box::new(types.chain((0..n).map(|i| format!("S, n{i}, Value"))))
        },
    },
    Case {
        name: "definitions of types",
        most: u64::MAX,
        options: &["-q", "--type-hierarchy=/dev/stdout"],
        trace: |n| Box::new(lines(HEADER).chain((0..n).map(|i| format!("ctype T{i:08} 0")))),
        rows: |n| {
            let types = (0..n).rev().map(|i| format!("0, T{i:08}, Container"));
            Box::new(lines("Parent, Name, Nature").chain(types))
        },
    },
    Case {
        name: "containers",
        most: u64::MAX,
        options: &[],
        trace: |n| {
            let all = (0..n).map(|i| format!("create 0 c{i:08} P 0"));
            Box::new(lines(HEADER).chain(lines("ctype P 0")).chain(all))
        },
        rows: |n| {
            let all = (0..n).rev().map(|i| format!("Container, 0, P, 0, 0, 0, c{i:08}"));
            Box::new(lines("Container, 0, 0, 0, 0, 0, 0").chain(all))
        },
    },
    Case {
        name: "types with a state each",
        most: u64::MAX,
        options: &[],
        trace: |n| with_process((0..n).map(|i| format!("stype T{i:08} P\nset 1 T{i:08} p a"))),
        rows: |n| {
            let row = |i| format!("State, p, T{i:08}, 1.000000, 1.000000, 0.000000, 0.000000, a");
            process_rows(1, (0..n).map(row))
        },
    },
    Case {
        name: "nested containers",
        most: 100_000,
        options: &[],
        trace: nested,
        rows: nested_rows,
    },
    Case {
        name: "nested containers, -o",
        most: 100_000,
        options: &["-o"],
        trace: nested,
        rows: nested_rows,
    },
    Case {
        name: "nested containers, -c",
        // The indentation grows with the square of the depth.
        most: 20_000,
        options: &["-c"],
        trace: nested,
        rows: |n| {
            let line = |i: u64| {
                let depth = i as usize + 1;
                format!("reportContainer |{:>depth$}c{i} (c{i})", &"| "[..depth.min(2)])
            };
            Box::new(lines("reportContainer |0 (0)").chain((0..n).map(line)))
        },
    },
    Case {
        name: "nested types, --type-hierarchy",
        most: 100_000,
        options: &["-q", "--type-hierarchy=/dev/stdout"],
        trace: nested,
        rows: |n| {
            let row = |i: u64| match i {
                0 => "0, T0, Container".to_owned(),
                _ => format!("T{}, T{i}, Container", i - 1),
            };
            Box::new(lines("Parent, Name, Nature").chain((0..n).map(row)))
        },
    },
    Case {
        name: "open links",
        most: u64::MAX,
        options: &[],
        trace: |n| {
            let from = (0..n).map(|i| format!("from 0 L 0 x p k{i}"));
            with_process(from.chain((0..n).map(|i| format!("to 1 L 0 x p k{i}"))))
        },
        rows: |n| {
            let row = |i| format!("Link, 0, L, 0.000000, 1.000000, 1.000000, x, p, p, k{i}");
            let root = lines("Container, 0, 0, 0, 1, 1, 0");
            Box::new(root.chain((0..n).map(row)).chain(lines("Container, 0, P, 0, 1, 1, p")))
        },
    },
    Case {
        name: "definitions of events",
        // Each definition takes nearly a kilobyte.
        most: 4_000_000,
        options: &[],
        trace: |n| {
            let fields = "% Time date\n% Type string\n% Container string\n% Value string";
            let define = move |i| format!("%EventDef PajeSetState e{i}\n{fields}\n%EndEventDef");
            let world = lines("ctype P 0\nstype S P\ncreate 0 p P 0");
            let events = (0..n).map(|i| format!("e{i} 1 S p a"));
            Box::new(lines(HEADER).chain((0..n).map(define)).chain(world).chain(events))
        },
        rows: |n| process_rows(1, (0..n).map(|_| state(1, 1, 0, "a"))),
    },
];

fn nested_rows(n: u64) -> Lines {
    let row = |i: u64| match i {
        0 => "Container, 0, T0, 0, 0, 0, c0".to_owned(),
        _ => format!("Container, c{}, T{i}, 0, 0, 0, c{i}", i - 1),
    };
    Box::new(lines("Container, 0, 0, 0, 0, 0, 0").chain((0..n).map(row)))
}

/// Runs a program on a trace and returns the cost. If `wanted` is given, checks the output line by
/// line.
fn run(mut command: Command, trace: Lines, wanted: Option<Lines>, about: &str) -> Took {
    let began = Instant::now();
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let memory = peak_memory(child.id());
    let mut stdin = BufWriter::with_capacity(1 << 20, child.stdin.take().expect("asked for"));
    let mut stdout = BufReader::with_capacity(1 << 20, child.stdout.take().expect("asked for"));
    let mut stderr = child.stderr.take().expect("asked for");
    let writer = std::thread::spawn(move || {
        let mut bytes = 0;
        for line in trace {
            bytes += line.len() as u64 + 1;
            // A program that fails does not read the rest.
            if writeln!(stdin, "{line}").is_err() {
                break;
            }
        }
        bytes
    });
    let (mut found, any) = (String::new(), wanted.is_none());
    for (number, wanted) in wanted.into_iter().flatten().enumerate() {
        found.clear();
        stdout.read_line(&mut found).expect("text");
        assert_eq!(found.trim_end_matches('\n'), wanted, "{about}, row {}", number + 1);
    }
    let mut rest = Vec::new();
    stdout.read_to_end(&mut rest).expect("readable");
    let mut said = String::new();
    stderr.read_to_string(&mut said).expect("text");
    let ended = child.wait4().expect("the program ends");
    let memory = memory.join().expect("the observer ends");
    assert_eq!((ended.status.code(), &*said), (Some(0), ""), "{about}");
    assert!(any || rest.is_empty(), "{about}: more rows: {:.200}", String::from_utf8_lossy(&rest));
    let bytes = writer.join().expect("the writer ends");
    let wall = began.elapsed();
    let busy = ended.rusage.utime + ended.rusage.stime;
    assert!(memory < FIXED + FACTOR * bytes, "{about}: {memory} bytes of memory for {bytes}");
    let nanoseconds = busy.as_nanos() as u64 / bytes;
    assert!(busy.as_secs() < 5 || nanoseconds < NANOSECONDS, "{about}: {nanoseconds} ns a byte");
    Took { wall, nanoseconds, memory, bytes }
}

struct Took {
    wall: Duration,
    nanoseconds: u64,
    memory: u64,
    bytes: u64,
}

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Took { wall, nanoseconds, memory, bytes } = self;
        let (wall, megabytes) = (wall.as_secs_f64(), memory / 1_000_000);
        let for_a_byte = *memory as f64 / *bytes as f64;
        write!(
            f,
            "{wall:.1} s, {nanoseconds} ns a byte, {megabytes} MB, {for_a_byte:.1} bytes a byte"
        )
    }
}

fn asked() -> u64 {
    let asked = env::var("PAJE_HOSTILE").ok();
    asked.map_or(5_000, |text| text.parse().expect("PAJE_HOSTILE is a number"))
}

#[test]
#[ignore = "half a minute unless the program is optimised; .ci/run runs it so"]
fn a_container_with_one_lane_takes_little_memory() {
    // The trace is large enough to need more memory than the program itself.
    let n = asked().clamp(200_000, 1_000_000);
    let trace = || {
        let all = (0..n).map(|i| format!("create 0 c{i:08} P 0\nset 1 S c{i:08} a"));
        Box::new(lines(HEADER).chain(lines("ctype P 0\nstype S P")).chain(all)) as Lines
    };
    let rows = || {
        let both = |i| {
            let state = state(1, 1, 0, "a").replacen("p,", &format!("c{i:08},"), 1);
            [format!("Container, 0, P, 0, 1, 1, c{i:08}"), state]
        };
        let root = lines("Container, 0, 0, 0, 1, 1, 0");
        Box::new(root.chain((0..n).rev().flat_map(both))) as Lines
    };
    for options in [&[][..], &["-o"], &["--memory-limit=32M"], &["--recover"]] {
        let mut command = Command::new(dump());
        command.args(options).arg("--threads=2");
        // With `-o` and several portions, rows are in another order.
        let wanted = (options != ["-o"]).then(rows);
        let took = run(command, trace(), wanted, "containers with a state each");
        println!("{n} containers with a state each, {options:?}: {took}");
        let each = if options == ["-o"] { EACH_IN_PORTIONS } else { EACH };
        assert!(took.memory < FIXED + each * n, "{options:?}: {} bytes of memory", took.memory);
    }
}

#[test]
fn traces_that_are_large_in_one_respect_take_linear_time() {
    let asked = asked();
    for Case { name, most, options, trace, rows } in ALL {
        let n = asked.min(most);
        let bytes: u64 = trace(n).map(|line| line.len() as u64 + 1).sum();
        println!("{name}: {n}, {} MB", bytes / 1_000_000);
        let mut command = Command::new(dump());
        command.args(options);
        println!("  pj_dump      {}", run(command, trace(n), Some(rows(n)), name));
        match env::var_os("PAJE_PJ_VALIDATE") {
            Some(validate) => {
                let mut command = Command::new(validate);
                command.arg("-q");
                println!("  pj_validate  {}", run(command, trace(n), None, name));
            }
            None => {
                let text = trace(n).flat_map(|line| (line + "\n").into_bytes());
                let report = pj_validate::check(&*text.collect::<Vec<u8>>(), &Default::default());
                let report = report.expect("memory can be read");
                assert!(report.is_valid(), "{name}: {:?}", report.findings);
            }
        }
    }
}

/// Polls the peak memory of a child process, and returns it in bytes. The figure that the system
/// reports after the end would include the memory that this process had when it started the child.
fn peak_memory(process: u32) -> JoinHandle<u64> {
    std::thread::spawn(move || {
        let mut most = 0;
        while let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) {
            let Some(line) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) else {
                break;
            };
            let kibibytes = line.trim().trim_end_matches(" kB").parse();
            most = kibibytes.map_or(most, |kibibytes: u64| kibibytes << 10);
            std::thread::sleep(Duration::from_millis(2));
        }
        most
    })
}

fn dump() -> OsString {
    env::var_os("PAJE_PJ_DUMP").unwrap_or(env!("CARGO_BIN_EXE_pj_dump").into())
}

#[test]
#[ignore = "half a minute unless the program is optimised; .ci/run runs it so"]
fn a_line_of_two_gigabytes_is_refused() {
    for (options, limit) in
        [(&[][..], 64 << 20), (&["--max-line=1MB"], 1_000_000), (&["--sort"], 64 << 20)]
    {
        let pieces = if options == ["--sort"] { 300 } else { 2000 };
        let command = &mut Command::new(dump());
        let command = command.args(options).args(["--threads=2"]).stdin(Stdio::piped());
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let memory = peak_memory(child.id());
        let mut stdin = child.stdin.take().expect("asked for");
        let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
        let writer = std::thread::spawn(move || {
            let piece = vec![b'x'; 1_000_000];
            writeln!(stdin, "{HEADER}").expect("the program reads");
            (0..pieces).take_while(|_| stdin.write_all(&piece).is_ok()).count()
        });
        let (mut rows, mut said) = (String::new(), String::new());
        stdout.as_mut().expect("asked for").read_to_string(&mut rows).expect("text");
        stderr.as_mut().expect("asked for").read_to_string(&mut said).expect("text");
        let status = child.wait().expect("the program ends");
        let memory = memory.join().expect("the observer ends");
        let line = HEADER.lines().count() + 1;
        let wanted = format!(
            "pj_dump: <stdin>:{line}:1: the line is longer than {limit} bytes\n\
             pj_dump: hint: `--max-line` allows longer lines, if this is a trace\n"
        );
        assert_eq!((status.code(), &*rows, &*said), (Some(1), "", &*wanted));
        let written = writer.join().expect("the writer ends");
        assert!(options == ["--sort"] || written < 200, "{written} MB written");
        let most = if options == ["--sort"] { 900 << 20 } else { (4 * limit as u64) + FIXED };
        assert!(memory < most, "{options:?}: {memory} bytes of memory");
    }
}

#[test]
#[ignore = "half a minute unless the program is optimised; .ci/run runs it so"]
fn a_name_of_sixty_megabytes_is_printed() {
    let name = "n".repeat(60_000_000);
    let (set, row) = (format!("set 1 S p {name}"), state(1, 1, 0, &name));
    let trace = || with_process(std::iter::once(set.clone()));
    let rows = || process_rows(1, std::iter::once(row.clone()));
    println!("{}", run(Command::new(dump()), trace(), Some(rows()), "one long name"));
}

/// Compressed data may contain a thousand times their size.
#[test]
#[ignore = "half a minute unless the program is optimised; .ci/run runs it so"]
fn compressed_traces_take_little_memory() {
    let head: Vec<String> = with_process(std::iter::once("set 1 S p a".to_owned())).collect();
    let (head, comments) = (head.join("\n") + "\n", "# 456789abcdef\n".repeat(1 << 17));
    let text = head.len() + 64 * comments.len();
    for how in ["gzip", "zstd", "xz", "bzip2"] {
        let pack = |text: &str| testkit::pack(how, text.as_bytes());
        let packed = [pack(&head), pack(&comments).repeat(64)].concat();
        assert!(packed.len() < text / 50, "{how}: {} bytes", packed.len());
        for threads in ["1", "3"] {
            let mut command = Command::new(dump());
            let command = command.args(["-q", "--threads", threads]).stdin(Stdio::piped());
            let mut child = command.spawn().expect("the program starts");
            let memory = peak_memory(child.id());
            let mut stdin = child.stdin.take().expect("asked for");
            stdin.write_all(&packed).expect("the program reads");
            drop(stdin);
            let ended = child.wait4().expect("the program ends");
            let memory = memory.join().expect("the observer ends") >> 20;
            let busy = (ended.rusage.utime + ended.rusage.stime).as_secs_f64();
            let nanoseconds = busy * 1e9 / text as f64;
            println!(
                "{how}: {} bytes of {text}, {threads} threads: {memory} MiB, {nanoseconds:.1} ns a byte",
                packed.len()
            );
            assert!(ended.status.success() && memory < 64, "{how}: {memory} MiB of memory");
            assert!(nanoseconds < 200.0, "{how}: {nanoseconds} ns a byte");
        }
    }
}
