//! Traces in many files: the same rows as from one.

mod cut;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use datasets::files::{Style, TraceFiles};
use datasets::{Shape, generate};
use paje_sim::{Options, Portion, Progress, Source, Trace, WarningKind};
use paje_workers::Workers;
use pj_dump::output::export::Written;
use pj_dump::output::stream::RowStream;
use pj_dump::output::{Quotes, Style as RowStyle, containers, hierarchy};
use splitter::{Folders, Input};
use tempfile::TempDir;

use crate::agree::rows;
use crate::cli::run;
use crate::world::{header, trace};
use testkit::{COMPRESSIONS, pack};

static TEAMS: LazyLock<[Workers; 4]> = LazyLock::new(testkit::teams);

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn replay(root: &Path, options: &Options, workers: &Workers) -> Result<Trace, paje_sim::Error> {
    let input = Input::open(Some(root)).expect("it was written");
    let source = Source::from(input).reading_files(Some(root.to_owned()), Folders::of([root]));
    Trace::read_with(source, options, workers, &Progress::default())
}

/// Contents of a trace, whatever it was read from.
fn shown(trace: &Trace, workers: &Workers) -> Vec<u8> {
    let entities = hierarchy::entities(trace, Quotes::Auto);
    let mut shown = [rows(trace, workers), entities].concat();
    containers::write_tree(trace, Quotes::Auto, &mut shown).expect("memory can be written");
    shown
}

/// Contents of a trace and the warnings about it; or what is wrong, and where.
fn outcome(root: &Path, options: &Options, workers: &Workers) -> Result<Vec<u8>, String> {
    let trace = replay(root, options, workers).map_err(|error| format!("{error:?}"))?;
    Ok([shown(&trace, workers), format!("{:?}", trace.warnings()).into_bytes()].concat())
}

/// Threads and blocks: the first is what others are compared with, of which there are some, by turns.
fn ways(turn: usize) -> impl Iterator<Item = (&'static Workers, usize)> {
    let others = [(2, 1), (3, 100), (4, 700), (2, 3000), (1, 1000), (4, 1 << 20)];
    let others = [0, 2, 5].map(|way| others[(turn + way) % others.len()]);
    let ways = [(1, 1 << 20)].into_iter().chain(others);
    ways.map(|(threads, block)| (&TEAMS[threads - 1], block))
}

/// Cuts a trace into files in a folder; returns the root's.
fn cut(folder: &Path, text: &[u8], style: Style, pieces: usize) -> PathBuf {
    datasets::files::cut(text, style, pieces).write(folder).expect("it can be written");
    folder.join(TraceFiles::ROOT)
}

/// Files in a folder, in which the program runs.
fn kept(files: &[(&str, &[u8])]) -> TempDir {
    let folder = folder();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("writable");
        fs::write(path, bytes).expect("the folder is writable");
    }
    folder
}

/// The program's rows for `root`, which must be those that one file gives, in every way that the
/// program knows to read files.
#[track_caller]
fn same_rows(files: &[(&str, &[u8])], whole: &str) {
    let folder = kept(files);
    fs::write(folder.path().join("whole"), trace(whole.as_bytes())).expect("writable");
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let (status, wanted, _) = run(&folder, &["whole"]);
    assert_eq!(status, 0);
    for threads in ["1", "2", "3"] {
        let (status, found, said) = run(&folder, &["--threads", threads, "root"]);
        assert_eq!((status, &found, &said[..]), (0, &wanted, ""));
    }
    assert_eq!(run(&folder, &["--sort", "root"]), (0, wanted.clone(), String::new()));
    let (status, found, _) = run(&folder, &["-o", "root"]);
    assert_eq!((status, sorted(&found)), (0, sorted(&wanted)));
    let intervals = |file| run(&folder, &["-p", "State", file]);
    assert_eq!(intervals("root"), intervals("whole"));
}

fn lines(text: &str) -> Vec<u8> {
    trace(text.as_bytes())
}

#[test]
fn names_count_from_the_folder_of_the_file_that_has_them() {
    let root = lines("file p P pieces/p\nset 1 S q a\nfile q P ./pieces/../pieces/q\n");
    let files: [(&str, &[u8]); 4] = [
        ("root", &root),
        ("pieces/p", b"set 1 S p a\nfile p P more/p\n"),
        ("pieces/more/p", b"set 2 S p b\nset 5 S p a"),
        ("pieces/q", b"set 2 S q b\n"),
    ];
    same_rows(&files, "set 1 S q a\nset 1 S p a\nset 2 S q b\nset 2 S p b\nset 5 S p a\n");
}

/// The definition of PajeSetState by another number, and one for creations that name files.
fn own_header() -> String {
    let fields = "% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n";
    format!("%EventDef PajeSetState 7\n{fields}")
}

#[test]
fn what_a_file_defines_holds_in_it_and_in_those_it_names() {
    let root = lines("file p P one\nfile q P two\n");
    let one = format!("set 1 S p a\n{}7 2 S p b\n", own_header());
    let more = "%EventDef PajeTraceFile 8\n% Container string\n% Type string\n% Filename string\n%EndEventDef\n8 p P below\n";
    let one = format!("{one}{more}");
    let files: [(&str, &[u8]); 4] = [
        ("root", &root),
        ("one", one.as_bytes()),
        ("two", b"set 1 S q b\n"),
        ("below", b"7 3 S p a\n"),
    ];
    same_rows(&files, "set 1 S p a\nset 2 S p b\nset 1 S q b\nset 3 S p a\n");
    // Its own numbers are not the others', nor are the others' its own any more.
    let bad = |file: &str, text: &str| {
        let files =
            files.map(|(name, bytes)| (name, if name == file { text.as_bytes() } else { bytes }));
        run(&kept(&files), &["root"])
    };
    let (status, _, said) = bad("two", "set 1 S q b\n7 3 S q a\n");
    assert!(
        status == 1 && said.starts_with("pj_dump: two:2:1: no event is defined with number '7'"),
        "{said}"
    );
    let (status, _, said) = bad("one", &format!("{one}set 3 S p a\n"));
    assert!(
        status == 1 && said.contains("one:15:1: no event is defined with number 'set'"),
        "{said}"
    );
}

#[test]
fn types_values_and_containers_of_files() {
    let root = lines("file h H one\nfile p P two\n");
    let world = "ctype Host 0 H\nctype Process H P\nstype State P S\nltype Message H P P L\ncreate 0 h H 0\ncreate 0 p P h\n";
    let one = format!(
        "{}{world}stype Own P T\ncreate 1 r P h\nset 1 T r x\nset 1 S p a\nvalue v S V\n",
        header()
    );
    let two = format!(
        "{}{world}stype Own P T\ncreate 1 r P h\nset 2 T r x\nvalue a S a\nvalue v S V\nset 2 S p v\nfrom 1 L h m p k\nto 2 L h m r k\n",
        header()
    );
    let one = one
        .replace("value v S V", "value v S V \"\"")
        .replace("V \"\"", "V red")
        .replace(" red", " \"1 0 0\"");
    let two = two
        .replace("value a S a", "value a S a \"1 0 0\"")
        .replace("value v S V", "value v S V \"1 0 0\"");
    let files: [(&str, &[u8]); 3] =
        [("root", &root), ("one", one.as_bytes()), ("two", two.as_bytes())];
    same_rows(
        &files,
        "stype Own P T\ncreate 1 r P h\nset 1 T r x\nset 1 S p a\nvalue v S V \"1 0 0\"\nset 2 T r x\nset 2 S p v\nfrom 1 L h m p k\nto 2 L h m r k\n",
    );
}

/// Definitions of a file may be repeated by another, but not otherwise, and not by itself.
#[test]
fn what_is_no_repetition() {
    let fails = |first: &str, second: &str, code: &str| {
        let root = lines("file p P one\nfile q P two\n");
        let files: [(&str, &[u8]); 3] =
            [("root", &root), ("one", first.as_bytes()), ("two", second.as_bytes())];
        let (status, out, said) = run(&kept(&files), &["root"]);
        assert!(status == 1 && out.is_empty() && said.contains(code), "{first}{second}: {said}");
    };
    for said in ["stype Own P T\n", "create 1 r P h\n", "value v S V red\n"] {
        let said = said.replace("red", "\"1 0 0\"");
        let twice = format!("{said}{said}");
        fails(&twice, "", "pj_dump: one:2:");
        fails(&said, &twice, "pj_dump: two:2:");
    }
    for (said, otherwise) in [
        ("stype Own P T\n", "stype Other P T\n"),
        ("stype Own P T\n", "vtype Own P T\n"),
        ("stype Own P T\n", "stype Own H T\n"),
        ("ltype Own H P P T\n", "ltype Own H P H T\n"),
        ("create 1 r P h\n", "create 2 r P h\n"),
        ("create_as 1 r P h x\n", "create_as 1 s P h x\n"),
        ("value v S V \"1 0 0\"\n", "value v S W \"1 0 0\"\n"),
        ("set 1 S p v\n", "value v S W \"1 0 0\"\n"),
        ("destroy 5 P p\n", "destroy 4 P p\n"),
    ] {
        fails(said, otherwise, "pj_dump: two:1:");
    }
    fails("", "file p H one\n", "two:1:8: container 'p' is of type 'Process' (P), not 'Host' (H)");
    fails("", "file x P one\n", "two:1:6: unknown container 'x'");
    fails("set 1 S p a\n", "set 0 S p a\n", "two:1:5: time 0 is earlier than 1");
}

/// A destruction is for the lines behind it in its file.
#[test]
fn destructions() {
    let run_all = |lines_of_root: &str, one: &str, two: &str| {
        let root = lines(lines_of_root);
        let files: [(&str, &[u8]); 3] =
            [("root", &root), ("one", one.as_bytes()), ("two", two.as_bytes())];
        let folder = kept(&files);
        let (status, out, said) = run(&folder, &["--threads", "1", "root"]);
        for threads in ["2", "3"] {
            let again = run(&folder, &["--threads", threads, "root"]);
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
    // In the trace itself, after the naming: the file's lines count.
    let root = format!("{named}destroy 9 P p\n");
    assert_eq!(run_all(&root, "set 1 S p a\n", ""), (0, 1, String::new()));
    // In the file too: those behind it do not.
    let one = "set 1 S p a\ndestroy 9 P p\nset 9 S p a\n";
    assert_eq!(run_all(&root, one, "set 9 S p b\n"), (0, 2, after(3, "one", "PajeSetState (set)")));
    // With all that the container is in, and with it alone.
    let root = format!("{named}destroy 9 H h\n");
    let one = "set 1 S p a\ndestroy 9 H h\nset 9 S p a\n";
    assert_eq!(run_all(&root, one, ""), (0, 1, after(3, "one", "PajeSetState (set)")));
    let one = "set 1 S p a\ndestroy 9 P p\nset 9 S p a\nset 9 S q a\n";
    assert_eq!(
        run_all(&root, one, "set 1 S q a\n").2,
        "pj_dump: two:1:5: time 1 is earlier than 9, where type 'State' (S) of container 'q' already is; \
         the events of a container and type must be in time order\n 1 | set 1 S q a\n   |     ^\n\
         pj_dump: hint: `--sort` replays the trace sorted by time, as `sort -s` would\n"
    );
    assert_eq!(run_all(&root, one, ""), (0, 2, after(3, "one", "PajeSetState (set)")));
    // Twice in one file.
    let one = "destroy 9 P p\ndestroy 9 P p\n";
    assert_eq!(run_all(&root, one, ""), (0, 0, after(2, "one", "PajeDestroyContainer (destroy)")));
    // Later than in the other.
    assert_eq!(
        run_all(&root, "destroy 10 P p\n", ""),
        (0, 0, after(1, "one", "PajeDestroyContainer (destroy)"))
    );
    // Containers that a file has created by then end, too, and those that it creates afterwards do not.
    let two = "create 1 r P h\nset 2 S r a\ndestroy 9 H h\nset 9 S r b\n";
    assert_eq!(
        run_all(named, "destroy 9 H h\n", two),
        (0, 1, after(4, "two", "PajeSetState (set)"))
    );
    let two = "destroy 9 H h\ncreate 9 r P h\nset 9 S r a\n";
    assert_eq!(run_all(named, "destroy 9 H h\n", two), (0, 1, String::new()));
    // Before the first name: no file's lines count.
    let root = format!("destroy 9 P p\n{named}");
    assert_eq!(
        run_all(&root, "set 1 S p a\n", "set 1 S q a\n"),
        (0, 1, after(1, "one", "PajeSetState (set)"))
    );
    // Too early for what a file has, told where it stands.
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
fn files_that_cannot_be_read() {
    let line = crate::world::lines_before() + 1;
    let root = lines("file p P below/p\n");
    let fails = |files: &[(&str, &[u8])], wanted: (i32, String)| {
        let folder = kept(files);
        for options in [&["root"][..], &["--sort", "root"], &["-o", "-q", "root"]] {
            let (status, out, said) = run(&folder, options);
            let first = said.lines().next().unwrap_or_default().to_owned();
            assert_eq!((status, first, &out[..]), (wanted.0, wanted.1.clone(), ""), "{options:?}");
        }
    };
    let missing = "No such file or directory";
    fails(
        &[("root", &root)],
        (2, format!("pj_dump: root:{line}:10: cannot read 'below/p': {missing}")),
    );
    let below: (&str, &[u8]) = ("below/p", b"set 1 S p a\nfile p P none\n");
    fails(
        &[("root", &root), below],
        (2, format!("pj_dump: below/p:2:10: cannot read 'below/none': {missing}")),
    );
    let below: (&str, &[u8]) = ("below/p/file", b"");
    fails(
        &[("root", &root), below],
        (2, format!("pj_dump: root:{line}:10: cannot read 'below/p': Is a directory")),
    );
    // Cut off, and made invalid by that or not.
    for text in ["set 1 S p a\nset 2 S p b\n", "set 1 S p a\nset 2 S x b\n"] {
        let packed = pack("gzip", text.as_bytes());
        let below: (&str, &[u8]) = ("below/p", &packed[..packed.len() - 4]);
        let folder = kept(&[("root", &root), below]);
        let (status, _, said) = run(&folder, &["root"]);
        assert!(
            status == 2 && said.contains(&format!("root:{line}:10: cannot read 'below/p': ")),
            "{said}"
        );
    }
    // Circles of one, of two, and under another name.
    let circle = |file: &str, name: &str| {
        format!(
            "pj_dump: {file}: file '{name}' is this one, or one that leads to it by the files it names; it would never end"
        )
    };
    let own = lines("file p P ./root\n");
    fails(&[("root", &own)], (1, circle(&format!("root:{line}:10"), "./root")));
    let below: (&str, &[u8]) = ("below/p", b"file q P ../root\n");
    fails(&[("root", &root), below], (1, circle("below/p:1:10", "../root")));
}

#[test]
fn what_is_wrong_in_a_file_is_told_with_its_name() {
    let root = lines("file p P below/p\nfile q P q\n");
    let fails = |p: &str, q: &str, wanted: &str| {
        let files: [(&str, &[u8]); 3] =
            [("root", &root), ("below/p", p.as_bytes()), ("q", q.as_bytes())];
        let (status, out, said) = run(&kept(&files), &["root"]);
        assert!(status == 1 && out.is_empty(), "{p}{q}");
        assert!(said.starts_with(wanted), "{said}");
    };
    fails("\nset 1 S p a\nset x S p a", "", "pj_dump: below/p:3:5: 'x' is not a time");
    fails("set 1 S p a", "\nset 1 S y a\n", "pj_dump: q:2:9: unknown container 'y'");
    fails(
        "%EventDef PajeSetState 7\n",
        "set 1 S y a\n",
        "pj_dump: below/p: the definition is not finished",
    );
    fails("", "%EventDef PajeSetState 7\n", "pj_dump: q: the definition is not finished");
    // A trace must not be empty, its files may.
    let files: [(&str, &[u8]); 3] = [("root", &root), ("below/p", b""), ("q", b"# nothing\n")];
    assert_eq!(run(&kept(&files), &["-q", "root"]), (0, String::new(), String::new()));
}

#[test]
fn compressed_files_and_standard_input() {
    let text = "set 1 S p a\nset 2 S p b\n";
    let root = lines("file p P p\n");
    for how in COMPRESSIONS {
        let folder = kept(&[
            ("root", &root),
            ("packed", &pack(how, &root)),
            ("p", &pack(how, text.as_bytes())),
        ]);
        fs::write(folder.path().join("whole"), lines(text)).expect("writable");
        let wanted = run(&folder, &["whole"]);
        assert_eq!(run(&folder, &["root"]), wanted);
        assert_eq!(run(&folder, &["packed"]), wanted);
        assert_eq!(run(&folder, &["--sort", "packed"]), wanted);
        let mut command = crate::cli::command(&folder, &["-"]);
        command.stdin(fs::File::open(folder.path().join("root")).expect("it was written"));
        assert_eq!(crate::cli::outcome(&command.output().expect("it starts")), wanted);
    }
}

/// `""` is no name, whether files are read or not; the line's time counts.
#[test]
fn a_name_that_is_empty() {
    let definition = "%EventDef PajeTraceFile x\n% Time date\n% Container string\n% Type string\n\
                      % Filename string\n%EndEventDef\n";
    let folder = kept(&[("root", &trace(format!("{definition}x 77 0 0 \"\"\n").as_bytes()))]);
    for options in [&["root"][..], &["root", "--no-files"]] {
        let (status, rows, said) = run(&folder, options);
        assert_eq!((status, &*said), (0, ""));
        assert!(rows.starts_with("Container, 0, 0, 0, 77, 77, 0\n"), "{rows}");
    }
}

#[test]
fn files_may_be_left_unread() {
    let root = lines("set 1 S p a\nfile p P none\nfile nobody P none\n");
    let folder = kept(&[("root", &root)]);
    let (status, rows, said) = run(&folder, &["--no-files", "root"]);
    let line = crate::world::lines_before() + 2;
    assert_eq!(
        said,
        format!(
            "pj_dump: root:{line}: warning: the trace file that PajeTraceFile (file) names here is not read (2 lines)\n"
        )
    );
    fs::write(folder.path().join("whole"), lines("set 1 S p a\n")).expect("writable");
    assert_eq!((status, rows), (0, run(&folder, &["whole"]).1));
    // An empty name names nothing.
    fs::write(folder.path().join("none"), lines("set 1 S p a\nfile p P \"\"\n")).expect("writable");
    assert_eq!(run(&folder, &["none"]), run(&folder, &["whole"]));
}

/// Also creations that are too late, whose files are about containers that do not exist then.
#[test]
fn files_and_a_time_to_stop_at() {
    let root = lines("file p P p\ncreate 5 r P h\nfile r P r\n");
    let folder =
        kept(&[("root", &root), ("p", b"set 1 S p a\nset 7 S p b\n"), ("r", b"set 6 S r a\n")]);
    let whole = lines("create 5 r P h\nset 1 S p a\nset 7 S p b\nset 6 S r a\n");
    fs::write(folder.path().join("whole"), whole).expect("writable");
    for stop in ["0.5", "3", "5.5", "6.5", "9"] {
        assert_eq!(
            run(&folder, &["-a", stop, "root"]),
            run(&folder, &["-a", stop, "whole"]),
            "{stop}"
        );
    }
}

/// Thousands of files, of which few are open at a time.
#[test]
fn many_files() {
    const FILES: usize = 3000;
    let folder = folder();
    let (mut root, mut whole) = (String::new(), String::new());
    for i in 0..FILES {
        root.push_str(&format!("create 0 c{i} P h\nfile c{i} P f/{i}\n"));
        whole.push_str(&format!("create 0 c{i} P h\n"));
    }
    fs::create_dir(folder.path().join("f")).expect("writable");
    for i in 0..FILES {
        let text = format!("set {i} S c{i} a\n");
        fs::write(folder.path().join(format!("f/{i}")), &text).expect("writable");
        whole.push_str(&text);
    }
    fs::write(folder.path().join("root"), lines(&root)).expect("writable");
    fs::write(folder.path().join("whole"), lines(&whole)).expect("writable");
    let wanted = run(&folder, &["whole"]);
    let program = assert_cmd::cargo::cargo_bin!("pj_dump");
    for options in ["--threads 1", "--threads 4", "--sort"] {
        let script = format!("ulimit -n 64; exec \"$0\" {options} root");
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(script).arg(program).current_dir(folder.path());
        let found = crate::cli::outcome(&shell.output().expect("there is a shell"));
        assert!(found == wanted, "{options}: {}", found.2);
    }
}

/// Portions go on over the files; what they show does not depend on threads and blocks.
#[test]
fn portions_over_files() {
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
                let (mut out, written) = (Vec::new(), Written::default());
                let mut stream = RowStream::new(style, false, workers, &mut out, &written);
                let mut options = Options::default();
                options.limits.block = block;
                options.decoder_symbols = 4;
                let input = Input::open(Some(&root)).expect("it was written");
                let source =
                    Source::from(input).reading_files(Some(root.clone()), Folders::of([&*root]));
                let progress = Progress::default();
                let mut show = |portion: &Portion<'_>| stream.show(portion);
                Trace::read_in_portions(source, &options, workers, &progress, bytes, &mut show)
                    .expect("the pieces are valid");
                stream.finish().expect("memory can be written");
                assert_eq!(first.get_or_insert_with(|| out.clone()), &out, "{cut_as:?} {bytes}");
            }
            assert_eq!(sorted(&first.expect("there are ways")), wanted, "{cut_as:?} {bytes}");
        }
    }
}

/// Pieces that are whole traces, all or some, in any order.
#[test]
fn several_files_are_one_trace() {
    for shape in [Shape::Mpi, Shape::TaskRuntime] {
        let text = generate(shape, 60_000, 5);
        let folder = folder();
        let rows = |files: &[&str]| {
            let (status, rows, said) = run(&folder, &[&["-z"], files].concat());
            assert_eq!((status, &*said), (0, ""));
            rows
        };
        fs::write(folder.path().join("whole.trace"), &text).expect("it can be written");
        let wanted = rows(&["whole.trace"]);
        let cut = datasets::files::cut(&text, Style::Full, 4);
        cut.write(folder.path()).expect("it can be written");
        let mut pieces: Vec<&str> = cut.pieces.iter().map(|piece| &*piece.name).collect();
        assert_eq!(pieces.len(), 4);
        assert_eq!(rows(&pieces), wanted);
        pieces.reverse();
        assert_eq!(rows(&pieces), wanted);
        // Of the rows that are not containers, each is in one piece.
        let others = |rows: &str| rows.lines().filter(|row| !row.starts_with("Container")).count();
        let halves = others(&rows(&pieces[..2])) + others(&rows(&pieces[2..]));
        assert_eq!(halves, others(&wanted));
        // The same file again is no more.
        pieces.push(pieces[0]);
        assert_eq!(rows(&pieces), wanted);
        let (status, rows, said) = run(&folder, &["whole.trace", "no-such.trace"]);
        assert_eq!((status, &*rows), (2, ""));
        assert_eq!(said, "pj_dump: no-such.trace: No such file or directory\n");
    }
}
