//! Tests the reports that are stored with a trace.

use std::cell::Cell;
use std::fs;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use paje_analysis::kept::{LANES, Lanes, REPORTS, VERSION};
use paje_pack::{Piece, Summaries};
use testkit::Rng;

use crate::cli::run;

/// Packs a text with these options. Returns the stored summaries, and the messages of the program.
fn kept(text: &[u8], options: &[&str]) -> (Vec<Option<Vec<u8>>>, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t"), text).unwrap();
    let (status, packed, said) = run(folder.path(), &[&["t", "-o", "-"], options].concat());
    assert_eq!(status, 0, "{said}");
    fs::write(folder.path().join("t.pjp"), &packed).unwrap();
    assert!(run(folder.path(), &["-u", "t.pjp"]).1 == text);
    let mut summaries = Summaries::new(Cursor::new(&packed)).unwrap();
    let found = REPORTS.map(|name| summaries.get(name, VERSION).unwrap());
    (found.into(), said)
}

fn trace() -> Vec<u8> {
    datasets::generate(datasets::Shape::ManyContainers, 400_000, 3)
}

#[test]
fn summaries_are_kept_for_sound_traces_only() {
    let sound = trace();
    let (found, said) = kept(&sound, &[]);
    assert!(found.iter().all(Option::is_some) && said.is_empty(), "{said}");
    // The number of threads and, in such a trace, the size of segments make no difference.
    for options in [&["--segment", "100K"][..], &["--threads", "1"], &["--threads", "4"]] {
        assert!(kept(&sound, options).0 == found);
    }
    // The replay only keeps the bytes of links if the first segment defines them.
    let field = testkit::definitions([(
        "999",
        "StartLink",
        "Time:date Type Container Value StartContainer Key Size:double",
    )]);
    let later = [&sound[..], field.as_bytes()].concat();
    assert!(kept(&later, &[]).0.iter().all(Option::is_some));
    assert_eq!(kept(&later, &["--segment", "100K"]).0, [None, None]);
    // The invalid line is at the start or at the end, where most of the trace has already been
    // replayed.
    let third = sound.len() / 3;
    let line = third + sound[third..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let early = [&sound[..line], b"not an event\n", &sound[line..]].concat();
    let late = [&sound[..], b"not an event\n"].concat();
    for text in [early, late, sound.iter().rev().copied().collect()] {
        assert_eq!(kept(&text, &["--segment", "100K"]), (vec![None, None], String::new()));
    }
}

#[test]
fn there_are_none_if_not_wanted_or_too_large() {
    let sound = trace();
    assert_eq!(kept(&sound, &["--no-summary"]).0, [None, None]);
    let small = datasets::generate(datasets::Shape::Mpi, 200_000, 3);
    assert_eq!(kept(&small, &[]).0, [None, None]);
    // All states have different names, and the trace has no links.
    let many = datasets::generate(datasets::Shape::UniqueValues, 300_000, 3);
    assert!(matches!(&kept(&many, &[]).0[..], [None, Some(_)]));
}

/// Each reference of the trace to a file causes a warning.
#[test]
fn a_trace_that_names_files_has_no_summaries() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/files"));
    let mut found = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let Ok(text) = fs::read(entry.unwrap().path()) else { continue };
        if text.windows(13).any(|word| word == b"PajeTraceFile") {
            let padded =
                [&text[..], &b"# a comment, so that a summary is small\n".repeat(5000)].concat();
            assert_eq!(kept(&padded, &[]).0, [None, None]);
            found += 1;
        }
    }
    assert!(found > 0);
}

/// Returns whether the windows of a packed text can be read in part, and the index of its lanes
/// with states.
fn has_windows(text: &[u8], options: &[&str]) -> bool {
    let folder = testkit::folder(&[("t", text)]);
    let (status, packed, said) = run(folder.path(), &[&["t", "-o", "-"], options].concat());
    assert_eq!(status, 0, "{said}");
    let mut summaries = Summaries::new(Cursor::new(&packed)).unwrap();
    let lanes = summaries.get(LANES, VERSION).unwrap();
    let window = summaries.window(0.0, 1.0).unwrap();
    assert_eq!(lanes.is_some(), window.is_some());
    lanes.is_some_and(|lanes| Lanes::parse(&lanes).unwrap().iter().count() > 0)
}

/// Returns a valid trace with long numbers and only a few open rows, and the offset of its first
/// event.
fn random() -> (String, usize) {
    let mut text = testkit::definitions([
        ("ctype", "DefineContainerType", "Name Type Alias"),
        ("stype", "DefineStateType", "Name Type Alias"),
        ("vtype", "DefineVariableType", "Name Type Alias"),
        ("ltype", "DefineLinkType", "Name Type StartContainerType EndContainerType Alias"),
        ("value", "DefineEntityValue", "Name Type Color:color"),
        ("create", "CreateContainer", "Time:date Name Type Container Alias"),
        ("push", "PushState", "Time:date Type Container Value"),
        ("pop", "PopState", "Time:date Type Container"),
        ("set", "SetVariable", "Time:date Type Container Value:double"),
        ("from", "StartLink", "Time:date Type Container Value StartContainer Key"),
        ("to", "EndLink", "Time:date Type Container Value EndContainer Key"),
    ]);
    text += "ctype Rank 0 R\nstype State R S\nvtype Power R V\nltype Link 0 R R L\n";
    text += "create 0 one R 0 1\ncreate 0 two R 0 2\n";
    let (begin, mut numbers) = (text.len(), Rng::new(5));
    for time in 0..1500 {
        let (rank, number) = (1 + time % 2, numbers.bits());
        text += &format!("push {time} S {rank} busy\nset {time} V {rank} {number}\n");
        text += &format!("from {time} L 0 PTP {rank} {number}\nto {time}.5 L 0 PTP 1 {number}\n");
        text += &format!("pop {time}.5 S {rank}\n");
    }
    (text, begin)
}

#[test]
fn a_sound_trace_can_be_read_in_parts_and_others_not() {
    let cut = &["--segment", "30K"][..];
    let (text, begin) = random();
    for options in [cut, &[cut, &["--threads", "4"]].concat()] {
        assert!(has_windows(text.as_bytes(), options), "{options:?}");
    }
    for options in [&[cut, &["--no-summary"]].concat()[..], &[]] {
        assert!(!has_windows(text.as_bytes(), options), "{options:?}");
    }
    // The lines of the borders are too large for segments of this size.
    assert!(!has_windows(&datasets::generate(datasets::Shape::Mpi, 200_000, 3), cut));
    let message = "from 0 L 0 PTP 1 twice\nto 0 L 0 PTP 1 twice\n".to_owned();
    for (what, lines) in [
        ("a comment", "# none of these\n".to_owned()),
        ("a message", message.clone()),
        (
            "a defined value in quotes",
            "value busy S \"1 0 0\"\npush 0 S 1 \"busy\"\npush 0 S 1 \"other\"\npop 0 S 1\npop 0 S 1\n"
                .to_owned(),
        ),
        ("a line that is none", "not an event\n".to_owned()),
        ("a pop without a push", "pop 0 S 1\n".to_owned()),
        ("two messages of one key", message.repeat(2)),
        ("a value with quotes here and without there", message.replace("PTP", "\"PTP\"")),
        ("a container by its name, and elsewhere by its alias", message.replace(" 1 ", " one ")),
    ] {
        let text = [&text[..begin], &lines, &text[begin..]].concat();
        let is_sound = ["a comment", "a message", "a defined value in quotes"].contains(&what);
        assert_eq!(has_windows(text.as_bytes(), cut), is_sound, "{what}");
    }
}

/// With 32 workers, the lines of all borders would be larger than the segments. Some borders are
/// left out, and the others take a few bytes.
#[test]
fn many_containers_have_windows() {
    let mut text = Vec::new();
    let shape = datasets::Shape::TaskRuntime;
    datasets::write_containers(shape, 8_000_000, 3, Some(32), &mut text).unwrap();
    let folder = testkit::folder(&[("t", &text)]);
    let pack = |options: &[&str]| run(folder.path(), &[&["t", "-o", "-"], options].concat()).1;
    let packed = pack(&["--segment", "20K"]);
    let infos = Summaries::new(Cursor::new(&packed)).unwrap().segment_infos().unwrap();
    let infos = infos.expect("windows");
    assert!((4..200).contains(&infos.len()), "{}", infos.len());
    assert!(packed.len() < pack(&["--segment", "20K", "--no-summary"]).len() * 102 / 100);
    assert_eq!(infos.iter().map(|info| info.text_bytes).sum::<u64>(), text.len() as u64);
}

#[test]
fn a_window_takes_few_bytes() {
    let folder = testkit::folder(&[("t", random().0.as_bytes())]);
    let (_, packed, _) = run(folder.path(), &["t", "-o", "-", "--segment", "10K"]);
    for from in (0..1500).step_by(100).map(f64::from) {
        let taken = Rc::new(Cell::new(0));
        let counted = Counted { bytes: Cursor::new(&packed), taken: Rc::clone(&taken) };
        let window = Summaries::new(counted).unwrap().window(from, from + 1e-6).unwrap();
        let mut window = window.unwrap();
        let mut count = 0;
        while let Some(piece) = window.next_piece().unwrap() {
            if let Piece::Segment(segment) = piece {
                count += 1;
                segment.unpack().unwrap();
            }
        }
        assert!((1..=2).contains(&count), "{count}");
        assert!(taken.get() * 8 < packed.len(), "{} of {}", taken.get(), packed.len());
    }
}

struct Counted<'p> {
    bytes: Cursor<&'p Vec<u8>>,
    taken: Rc<Cell<usize>>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.taken.set(self.taken.get() + count);
        Ok(count)
    }
}

impl Seek for Counted<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}
