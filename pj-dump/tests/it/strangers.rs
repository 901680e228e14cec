//! Traces that somebody else wrote, and what they may make the program read and show.

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use crate::cli::{command, outcome, run};
use crate::world::{lines_before, trace};

/// A folder with `run/root`, a trace of these lines, and other files; the program runs in it.
fn folder(root: &str, files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let root = trace(root.as_bytes());
    let files = files.iter().map(|(name, text)| (*name, text.as_bytes()));
    for (name, bytes) in files.chain([("run/root", &root[..])]) {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("writable");
        fs::write(path, bytes).expect("writable");
    }
    folder
}

fn link(folder: &TempDir, from: &str, to: &str) {
    symlink(to, folder.path().join(from)).expect("the folder is writable");
}

/// In the words of the program, and without the name of the temporary folder.
fn said(folder: &TempDir, arguments: &[&str]) -> (i32, String) {
    let (status, rows, said) = run(folder, arguments);
    assert!(status == 0 || rows.is_empty() || arguments.contains(&"--recover"), "{rows}");
    let real = folder.path().canonicalize().expect("it is there");
    (status, said.replace(&*real.to_string_lossy(), "TMP"))
}

const PIECE: &str = "set 1 S p a\nset 2 S p b\n";

#[test]
fn files_elsewhere_are_not_read() {
    let folder = folder("file p P ../other/piece\n", &[("other/piece", PIECE)]);
    let line = lines_before() + 1;
    let text = "file p P ../other/piece";
    let caret = " ".repeat(line.to_string().len());
    let wanted = format!(
        "pj_dump: run/root:{line}:10: cannot read 'run/../other/piece': TMP/other/piece is not below the \
         trace's folder\n {line} | {text}\n {caret} |          ^^^^^^^^^^^^^^\n\
         pj_dump: hint: `--files-from TMP/other` lets a trace name files there\n"
    );
    for options in [&[][..], &["--sort"], &["-o", "-q"], &["--files-from", "run"]] {
        let found = said(&folder, &[options, &["run/root"]].concat());
        assert_eq!(found, (2, wanted.clone()), "{options:?}");
    }
    let (status, told) = said(&folder, &["--recover", "run/root"]);
    assert!(status == 1 && told.contains("skipped: cannot read 'run/../other/piece'"), "{told}");
    assert!(told.ends_with("hint: `--files-from TMP/other` lets a trace name files there\n"));

    let whole = trace(PIECE.as_bytes());
    fs::write(folder.path().join("whole"), whole).expect("writable");
    let rows = run(&folder, &["whole"]);
    for allowed in ["other", ".", "/"] {
        assert_eq!(run(&folder, &["--files-from", allowed, "run/root"]), rows, "{allowed}");
        let sorted = ["--files-from", "run", "--files-from", allowed, "--sort", "run/root"];
        assert_eq!(run(&folder, &sorted), rows, "{allowed}");
    }
    // The user names it, and it may be anywhere.
    assert_eq!(run(&folder, &["run/root", "other/piece"]), rows);
    let missing = (2, "pj_dump: none: No such file or directory\n".to_owned());
    assert_eq!(said(&folder, &["--files-from", "none", "run/root"]), missing);
    let file = (2, "pj_dump: whole: Not a directory\n".to_owned());
    assert_eq!(said(&folder, &["--files-from", "whole", "run/root"]), file);
}

#[test]
fn links_are_followed_before_anything_is_decided() {
    let root = "file p P link\n";
    let elsewhere = folder(root, &[("secret", PIECE)]);
    link(&elsewhere, "run/link", "../secret");
    let (status, told) = said(&elsewhere, &["run/root"]);
    assert!(status == 2 && told.contains("TMP/secret is not below the trace's folder"), "{told}");
    let inside = folder(root, &[("run/pieces/one", PIECE)]);
    link(&inside, "run/link", "pieces/one");
    assert_eq!(said(&inside, &["run/root"]), (0, String::new()));
    // The trace may be called by a way that has links.
    link(&inside, "way", "run");
    assert_eq!(said(&inside, &["way/root"]), (0, String::new()));
    let folder = folder("file p P ../pieces/one\n", &[("pieces/one", PIECE)]);
    link(&folder, "link", "run/root");
    let (status, told) = said(&folder, &["link"]);
    assert!(status == 2 && told.contains("No such file"), "names count from where it lies: {told}");
}

/// The folder of the trace holds for what its files name.
#[test]
fn pieces_may_name_their_neighbours() {
    let files = [("run/a/one", "set 1 S p a\nfile q P ../b/two\n"), ("run/b/two", "set 1 S q a\n")];
    let folder = folder("file p P a/one\n", &files);
    assert_eq!(said(&folder, &["run/root"]), (0, String::new()));
    fs::write(folder.path().join("run/b/two"), "set 1 S q a\nfile q P ../../secret\n")
        .expect("writable");
    fs::write(folder.path().join("secret"), PIECE).expect("writable");
    let (status, told) = said(&folder, &["run/root"]);
    let wanted = "pj_dump: run/a/../b/two:2:10: cannot read 'run/a/../b/../../secret': ";
    assert!(status == 2 && told.starts_with(wanted), "{told}");
}

#[test]
fn what_standard_input_names_is_below_the_current_folder() {
    let folder = folder("file p P run/piece\nfile q P ../other\n", &[("run/piece", PIECE)]);
    let stdin = fs::File::open(folder.path().join("run/root")).expect("it was written");
    let mut command = command(&folder, &["-"]);
    let (status, _, told) = outcome(&command.stdin(stdin).output().expect("it starts"));
    assert!(status == 2 && told.contains("cannot read '../other': No such file"), "{told}");
    fs::write(folder.path().join("run/root"), trace(b"file p P run/piece\nfile q P /etc/passwd\n"))
        .expect("writable");
    let stdin = fs::File::open(folder.path().join("run/root")).expect("it was written");
    let mut command = crate::cli::command(&folder, &[]);
    let (status, _, told) = outcome(&command.stdin(stdin).output().expect("it starts"));
    assert!(status == 2 && told.contains("/etc/passwd is not below the trace's folder"), "{told}");
    // Problems in a file are told with its name.
    fs::write(folder.path().join("run/root"), trace(b"set 5 S p a\nfile p P run/piece\n"))
        .expect("writable");
    let stdin = fs::File::open(folder.path().join("run/root")).expect("it was written");
    let mut command = crate::cli::command(&folder, &[]);
    let (status, _, told) = outcome(&command.stdin(stdin).output().expect("it starts"));
    assert!(status == 1 && told.starts_with("pj_dump: run/piece:1:5: time 1 is earlier"), "{told}");
}

/// None of these ends, or blocks: a pipe without a writer, a device without an end.
#[cfg(target_os = "linux")]
#[test]
fn only_regular_files() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let folder = folder("file p P pipe\n", &[]);
    let path = folder.path().join("run/pipe");
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    for (name, what) in [("pipe", "a pipe"), ("/dev/zero", "a device"), ("/dev/null", "a device")] {
        let root = trace(format!("file p P {name}\n").as_bytes());
        fs::write(folder.path().join("run/root"), root).expect("writable");
        let wanted = format!("it is {what}; a trace may name regular files only");
        for options in [&["--files-from=/dev"][..], &["--files-from=/", "--recover"]] {
            let (status, told) = said(&folder, &[options, &["run/root"]].concat());
            let failed = if options.len() == 2 { 1 } else { 2 };
            assert!(status == failed && told.contains(&wanted), "{name}: {told}");
        }
    }
}

/// Nothing of it is shown, neither its lines nor words of them.
#[test]
fn what_is_no_trace_is_not_shown() {
    let secret = "\n# shadow\nroot:$6$salt$hash:1::\nbackup:*:hash\n";
    let folder = folder("file p P x\n", &[("run/x", secret)]);
    let wanted = "this is no line of a Pajé trace; of a file that a trace names, nothing is shown \
                  before a line makes sense";
    for options in [&[][..], &["--sort"], &["-o", "-q"]] {
        let found = said(&folder, &[options, &["run/root"]].concat());
        assert_eq!(found, (1, format!("pj_dump: run/x:3:1: {wanted}\n")), "{options:?}");
    }
    let (status, told) = said(&folder, &["--recover", "run/root"]);
    let recovered = format!("pj_dump: run/x:3:1: skipped: {wanted} (and 1 more)\n");
    assert!(status == 1 && told.starts_with(&recovered), "{told}");
    // Also where the trace gives its first word a meaning, and of its own header.
    let own = "%EventDef PajeSetState login\n% Time date\n% Type string\n% Container string\n\
               % Value string\n%EndEventDef\nfile p P x\n";
    fs::write(folder.path().join("run/root"), trace(own.as_bytes())).expect("writable");
    for secret in ["login me password hash\n", "% hash\nlogin\n", "login 1 hash\n"] {
        fs::write(folder.path().join("run/x"), secret).expect("writable");
        for options in [&[][..], &["--recover"], &["--sort"]] {
            let (status, told) = said(&folder, &[options, &["run/root"]].concat());
            assert!(status == 1 && told.contains(wanted) && !told.contains("hash"), "{told}");
            assert!(!told.contains("password"), "{told}");
        }
    }
    // Files that have begun as a trace are shown.
    fs::write(folder.path().join("run/x"), "what\nset 1 S p a\nset x S p a\n").expect("writable");
    let (_, told) = said(&folder, &["--recover", "run/root"]);
    let told: Vec<&str> = told.lines().collect();
    assert!(told[0].starts_with("pj_dump: run/x:1:1: skipped: this is no line"), "{told:?}");
    assert!(told[1].starts_with("pj_dump: run/x:3:5: skipped: 'x' is not a time"), "{told:?}");
    fs::write(folder.path().join("run/x"), "set 1 S p a\nset x S p a\n").expect("writable");
    let (status, told) = said(&folder, &["run/root"]);
    assert!(status == 1 && told.contains("seconds\n 2 | set x S p a\n"), "{told}");
}

/// Whoever names a file cannot make the terminal do something.
#[test]
fn names_of_files_are_escaped() {
    let folder = folder("", &[]);
    let name = "\u{1b}[31mred\u{202e}.trace";
    let shown = "\\u{1b}[31mred\\u{202e}.trace";
    let missing = (2, format!("pj_dump: {shown}: No such file or directory\n"));
    assert_eq!(said(&folder, &[name]), missing);
    assert_eq!(said(&folder, &["run/root", name]), missing);
    for (text, wanted) in [
        ("pop 1 S p\n", format!("pj_dump: {shown}:{}:9: no state", lines_before() + 1)),
        ("set 1 S p a b\n", format!("pj_dump: {shown}:{}: warning: ", lines_before() + 1)),
        ("%EventDef PajeSetState x\n", format!("pj_dump: {shown}: the definition is not")),
    ] {
        fs::write(folder.path().join(name), trace(text.as_bytes())).expect("writable");
        let (_, _, told) = run(&folder, &[name]);
        assert!(told.starts_with(&wanted) && !told.contains('\u{1b}'), "{told:?}");
        let (_, _, told) = run(&folder, &["--recover", "--verbose", name]);
        assert!(told.contains(shown) && !told.contains('\u{1b}'), "{told:?}");
    }
}

/// By content, in one sentence; from a file, through a pipe, compressed, and where a trace names it.
#[test]
fn what_people_take_for_a_trace() {
    let mut tar = vec![0; 1024];
    tar[..7].copy_from_slice(b"a.trace");
    tar[257..262].copy_from_slice(b"ustar");
    let sixteen: Vec<u8> = "%EventDef".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let folder = folder("file p P ../thing\n", &[]);
    for (bytes, wanted) in [
        (b"PK\x03\x04\x14\0".to_vec(), "this is a zip archive, not a Pajé trace; unpack it first"),
        (tar, "this is a tar archive, not a Pajé trace; unpack it first"),
        (
            b"\x04\x22\x4d\x18\x64\x40\xa7".to_vec(),
            "this is compressed with lz4, not a Pajé trace; decompress it first (gzip, zstd, xz and \
             bzip2 are read as they are)",
        ),
        (
            [&b"\xff\xfe"[..], &sixteen].concat(),
            "this is text in UTF-16, not a Pajé trace; convert it to UTF-8 first, with iconv for example",
        ),
        (
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x04\0\x3e\0".to_vec(),
            "this is a core dump, not a Pajé trace",
        ),
        (b"%PDF-1.7\n".to_vec(), "this is a PDF document, not a Pajé trace"),
    ] {
        fs::write(folder.path().join("thing"), &bytes).expect("writable");
        for options in [&[][..], &["--sort"], &["--recover"]] {
            let found = said(&folder, &[options, &["thing"]].concat());
            assert_eq!(found, (2, format!("pj_dump: thing: {wanted}\n")));
        }
        let (status, _, told) = outcome(&crate::world::dump(&[], &bytes));
        assert_eq!((status, told), (2, format!("pj_dump: <stdin>: {wanted}\n")));
        let named = said(&folder, &["--files-from=.", "run/root"]);
        let place = format!(":10: cannot read 'run/../thing': {wanted}\n");
        assert!(named.0 == 2 && named.1.contains(&place), "{}", named.1);
        for how in testkit::COMPRESSIONS {
            fs::write(folder.path().join("thing"), testkit::pack(how, &bytes)).expect("writable");
            let found = said(&folder, &["thing"]);
            assert_eq!(found, (2, format!("pj_dump: thing: {how}: {wanted}\n")));
        }
    }
}

/// The rows are those without it, whatever the trace is kept in.
#[test]
fn a_byte_order_mark_is_passed_over() {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let text = trace(b"set 1 S p a\nfile p P piece\n");
    let folder = folder("", &[]);
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.path().join(name), bytes).expect("writable");
    };
    write("piece", b"set 2 S p b\n");
    write("plain", &text);
    let rows = run(&folder, &["plain"]).1;
    write("piece", &[MARK, b"set 2 S p b\n"].concat());
    let whole = [MARK, &text].concat();
    // Once, for however many files.
    let sentence = "warning: the file begins with a byte order mark, which is not part of the format; it \
                    is passed over";
    for bytes in [whole.clone(), testkit::pack("gzip", &whole)] {
        write("t", &bytes);
        for options in [&["--threads=1"][..], &["--threads=3"], &["--sort"], &["--recover"]] {
            let found = run(&folder, &[options, &["t"]].concat());
            let wanted = format!("pj_dump: t:1: {sentence}\n");
            assert_eq!(found, (0, rows.clone(), wanted), "{options:?}");
        }
    }
    // Elsewhere it is what it is.
    write("t", &[&text[..], MARK, b"set 1 S p a\n"].concat());
    let (status, _, told) = run(&folder, &["--sort", "t"]);
    assert!(status == 1 && told.contains("with number '\\u{feff}set'"), "{told}");
}

/// Two runs that somebody wants to dump together.
#[test]
fn several_traces_are_not_one() {
    let folder = folder("set 5 S p a\n", &[]);
    let hint = "hint: several files are one trace, such as the pieces of one; of several traces, dump each by \
                itself: for trace in FILE...; do pj_dump \"$trace\"; done\n";
    let other = String::from_utf8(trace(b"set 5 S p a\n")).expect("text");
    for (other, wanted) in [
        (other.replace("stype State P S", "stype Mode P S"), "type 'State' (S) is already defined"),
        (other.replace("create 0 q", "create 1 q"), "container 'q' already exists"),
        (other.replace("set 5", "set 4"), "time 4 is earlier than 5"),
    ] {
        fs::write(folder.path().join("other"), other).expect("writable");
        let (status, told) = said(&folder, &["run/root", "other"]);
        assert!(status == 1 && told.contains(wanted) && told.ends_with(hint), "{told}");
    }
    // Neither of one file nor of other problems.
    let (_, told) = said(&folder, &["other"]);
    assert_eq!(told, "");
    fs::write(folder.path().join("other"), "pop 9 S q\n").expect("writable");
    let (status, told) = said(&folder, &["run/root", "other"]);
    assert!(status == 1 && !told.contains("several files"), "{told}");
}

/// Names of older traces are told from names that are misspelt.
#[test]
fn field_names_that_are_not_known() {
    let folder = folder("", &[]);
    let definition = |fields: &str| format!("%EventDef PajePopState 9\n{fields}%EndEventDef\n");
    let old = definition("% Time date\n% EntityType string\n% Container string\n");
    fs::write(folder.path().join("t"), old).expect("writable");
    let (_, told) = said(&folder, &["t"]);
    let wanted = "pj_dump: t:5:1: the definition of PajePopState lacks its obligatory field Type; it has \
                  the name that this had in older traces\n 5 | %EndEventDef\n   | ^^^^^^^^^^^^\n\
                  pj_dump: hint: `-n` reads the field names of older traces\n";
    assert_eq!(told, wanted);
    let misspelt = definition("% Tme date\n% Type string\n% Container string\n");
    fs::write(folder.path().join("t"), misspelt).expect("writable");
    let (_, told) = said(&folder, &["t"]);
    let wanted = "lacks its obligatory field Time; its field 1 has nearly that name\n 5 |";
    assert!(told.contains(wanted) && !told.contains("-n"), "{told}");
}

/// As a shell gives all that is in a folder of pieces.
#[test]
fn a_root_is_given_alone() {
    let piece = String::from_utf8(trace(PIECE.as_bytes())).expect("a trace in ASCII");
    let folder = folder("file p P piece\n", &[("run/piece", &piece)]);
    let hint = "pj_dump: hint: a file that names others is given alone, as the root.trace that pj_split writes; or the \
                pieces without it\n";
    let (status, told) = said(&folder, &["run/piece", "run/root"]);
    assert!(status == 1 && told.ends_with(hint), "{told}");
    assert_eq!(said(&folder, &["run/root"]), (0, String::new()));
}
