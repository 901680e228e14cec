//! The program by its other name, `pj_dump_csv`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::cli::outcome;
use crate::world::trace;

const TRACE: &[u8] = b"\
value r S \"running, fast\" 0,1,0
create 0 \"x y\" P h
set 0.5 S \"x y\" r
vset 1 V p 10
event 1.25 E p \"mark\"
from 1 L h data p k
to 2 L h data q k
";

/// A folder with a trace, and with the program under its other name.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("t"), trace(TRACE)).expect("writable");
    let program = env!("CARGO_BIN_EXE_pj_dump");
    std::os::unix::fs::symlink(program, folder.path().join("pj_dump_csv")).expect("a link");
    folder
}

fn csv(folder: &TempDir, words: &[&str]) -> Output {
    let mut command = Command::new(folder.path().join("pj_dump_csv"));
    command.args(words).current_dir(folder.path()).output().expect("it starts")
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Files that PajeNG's development version of April 2026 writes for this trace, as it was run.
#[test]
fn files_of_rows_as_pajeng_writes_them() {
    let folder = folder();
    let quiet = (0, String::new(), String::new());
    for (nature, rows) in [
        (
            "container",
            "Container, Parent, Type, Start, End, Duration, Name\n\
             Container, 0, 0, 0, 2, 2, 0\n\
             Container, 0, Host, 0, 2, 2, h\n\
             Container, h, Process, 0, 2, 2, q\n\
             Container, h, Process, 0, 2, 2, p\n\
             Container, h, Process, 0, 2, 2, \"x y\"\n",
        ),
        (
            "state",
            "State, Container, Type, Start, End, Duration, Imbrication, Value\n\
             State, \"x y\", State, 0.50, 2.00, 1.50, 0.00, \"running, fast\"\n",
        ),
        (
            "variable",
            "Variable, Container, Type, Start, End, Duration, Value\n\
             Variable, p, Load, 1.00, 2.00, 1.00, 10.00\n",
        ),
        ("event", "Event, Container, Type, Time, Value\nEvent, p, Mark, 1.25, \"mark\"\n"),
        (
            "link",
            "Link, Container, Type, Start, End, Duration, Value, StartContainer, EndContainer\n\
             Link, h, Message, 1.00, 2.00, 1.00, data, p, q, k\n",
        ),
    ] {
        for options in [["-l2", "-pout"], ["--float=2", "--prefix=out"]] {
            assert_eq!(outcome(&csv(&folder, &[&options[..], &["t"]].concat())), quiet);
            assert_eq!(read(folder.path(), &format!("out.{nature}.csv")), rows);
        }
    }
    // Quotes for readers of CSV are an option.
    assert_eq!(outcome(&csv(&folder, &["--quotes", "auto", "-p", "auto", "t"])), quiet);
    assert!(read(folder.path(), "auto.container.csv").contains(", x y\n"));
    // Of no rows, the headers.
    let none = ["--no-warnings", "-s5", "-e6", "-pnone", "t"];
    assert_eq!(outcome(&csv(&folder, &none)), quiet);
    assert_eq!(read(folder.path(), "none.event.csv"), "Event, Container, Type, Time, Value\n");
}

#[test]
fn what_is_asked_of_pj_dump_only() {
    let folder = folder();
    for (words, wanted) in [
        (&["t"][..], "--prefix <PREFIX>"),
        (&["-p", "out", "-u", "t"], "unexpected argument '-u'"),
        (&["-p", "out", "-h", "t"], "unexpected argument '-h'"),
        (&["-p", "out", "nosuch"], "pj_dump_csv: nosuch: No such file or directory\n"),
        (&["-p", "no/out", "t"], "pj_dump_csv: no/out.container.csv: No such file or directory\n"),
    ] {
        let (status, stdout, stderr) = outcome(&csv(&folder, words));
        assert_eq!((status, &*stdout), (2, ""), "{words:?}");
        assert!(stderr.contains(wanted), "{words:?}: {stderr}");
    }
    fs::write(folder.path().join("invalid"), trace(b"pop 1 S q\n")).expect("writable");
    let (status, _, stderr) = outcome(&csv(&folder, &["-p", "out", "invalid"]));
    assert!(status == 1 && stderr.starts_with("pj_dump_csv: invalid:"), "{stderr}");
    assert!(!folder.path().join("out.container.csv").exists());
}

#[test]
fn it_speaks_of_itself_by_that_name() {
    let folder = folder();
    let version = format!("pj_dump_csv {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(outcome(&csv(&folder, &["-v"])), (0, version, String::new()));
    for (option, wanted, other) in [
        ("--help", "-p, --prefix <PREFIX>", "--tables"),
        ("--usage", "Usage: pj_dump_csv", "pj_dump "),
        ("--generate=man", ".TH PJ_DUMP_CSV 1 ", "\\-\\-out\\-of\\-core"),
        ("--generate=complete-bash", "pj_dump_csv", "--tables"),
    ] {
        let words = if option.starts_with("--gen") { vec![option] } else { vec!["-px", option] };
        let (status, stdout, stderr) = outcome(&csv(&folder, &words));
        assert_eq!((status, &*stderr), (0, ""), "{option}");
        assert!(stdout.contains(wanted) && !stdout.contains(other), "{option}: {stdout}");
    }
}
