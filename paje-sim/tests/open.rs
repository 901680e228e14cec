//! Tests traces that are opened by file name.

use std::fs;
use std::path::{Path, PathBuf};

use paje_sim::{ErrorKind, Options, Trace};
use paje_workers::Workers;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples").join(name)
}

const HEADER: &str = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 2\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeTraceFile 3\n% Container string\n% Type string\n% Filename string\n%EndEventDef
1 Host 0
";

#[test]
fn named_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("root.trace");
    fs::write(&path, format!("{HEADER}2 0 one Host 0\n3 0 0 further.trace\n")).unwrap();
    let further = folder.path().join("further.trace");
    fs::write(&further, format!("{HEADER}2 1 two Host 0\n")).unwrap();
    let trace = Trace::open(&path).unwrap();
    assert_eq!(trace.counts().containers, 2);
    assert!(trace.warnings().is_empty(), "{:?}", trace.warnings());

    // Messages name the file with the problem.
    fs::write(&further, format!("{HEADER}2 1 two Host nowhere\n")).unwrap();
    let error = Trace::open(&path).unwrap_err().to_string();
    let place = format!("{}:17:14: ", further.display());
    assert!(error.starts_with(&place), "{error}");

    // A file outside of the trace's folder is refused.
    fs::write(&path, format!("{HEADER}3 0 0 /etc/passwd\n")).unwrap();
    assert!(Trace::open(&path).is_err());
}

#[test]
fn errors_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.trace");
    let error = Trace::open(&missing).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(_)));
    let start = format!("{}: No such file", missing.display());
    assert!(error.to_string().starts_with(&start), "{error}");

    let broken = folder.path().join("broken.trace");
    fs::write(&broken, format!("{HEADER}2 0 one Nothing 0\n")).unwrap();
    let error = Trace::open(&broken).unwrap_err();
    let start = format!("{}:17:9: ", broken.display());
    assert!(error.to_string().starts_with(&start), "{error}");

    // If the input is bytes, messages have no file name.
    let text = fs::read(&broken).unwrap();
    let plain = Trace::read(&text[..], &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), format!("{}:17:9: {plain}", broken.display()));

    // A problem that does not concern a line has no line number.
    fs::write(&broken, "").unwrap();
    let error = Trace::open(&broken).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: ", broken.display())), "{error}");
}

#[test]
fn options_and_workers_count() {
    let mut options = Options::default();
    (options.stop_at, options.ignore_incomplete_links) = (Some(0.01), true);
    let some = Trace::open_with(example("mpi.trace"), &options, &Workers::one()).unwrap();
    let all = Trace::open(example("mpi.trace")).unwrap();
    assert_eq!(some.end(), 0.01);
    assert!(some.counts().states < all.counts().states);
    let (workers, path) = (Workers::one(), example("mpi.trace"));
    let alone = Trace::open_with(path, &Options::default(), &workers).unwrap();
    let rows = |trace: &Trace| trace.states().map(|state| format!("{state:?}")).collect::<Vec<_>>();
    assert_eq!(rows(&alone), rows(&all));
}

#[test]
fn halves_of_ignored_links_are_kept() {
    let text = fs::read_to_string(example("mpi.trace")).unwrap();
    let mut options = Options::default();
    (options.ignore_incomplete_links, options.user_defined) = (true, true);
    options.keep_link_halves = true;
    let whole = Trace::read(text.as_bytes(), &options).unwrap();
    assert!(whole.link_halves().is_empty());
    // Leaves out the ends of links.
    let end = text.lines().find(|line| line.contains("PajeEndLink")).unwrap();
    let end = format!("{} ", end.rsplit(' ').next().unwrap());
    let lines = text.lines().filter(|line| !line.starts_with(&end));
    let open: String = lines.map(|line| format!("{line}\n")).collect();
    let mut found = Vec::new();
    for size in [64, 1 << 20] {
        options.limits = splitter::Limits { block: size, ..options.limits };
        let trace = Trace::read(open.as_bytes(), &options).unwrap();
        assert_eq!(trace.counts().links, 0);
        found.push(trace.link_halves().to_vec());
    }
    assert_eq!(found[0], found[1]);
    let links: Vec<_> = whole.links().map(|link| (link.start, link.from)).collect();
    let mut starts: Vec<_> = found[0].iter().map(|start| (start.time, start.container)).collect();
    assert!(found[0].iter().all(|half| !half.is_end));
    assert_eq!(starts.len(), links.len());
    starts.retain(|start| links.contains(start));
    assert_eq!(starts.len(), links.len());
}
