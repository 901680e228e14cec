//! Traces in several files have the same rows as one file.

mod cut;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use datasets::files::{Style, TraceFiles};
use datasets::{Shape, generate};
use paje_sim::{Options, Progress, Selection, Source, Trace, WarningKind};
use paje_workers::Workers;
use pj_dump::output::{Quotes, Style as RowStyle, containers, hierarchy};
use splitter::{Folders, Input};
use tempfile::TempDir;

use crate::agree::{in_portions, rows};
use crate::world::{header, sandbox, trace};
use testkit::{COMPRESSIONS, pack};

static TEAMS: LazyLock<[Workers; 4]> = LazyLock::new(testkit::teams);

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn source(root: &Path) -> Source<'static> {
    let input = Input::open(Some(root)).expect("it was written");
    Source::from(input).reading_files(Some(root.to_owned()), Folders::of([root]))
}

fn replay(root: &Path, options: &Options, workers: &Workers) -> Result<Trace, paje_sim::Error> {
    Trace::read_with(source(root), options, workers, &Progress::default())
}

fn shown(trace: &Trace, workers: &Workers) -> Vec<u8> {
    let entities = hierarchy::entities(trace, Quotes::Auto);
    let mut shown = [rows(trace, workers), entities].concat();
    containers::write_tree(trace, Quotes::Auto, &mut shown).expect("memory can be written");
    shown
}

fn outcome(root: &Path, options: &Options, workers: &Workers) -> Result<Vec<u8>, String> {
    let trace = replay(root, options, workers).map_err(|error| format!("{error:#?}"))?;
    Ok([shown(&trace, workers), format!("{:?}", trace.warnings()).into_bytes()].concat())
}

/// Returns workers and block sizes. The first combination is the reference.
fn ways(turn: usize) -> impl Iterator<Item = (&'static Workers, usize)> {
    let others = [(2, 1), (3, 100), (4, 700), (2, 3000), (1, 1000), (4, 1 << 20)];
    let others = [0, 2, 5].map(|way| others[(turn + way) % others.len()]);
    let ways = [(1, 1 << 20)].into_iter().chain(others);
    ways.map(|(threads, block)| (&TEAMS[threads - 1], block))
}

fn cut(folder: &Path, text: &[u8], style: Style, pieces: usize) -> PathBuf {
    datasets::files::cut(text, style, pieces).write(folder).expect("it can be written");
    folder.join(TraceFiles::ROOT)
}

/// Checks that the program prints the rows of the whole trace for `root`, for all ways of reading
/// files.
#[track_caller]
fn same_rows(files: &[(&str, &[u8])], whole: &str) {
    let folder = sandbox(files);
    folder.write("whole", trace(whole.as_bytes()));
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let (status, wanted, _) = folder.run(&["whole"]);
    assert_eq!(status, 0);
    for threads in ["1", "2", "3"] {
        let (status, found, said) = folder.run(&["--threads", threads, "root"]);
        assert_eq!((status, &found, &said[..]), (0, &wanted, ""));
    }
    assert_eq!(folder.run(&["--sort", "root"]), (0, wanted.clone(), String::new()));
    let (status, found, _) = folder.run(&["-o", "root"]);
    assert_eq!((status, sorted(&found)), (0, sorted(&wanted)));
    let intervals = |file| folder.run(&["-p", "State", file]);
    assert_eq!(intervals("root"), intervals("whole"));
}

fn lines(text: &str) -> Vec<u8> {
    trace(text.as_bytes())
}

#[test]
fn names_are_relative_to_the_folder_of_their_file() {
    let root = lines("file p P pieces/p\nset 1 S q a\nfile q P ./pieces/../pieces/q\n");
    let files: [(&str, &[u8]); 4] = [
        ("root", &root),
        ("pieces/p", b"set 1 S p a\nfile p P more/p\n"),
        ("pieces/more/p", b"set 2 S p b\nset 5 S p a"),
        ("pieces/q", b"set 2 S q b\n"),
    ];
    same_rows(&files, "set 1 S q a\nset 1 S p a\nset 2 S q b\nset 2 S p b\nset 5 S p a\n");
}

#[test]
fn files_may_repeat_and_add_definitions() {
    let root = lines("file h H one\nfile p P two\n");
    let world = "ctype Host 0 H\nctype Process H P\nstype State P S\nltype Message H P P L\ncreate 0 h H 0\ncreate 0 p P h\n";
    let one = format!(
        "{}{world}stype Own P T\ncreate 1 r P h\nset 1 T r x\nset 1 S p a\nvalue v S V \"1 0 0\"\n",
        header()
    );
    let two = format!(
        "{}{world}stype Own P T\ncreate 1 r P h\nset 2 T r x\nvalue a S a \"1 0 0\"\nvalue v S V \"1 0 0\"\nset 2 S p v\nfrom 1 L h m p k\nto 2 L h m r k\n",
        header()
    );
    let files: [(&str, &[u8]); 3] =
        [("root", &root), ("one", one.as_bytes()), ("two", two.as_bytes())];
    same_rows(
        &files,
        "stype Own P T\ncreate 1 r P h\nset 1 T r x\nset 1 S p a\nvalue v S V \"1 0 0\"\nset 2 T r x\nset 2 S p v\nfrom 1 L h m p k\nto 2 L h m r k\n",
    );
}

#[test]
fn destructions_affect_later_lines_of_their_file() {
    let run_all = |lines_of_root: &str, one: &str, two: &str| {
        let root = lines(lines_of_root);
        let files: [(&str, &[u8]); 3] =
            [("root", &root), ("one", one.as_bytes()), ("two", two.as_bytes())];
        let folder = sandbox(&files);
        let (status, out, said) = folder.run(&["--threads", "1", "root"]);
        for threads in ["2", "3"] {
            let again = folder.run(&["--threads", threads, "root"]);
            assert_eq!(again, (status, out.clone(), said.clone()));
        }
        let states = out.lines().filter(|line| line.starts_with("State")).count();
        (status, states, said)
    };
    let named = "file p P one\nfile q P two\n";
    let after = |line: usize, file: &str, event: &str| {
        format!(
            "pj_dump: {file}:{line}: warning: {event} for a container that was destroyed before; it is ignored (1 line)\n"
        )
    };
    // The trace names the file first and destroys the container later, so the file's lines count.
    let root = format!("{named}destroy 9 P p\n");
    assert_eq!(run_all(&root, "set 1 S p a\n", ""), (0, 1, String::new()));
    // The file destroys the container too, so its later lines do not count.
    let one = "set 1 S p a\ndestroy 9 P p\nset 9 S p a\n";
    assert_eq!(run_all(&root, one, "set 9 S p b\n"), (0, 2, after(3, "one", "PajeSetState (set)")));
    // The root destroys the parent. The file destroys the parent too, or only the container.
    let root = format!("{named}destroy 9 H h\n");
    let one = "set 1 S p a\ndestroy 9 H h\nset 9 S p a\n";
    assert_eq!(run_all(&root, one, ""), (0, 1, after(3, "one", "PajeSetState (set)")));
    let one = "set 1 S p a\ndestroy 9 P p\nset 9 S p a\nset 9 S q a\n";
    assert_eq!(
        run_all(&root, one, "set 1 S q a\n").2,
        "pj_dump: two:1:5: time 1 is earlier than 9, the last time of type 'State' (S) in container 'q'; \
         the events of a container and type must be in time order\n 1 | set 1 S q a\n   |     ^\n\
         pj_dump: hint: `--sort` replays the trace sorted by time, as `sort -s` would\n"
    );
    assert_eq!(run_all(&root, one, ""), (0, 2, after(3, "one", "PajeSetState (set)")));
    let one = "destroy 9 P p\ndestroy 9 P p\n";
    assert_eq!(run_all(&root, one, ""), (0, 0, after(2, "one", "PajeDestroyContainer (destroy)")));
    // The file destroys the container later than the root does.
    assert_eq!(
        run_all(&root, "destroy 10 P p\n", ""),
        (0, 0, after(1, "one", "PajeDestroyContainer (destroy)"))
    );
    // Containers that a file created before the destruction end too. Containers that it creates
    // later do not.
    let two = "create 1 r P h\nset 2 S r a\ndestroy 9 H h\nset 9 S r b\n";
    assert_eq!(
        run_all(named, "destroy 9 H h\n", two),
        (0, 1, after(4, "two", "PajeSetState (set)"))
    );
    let two = "destroy 9 H h\ncreate 9 r P h\nset 9 S r a\n";
    assert_eq!(run_all(named, "destroy 9 H h\n", two), (0, 1, String::new()));
    // The container is destroyed before a file is named, so no file's lines count.
    let root = format!("destroy 9 P p\n{named}");
    assert_eq!(
        run_all(&root, "set 1 S p a\n", "set 1 S q a\n"),
        (0, 1, after(1, "one", "PajeSetState (set)"))
    );
    // The destruction is too early for a file's events. The message gives its position.
    let root = format!("{named}destroy 2 P p\n");
    let (status, _, said) = run_all(&root, "set 3 S p a\n", "");
    let line = crate::world::lines_before() + 3;
    let wanted = format!(
        "pj_dump: root:{line}:9: container 'p' ends at 2, earlier than its last event at 3\n {line} | destroy 2 P p\n"
    );
    assert!(status == 1 && said.starts_with(&wanted), "{said}");
    let root = format!("{named}destroy 2 H h\n");
    let (_, _, said) = run_all(&root, "from 1 L h m p k\n", "");
    assert!(said.starts_with(&format!("pj_dump: root:{line}:13: 1 link is incomplete")), "{said}");
}

#[test]
fn compressed_files_and_standard_input_are_read() {
    let text = "set 1 S p a\nset 2 S p b\n";
    let root = lines("file p P p\n");
    for how in COMPRESSIONS {
        let folder = sandbox(&[
            ("root", &root),
            ("packed", &pack(how, &root)),
            ("p", &pack(how, text.as_bytes())),
        ]);
        folder.write("whole", lines(text));
        let wanted = folder.run(&["whole"]);
        assert_eq!(folder.run(&["root"]), wanted);
        assert_eq!(folder.run(&["packed"]), wanted);
        assert_eq!(folder.run(&["--sort", "packed"]), wanted);
        assert_eq!(testkit::outcome(&folder.shell("pj_dump - < root")), wanted);
    }
}

/// A container may be created after the stop time and be used in a named file.
#[test]
fn files_are_read_up_to_a_stop_time() {
    let root = lines("file p P p\ncreate 5 r P h\nfile r P r\n");
    let folder =
        sandbox(&[("root", &root), ("p", b"set 1 S p a\nset 7 S p b\n"), ("r", b"set 6 S r a\n")]);
    let whole = lines("create 5 r P h\nset 1 S p a\nset 7 S p b\nset 6 S r a\n");
    folder.write("whole", whole);
    for stop in ["0.5", "3", "5.5", "6.5", "9"] {
        assert_eq!(folder.run(&["-a", stop, "root"]), folder.run(&["-a", stop, "whole"]), "{stop}");
    }
}

#[test]
fn thousands_of_files_are_read() {
    const FILES: usize = 3000;
    let folder = sandbox(&[]);
    let (mut root, mut whole) = (String::new(), String::new());
    for i in 0..FILES {
        root.push_str(&format!("create 0 c{i} P h\nfile c{i} P f/{i}\n"));
        whole.push_str(&format!("create 0 c{i} P h\n"));
    }
    for i in 0..FILES {
        let text = format!("set {i} S c{i} a\n");
        folder.write(format!("f/{i}"), &text);
        whole.push_str(&text);
    }
    folder.write("root", lines(&root));
    folder.write("whole", lines(&whole));
    let wanted = folder.run(&["whole"]);
    for options in ["--threads 1", "--threads 4", "--sort"] {
        let script = format!("ulimit -n 64; exec \"$0\" {options} root");
        let found = testkit::outcome(&folder.shell(&script));
        assert!(found == wanted, "{options}: {}", found.2);
    }
}

#[test]
fn portions_continue_across_files() {
    let style = RowStyle::DEFAULT;
    let text = generate(Shape::Mpi, 20_000, 4);
    let whole = Trace::read(&text[..], &Options::default()).expect("a generated trace is valid");
    let sorted = |rows: &[u8]| {
        let mut lines: Vec<Vec<u8>> = rows.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        lines.sort();
        lines
    };
    let wanted = sorted(&rows(&whole, &TEAMS[0]));
    for cut_as in Style::ALL {
        let folder = folder();
        let root = cut(folder.path(), &text, cut_as, 5);
        for bytes in [1000, 7000, 1 << 30] {
            let mut first = None;
            for (workers, block) in ways(bytes as usize) {
                let mut options = Options::default();
                options.limits.block = block;
                options.decoder_symbols = 4;
                let (source, all) = (source(&root), Selection::default());
                let (out, trace) =
                    in_portions(source, &options, bytes, false, style, &all, workers);
                trace.expect("the pieces are valid");
                assert_eq!(first.get_or_insert_with(|| out.clone()), &out, "{cut_as:?} {bytes}");
            }
            assert_eq!(sorted(&first.expect("there are ways")), wanted, "{cut_as:?} {bytes}");
        }
    }
}

#[test]
fn several_files_are_one_trace() {
    for shape in [Shape::Mpi, Shape::TaskRuntime] {
        let text = generate(shape, 60_000, 5);
        let folder = sandbox(&[]);
        let rows = |files: &[&str]| {
            let (status, rows, said) = folder.run(&[&["-z"], files].concat());
            assert_eq!((status, &*said), (0, ""));
            rows
        };
        folder.write("whole.trace", &text);
        let wanted = rows(&["whole.trace"]);
        let cut = datasets::files::cut(&text, Style::Full, 4);
        cut.write(&folder.path("")).expect("it can be written");
        let mut pieces: Vec<&str> = cut.pieces.iter().map(|piece| &*piece.name).collect();
        assert_eq!(pieces.len(), 4);
        assert_eq!(rows(&pieces), wanted);
        pieces.reverse();
        assert_eq!(rows(&pieces), wanted);
        // Each row that is not a container's is in one piece.
        let others = |rows: &str| rows.lines().filter(|row| !row.starts_with("Container")).count();
        let halves = others(&rows(&pieces[..2])) + others(&rows(&pieces[2..]));
        assert_eq!(halves, others(&wanted));
        // Repeating a file adds nothing.
        pieces.push(pieces[0]);
        assert_eq!(rows(&pieces), wanted);
        let (status, rows, said) = folder.run(&["whole.trace", "no-such.trace"]);
        assert_eq!((status, &*rows), (2, ""));
        assert_eq!(said, "pj_dump: no-such.trace: No such file or directory\n");
    }
}
