//! Tests that all programs print and write the same output for a packed trace as for its text, that
//! their exit statuses mean the same, that none overwrites its input, and that reports fit the
//! terminal.
//!
//! This binary contains all programs, and its name selects the program that runs. The test
//! therefore needs no other binary.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use paje_console::generate::parse;
use paje_pack::{Settings, pack};

fn main() -> ExitCode {
    match std::env::args().next().unwrap_or_default().as_str() {
        "pj_convert" => pj_convert::run::main(&parse(&pj_convert::manual::MANUAL)),
        "pj_dump" => pj_dump::run::main(&parse(&pj_dump::manual::MANUAL)),
        "pj_equals" => pj_equals::run::main(&parse(&pj_equals::manual::MANUAL)),
        "pj_hazards" => pj_hazards::run::main(&parse(&pj_hazards::manual::MANUAL)),
        "pj_pack" => pj_pack::run::main(&parse(&pj_pack::manual::MANUAL)),
        "pj_profile" => pj_profile::run::main(&parse(&pj_profile::manual::MANUAL)),
        "pj_split" => pj_split::run::main(&parse(&pj_split::manual::MANUAL)),
        "pj_validate" => pj_validate::run::main(),
        "pj_view" => pj_view::run::main(&parse(&pj_view::manual::MANUAL)),
        "pj_whatif" => pj_whatif::run::main(&parse(&pj_whatif::manual::MANUAL)),
        _ => {
            all_answers_are_the_same();
            let mpi = example("mpi");
            statuses_mean_the_same(&mpi);
            inputs_are_not_overwritten(&mpi);
            reports_fit_the_terminal(&mpi, &example("task-runtime"));
            ExitCode::SUCCESS
        }
    }
}

/// Command lines that are tried with each trace. In them, `t` is the trace, `u` is another trace,
/// and output files are called `out`.
const QUESTIONS: &[(&str, &[&str])] = &[
    ("pj_convert", &["t", "-o", "out", "--to", "perfetto"]),
    ("pj_convert", &["t", "-o", "out", "--to", "chrome", "--in", "rank-1"]),
    ("pj_dump", &["t"]),
    ("pj_dump", &["t", "-u", "-l", "12", "-n"]),
    ("pj_dump", &["t", "-s", "0.001", "-e", "0.002", "--in", "rank-1", "--nature", "state,link"]),
    ("pj_dump", &["t", "--sort", "--recover"]),
    ("pj_dump", &["u", "t"]),
    ("pj_equals", &["t", "u"]),
    ("pj_equals", &["t", "t", "--exact"]),
    ("pj_hazards", &["races", "t"]),
    ("pj_pack", &["t", "-o", "out", "--segment", "8K"]),
    ("pj_profile", &["t"]),
    ("pj_profile", &["time", "t", "--format", "csv"]),
    ("pj_profile", &["summary", "t", "--html", "out"]),
    ("pj_split", &["t", "-o", "out", "-p", "2"]),
    ("pj_split", &["t", "-o", "out", "--start", "0.001", "--end", "0.002"]),
    ("pj_validate", &["t"]),
    ("pj_validate", &["t", "--format", "json"]),
    ("pj_view", &["t", "--html", "out"]),
    ("pj_view", &["t", "--svg", "out", "--recover"]),
    ("pj_whatif", &["t", "--identity", "-o", "out"]),
];

fn all_answers_are_the_same() {
    let mpi = example("mpi");
    let names = ["task-runtime", "variables", "user-fields", "crlf"];
    let mut traces: Vec<(&str, Vec<u8>)> = names.map(|name| (name, example(name))).into();
    traces.push(("no last newline", mpi.strip_suffix(b"\n").unwrap_or(&mpi).to_vec()));
    traces.push(("open links", example("open-links")));
    traces.push(("unsorted", example("unsorted")));
    traces.push(("cut", mpi[..mpi.len() * 2 / 3].to_vec()));
    traces.push(("not a line", [&mpi[..], b"99 what is this\n"].concat()));
    traces.push(("mpi", mpi.clone()));
    for (name, text) in traces {
        let (plain, packed) = (Place::new(&text, &mpi, false), Place::new(&text, &mpi, true));
        let mut fine = 0;
        for &(program, words) in QUESTIONS {
            let (wanted, found) = (plain.answer(program, words), packed.answer(program, words));
            fine += i32::from(wanted.output.status.success());
            assert_eq!(found, wanted, "{name}: {program} {words:?}");
        }
        println!("{name}: {} questions, {fine} with an answer", QUESTIONS.len());
        assert!(fine > 0, "{name}");
    }
    named_files(Path::new(EXAMPLES));
}

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples");

fn example(name: &str) -> Vec<u8> {
    fs::read(Path::new(EXAMPLES).join(format!("{name}.trace"))).expect("an example")
}

/// Exit statuses: of a trace, an invalid one, and one that does not exist. Any file can be packed.
const STATUSES: &[(&str, &[&str], [i32; 3])] = &[
    ("pj_convert", &["-o", "out", "--to", "chrome"], [0, 1, 2]),
    ("pj_dump", &[], [0, 1, 2]),
    ("pj_equals", &["u"], [0, 2, 2]),
    ("pj_equals", &["u", "--diff"], [0, 2, 2]),
    ("pj_hazards", &["deadlock"], [0, 1, 2]),
    ("pj_hazards", &["races"], [1, 1, 2]),
    ("pj_pack", &["-o", "out"], [0, 0, 2]),
    ("pj_profile", &[], [0, 1, 2]),
    ("pj_split", &["-o", "out"], [0, 1, 2]),
    ("pj_validate", &[], [0, 1, 2]),
    ("pj_view", &["--html", "out"], [0, 1, 2]),
    ("pj_whatif", &["--identity"], [0, 1, 2]),
];

fn statuses_mean_the_same(mpi: &[u8]) {
    let invalid = [mpi, b"99 what is this\n"].concat();
    let places = [Place::new(mpi, mpi, false), Place::new(&invalid, mpi, false)];
    for (program, words, wanted) in STATUSES {
        let status = |place: &Place, trace: &str| {
            // The kind of a report comes first.
            let at = usize::from(*program == "pj_hazards");
            let words = [&words[..at], &[trace], &words[at..]].concat();
            place.answer(program, &words).output.status.code().expect("a status")
        };
        let found = [status(&places[0], "t"), status(&places[1], "t"), status(&places[0], "none")];
        assert_eq!(found, *wanted, "{program} {words:?}");
        assert_eq!(places[0].answer(program, &["--xyzzyx"]).output.status.code(), Some(2));
    }
}

/// Options that name an output file, for a program that also gets `t` as its input.
const OUTPUTS: &[(&str, &[&str])] = &[
    ("pj_convert", &["--to", "paje", "-o"]),
    ("pj_dump", &["--type-hierarchy"]),
    ("pj_dump", &["--entity-hierarchy"]),
    ("pj_hazards", &["-o"]),
    ("pj_hazards", &["--graph"]),
    ("pj_pack", &["-o"]),
    ("pj_profile", &["-o"]),
    ("pj_profile", &["comm", "--graph"]),
    ("pj_profile", &["--html"]),
    ("pj_profile", &["--svg"]),
    ("pj_split", &["-s", "0", "-o"]),
    ("pj_view", &["--html"]),
    ("pj_view", &["--svg"]),
    ("pj_whatif", &["--identity", "-o"]),
    ("pj_whatif", &["--identity", "--report"]),
    ("pj_whatif", &["--identity", "--html"]),
];

fn inputs_are_not_overwritten(mpi: &[u8]) {
    let place = Place::new(mpi, mpi, false);
    let trace = place.folder.path().join("t");
    for (program, words) in OUTPUTS {
        let races: &[&str] = if *program == "pj_hazards" { &["races"] } else { &[] };
        let words = [races, words, &["./t", "t"]].concat();
        let output = place.answer(program, &words).output;
        let said = testkit::said(&output);
        assert_eq!(output.status.code(), Some(2), "{program} {words:?}: {said}");
        assert!(said.contains("is also the input"), "{program} {words:?}: {said}");
        assert_eq!(fs::read(&trace).expect("it is there"), mpi, "{program} {words:?}");
    }
}

/// Reports as text, which fit the width of the terminal.
const REPORTS: &[(&str, &[&str])] = &[
    ("pj_equals", &["t", "u", "--diff=20"]),
    ("pj_hazards", &["races", "t"]),
    ("pj_hazards", &["orders", "t", "--count"]),
    ("pj_hazards", &["orders", "t"]),
    ("pj_hazards", &["deadlock", "t"]),
    ("pj_hazards", &["barriers", "t"]),
    ("pj_profile", &["t"]),
    ("pj_profile", &["comm", "t"]),
    ("pj_profile", &["time", "t"]),
    ("pj_profile", &["variables", "t"]),
    ("pj_profile", &["events", "t"]),
    ("pj_profile", &["waits", "t"]),
    ("pj_profile", &["waits", "t", "--by", "pair"]),
    ("pj_profile", &["waits", "t", "--by", "waiter"]),
    ("pj_profile", &["critical", "t"]),
    ("pj_profile", &["summary", "t"]),
    ("pj_profile", &["compare", "t", "u"]),
    ("pj_validate", &["t"]),
    ("pj_whatif", &["t", "--net", "latency=2x"]),
];

fn reports_fit_the_terminal(mpi: &[u8], other: &[u8]) {
    let place = Place::new(mpi, other, false);
    let mut wide = Vec::new();
    for columns in ["60", "80"] {
        for (program, words) in REPORTS {
            let output = place.command(program, words).env("COLUMNS", columns).output();
            let output = output.expect("the program starts");
            let text = String::from_utf8_lossy(&output.stdout);
            let most: usize = columns.parse().expect("a number");
            for line in text.lines() {
                let width = line.chars().count();
                if width > most {
                    wide.push(format!("{program} {words:?} in {columns} columns: {line}"));
                }
            }
        }
    }
    assert!(wide.is_empty(), "{wide:#?}");
}

/// Checks a trace in several packed files.
fn named_files(examples: &Path) {
    let places = [false, true].map(|is_packed| {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["root", "ping", "more/pong", "more/messages"] {
            let name = format!("{name}.trace");
            let text = fs::read(examples.join("files").join(&name)).expect("an example");
            let place = folder.path().join(name);
            fs::create_dir_all(place.parent().expect("a folder")).expect("writable");
            fs::write(place, maybe_packed(&text, is_packed)).expect("writable");
        }
        Place { folder }
    });
    let questions: [(&str, &[&str]); 4] = [
        ("pj_dump", &["root.trace"]),
        ("pj_validate", &["root.trace"]),
        ("pj_profile", &["root.trace"]),
        ("pj_convert", &["root.trace", "-o", "out", "--to", "perfetto"]),
    ];
    for (program, words) in questions {
        let [wanted, found] = places.each_ref().map(|place| place.answer(program, words));
        assert!(wanted.output.status.success(), "{}", testkit::said(&wanted.output));
        assert_eq!(found, wanted, "{program}");
    }
}

fn maybe_packed(text: &[u8], is_packed: bool) -> Vec<u8> {
    if !is_packed {
        return text.to_vec();
    }
    let mut settings = Settings::default();
    settings.segment = 8 << 10;
    pack(text, Vec::new(), settings).expect("memory")
}

struct Place {
    folder: tempfile::TempDir,
}

#[derive(Debug, PartialEq)]
struct Answer {
    output: Output,
    files: BTreeMap<String, Vec<u8>>,
}

impl Place {
    fn new(text: &[u8], other: &[u8], is_packed: bool) -> Place {
        let folder = testkit::folder(&[
            ("t", &maybe_packed(text, is_packed)),
            ("u", &maybe_packed(other, is_packed)),
        ]);
        Place { folder }
    }

    fn command(&self, program: &str, words: &[&str]) -> Command {
        let me = std::env::current_exe().expect("path of the test binary");
        let mut command = Command::new(me);
        command.arg0(program).args(words).args(["--threads", "2"]).current_dir(self.folder.path());
        command
    }

    fn answer(&self, program: &str, words: &[&str]) -> Answer {
        let output = self.command(program, words).output().expect("the program starts");
        let (out, mut files) = (self.folder.path().join("out"), BTreeMap::new());
        if out.is_dir() {
            for name in testkit::names(&out) {
                let file = fs::read(out.join(&name)).expect("a file");
                files.insert(name, file);
            }
            fs::remove_dir_all(&out).expect("writable");
        } else if let Ok(file) = fs::read(&out) {
            files.insert("out".into(), file);
            fs::remove_file(&out).expect("writable");
        }
        Answer { output, files }
    }
}
