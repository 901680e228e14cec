//! All programs print and write the same output for a packed trace as for its text.
//!
//! This binary contains all programs, and its name selects the program that runs. So the test needs
//! no other binary.

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
            ExitCode::SUCCESS
        }
    }
}

/// Command lines for each trace `t`. `u` is another trace, and output files are called `out`.
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
    ("pj_split", &["t", "-o", "out", "--from", "0.001", "--to", "0.002"]),
    ("pj_validate", &["t"]),
    ("pj_validate", &["t", "--json"]),
    ("pj_view", &["t", "--html", "out"]),
    ("pj_view", &["t", "--svg", "out", "--recover"]),
    ("pj_whatif", &["t", "--identity", "-o", "out"]),
];

fn all_answers_are_the_same() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples");
    let example = |name: &str| fs::read(Path::new(examples).join(name)).expect("an example");
    let mpi = example("mpi.trace");
    let mut traces: Vec<(&str, Vec<u8>)> = ["task-runtime", "variables", "user-fields", "crlf"]
        .map(|name| (name, example(&format!("{name}.trace"))))
        .into();
    traces.push(("no last newline", mpi.strip_suffix(b"\n").unwrap_or(&mpi).to_vec()));
    traces.push(("open links", example("open-links.trace")));
    traces.push(("unsorted", example("unsorted.trace")));
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
    named_files(Path::new(examples));
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

    fn answer(&self, program: &str, words: &[&str]) -> Answer {
        let me = std::env::current_exe().expect("path of the test binary");
        let mut command = Command::new(me);
        command.arg0(program).args(words).args(["--threads", "2"]).current_dir(self.folder.path());
        let output = command.output().expect("the program starts");
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
