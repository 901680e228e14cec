//! Tests time windows. A window has lines of the trace in order, and reading it reads only the
//! necessary segments.

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use paje_pack::{Error, Piece, Summaries, Text};
use pj_pack::pack::pack_all;
use splitter::{Block, Input};

struct Counted(Cursor<Vec<u8>>, Arc<AtomicU64>);

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        self.1.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// Returns the text of a window and the number of bytes read, or `None` if the trace has no index.
fn window(packed: &[u8], from: f64, to: f64) -> Result<Option<(Vec<u8>, u64)>, Error> {
    let read = Arc::new(AtomicU64::new(0));
    let packed = Counted(Cursor::new(packed.to_vec()), Arc::clone(&read));
    let Some(mut window) = Summaries::new(packed)?.window(from, to)? else { return Ok(None) };
    let mut text = Vec::new();
    while let Some(piece) = window.next_piece()? {
        text.extend(match piece {
            Piece::Lines(lines) => lines,
            Piece::Segment(segment) => segment.unpack()?,
        });
    }
    Ok(Some((text, read.load(Ordering::Relaxed))))
}

fn world() -> String {
    testkit::definitions([
        ("type", "DefineContainerType", "Name Type"),
        ("states", "DefineStateType", "Name Type"),
        ("links", "DefineLinkType", "Name Type StartContainerType EndContainerType"),
        ("create", "CreateContainer", "Time Name Type Container"),
        ("push", "PushState", "Time Type Container Value"),
        ("pop", "PopState", "Time Type Container"),
        ("from", "StartLink", "Time Type Container Value StartContainer Key"),
        ("to", "EndLink", "Time Type Container Value EndContainer Key"),
    ]) + "type P 0\nstates S P\nlinks L 0 P P\ncreate 0 p P 0\n"
}

/// Returns a trace with a state that lasts for the whole trace, shorter states inside it, and
/// links. Some of the links last long.
fn trace(rounds: usize) -> Vec<u8> {
    let mut text = world() + "push 0.5 S p all\n";
    for i in 1..=rounds {
        text += &format!("push {i}.1 S p some\nfrom {i}.2 L 0 v p {i}\npop {i}.3 S p\n");
        match i % 10 {
            0 => text += &format!("to {i}.4 L 0 v p {}\n", i - 9),
            1 => {}
            _ => text += &format!("to {i}.4 L 0 v p {i}\n"),
        }
    }
    text += &format!("pop {rounds}.5 S p\n");
    text.into_bytes()
}

#[test]
fn objects_that_are_open_at_both_ends_are_included() {
    let text = trace(400);
    let packed = pack_all(&text, 1000).unwrap();
    let (part, read) = window(&packed, 205.0, 205.9).unwrap().unwrap();
    let part = String::from_utf8(part).unwrap();
    let (head, rows) = part.split_once("push 0.5 S p all\n").unwrap();
    assert_eq!(head, world());
    // The window has a link that begins before it, its own lines, and the lines that end its open
    // rows after it.
    assert!(rows.contains("from 201.2 L 0 v p 201\n"), "{rows}");
    assert!(rows.contains("push 205.1 S p some\nfrom 205.2 L 0 v p 205\npop 205.3 S p\n"));
    assert!(rows.contains("to 210.4 L 0 v p 201\n") && rows.ends_with("pop 400.5 S p\n"));
    assert!(part.len() < text.len() / 8 && read < packed.len() as u64 / 4, "{read}");
    // The lines of the window are lines of the trace, in the same order.
    let text = String::from_utf8(text).unwrap();
    let mut all = text.lines();
    assert!(part.lines().all(|line| all.any(|other| other == line)));
}

#[test]
fn windows_without_segments() {
    let packed = pack_all(&trace(100), 1000).unwrap();
    // All windows have the links that never end.
    let links = (10..=100).step_by(10).map(|i| format!("from {i}.2 L 0 v p {i}\n"));
    let all = world() + "push 0.5 S p all\n" + &links.collect::<String>() + "pop 100.5 S p\n";
    for (from, to) in [(-2.0, -1.0), (101.0, 102.0)] {
        let (part, _) = window(&packed, from, to).unwrap().unwrap();
        let part = String::from_utf8(part).unwrap();
        assert_eq!(part, all);
    }
    let (part, _) = window(&packed, f64::NEG_INFINITY, f64::INFINITY).unwrap().unwrap();
    assert!(part == trace(100));
}

/// Returns the lines of two containers, one container after the other, so that the times start
/// again. A link connects the containers.
fn streams(rounds: usize, last: &str) -> String {
    let mut text = world() + "create 0 q P 0\n";
    for name in ["p", "q"] {
        text += &format!("push 0.5 S {name} all\n");
        for i in 1..=rounds {
            text += &format!("push {i}.1 S {name} some\npop {i}.3 S {name}\n");
            if i == 50 {
                let end = if name == "p" { "from" } else { "to" };
                text += &format!("{end} {i}.4 L 0 v {name} k\n");
            }
        }
        text += &if name == "p" { format!("pop {rounds}.5 S p\n") } else { last.to_owned() };
    }
    text
}

#[test]
fn rows_between_are_left_out() {
    let text = streams(400, "pop 400.5 S q\n");
    let packed = pack_all(text.as_bytes(), 1000).unwrap();
    let (part, read) = window(&packed, 205.0, 205.9).unwrap().unwrap();
    let part = String::from_utf8(part).unwrap();
    let (head, rows) = part.split_once("push 0.5 S p all\n").unwrap();
    assert_eq!(head, world() + "create 0 q P 0\n");
    for name in ["p", "q"] {
        assert!(rows.contains(&format!("push 205.1 S {name} some\npop 205.3 S {name}\n")));
    }
    // The window has the lines that open and close the states, and both ends of the link. These
    // lines are in two gaps.
    assert!(rows.contains("pop 400.5 S p\n") && rows.contains("push 0.5 S q all\n"), "{rows}");
    assert_eq!(rows.matches(" L ").count(), 2, "{rows}");
    assert!(rows.ends_with("pop 400.5 S q\n"), "{rows}");
    assert!(part.len() < text.len() / 6 && read < packed.len() as u64 / 3, "{read}");
    let mut all = text.lines();
    assert!(part.lines().all(|line| all.any(|other| other == line)));
}

/// The first lines are after the window, and the last lines are before it. The rows that the last
/// lines open continue until the end.
#[test]
fn objects_that_are_open_at_the_end_are_included() {
    let text = streams(200, "").replace("push 0.5 S q all\n", "");
    let late = text.replace("push 200.1 S q some\npop 200.3 S q\n", "");
    // The other container ends later.
    let late = late
        .replace("pop 200.5 S p\n", "push 300.0 S p long\npop 900.5 S p\npop 900.6 S p\n")
        + "push 200.7 S q open\n";
    let packed = pack_all(late.as_bytes(), 1000).unwrap();
    let (part, _) = window(&packed, 500.0, 501.0).unwrap().unwrap();
    let part = String::from_utf8(part).unwrap();
    assert!(
        part.contains("push 300.0 S p long\n") && part.ends_with("push 200.7 S q open\n"),
        "{part}"
    );
    assert!(part.len() < late.len() / 3);
    let (part, _) = window(&packed, 901.0, 902.0).unwrap().unwrap();
    let part = String::from_utf8(part).unwrap();
    assert!(part.len() < world().len() + 200, "{part}");
}

/// The state lasts until its container is destroyed, or until the end of the trace. Here the trace
/// ends with the creation of a container.
#[test]
fn lines_about_containers_count() {
    let destroy = testkit::definitions([("destroy", "DestroyContainer", "Time Name Type")]);
    let text = destroy
        + &streams(300, "pop 300.5 S q\n").replace("pop 300.5 S p\n", "")
        + "create 800 r P 0\ndestroy 900 p P\ncreate 950 s P 0\npush 950 S s last\ncreate 999 t P 0\n";
    let packed = pack_all(text.as_bytes(), 1000).unwrap();
    for (from, line) in [(500.0, "push 0.5 S p all\n"), (960.0, "push 950 S s last\n")] {
        let (part, _) = window(&packed, from, from + 1.0).unwrap().unwrap();
        let part = String::from_utf8(part).unwrap();
        assert!(part.contains(line) && part.contains("destroy 900 p P\n"), "{part}");
    }
}

/// A few lines replace the many changes of a variable. They must give the same value, also in
/// single precision.
#[test]
fn sums_of_variables_are_short() {
    let changes = |change: &dyn Fn(usize) -> String| {
        let mut text = testkit::definitions([
            ("type", "DefineContainerType", "Name Type"),
            ("variable", "DefineVariableType", "Name Type"),
            ("create", "CreateContainer", "Time Name Type Container"),
            ("set", "SetVariable", "Time Type Container Value"),
            ("add", "AddVariable", "Time Type Container Value"),
            ("sub", "SubVariable", "Value Container Type Time"),
        ]) + "type P 0\nvariable V P\ncreate 0 p P 0\nset 0 V p 33554432\n";
        (1..600).for_each(|i| text += &change(i));
        text
    };
    let part = |text: &str| {
        let packed = pack_all(text.as_bytes(), 1000).unwrap();
        let (part, _) = window(&packed, 505.0, 505.9).unwrap().unwrap();
        String::from_utf8(part).unwrap()
    };
    let whole = part(&changes(&|i| match i % 2 {
        0 => format!("add {i}.5 V p 3.500\n"),
        _ => format!("sub 1 p V {i}.25\n"),
    }));
    // In single precision, 33555002 becomes 33555000.
    let set = "set 456.5 V p 33555000\nadd 456.5 V p 2\nsub 1 p V 457.25\n";
    assert!(whole.contains(set) && whole.len() < 3000, "{whole}");
    // In single precision, decimal fractions have other values.
    let text = changes(&|i| format!("add {i}.5 V p 0.1\n"));
    let fractions = part(&text);
    assert!(fractions.contains("set 0 V p 33554432\nadd 1.5 V p 0.1\nadd 2.5"), "{fractions}");
}

/// A line that sets a state closes the previous state. Here the line that pops the new state is
/// missing, so the new state would last too long if the next line were missing as well.
#[test]
fn states_that_are_set_do_not_last() {
    let set = testkit::definitions([("set", "SetState", "Time Type Container Value")]);
    for (what, is_left_out) in
        [("set 250.4 S p x\npop 250.5 S p\n", false), ("set 250.4 S p x\n", true)]
    {
        let text = streams(300, "pop 300.5 S q\n").replace("pop 300.5 S p\n", "");
        let text = text.replacen("push 251.1 S p", &format!("{what}push 251.1 S p"), 1);
        let packed = pack_all((set.clone() + &text).as_bytes(), 1000).unwrap();
        let (part, _) = window(&packed, 100.0, 100.9).unwrap().unwrap();
        let part = String::from_utf8(part).unwrap();
        assert!(part.contains("set 250.4 S p x\n") && part.contains("push 100.1 S q"), "{part}");
        assert_eq!(part.contains("push 230.1 S p"), !is_left_out, "{what}");
        assert!(!part.contains("push 60.1 S q"), "{part}");
    }
}

#[test]
fn traces_without_windows() {
    let sound = String::from_utf8(trace(100)).unwrap();
    let cut = |segment: usize| pack_all(sound.as_bytes(), segment).unwrap();
    assert!(window(&cut(1000), 1.0, 2.0).unwrap().is_some());
    // Either one segment has all lines, or lines are longer than a segment.
    for segment in [1 << 20, 20] {
        assert!(window(&cut(segment), 1.0, 2.0).unwrap().is_none(), "{segment}");
    }
    let last = "pop 100.5 S p\n";
    for (old, new) in [
        // Pops without an open state, and invalid lines.
        (last, "pop 100.5 S p\npop 100.6 S p\n"),
        (last, "neither 100.5\n"),
        (last, "pop late S p\n"),
        // The trace refers to another file.
        (
            last,
            "%EventDef PajeTraceFile f\n% Container string\n% Type string\n% Filename string\n%EndEventDef\nf p P b\n",
        ),
        // A type has two spellings.
        (
            "states S P\n",
            "%EventDef PajeDefineStateType s\n% Name string\n% Type string\n% Alias string\n%EndEventDef\ns S P T\n",
        ),
    ] {
        let text = sound.replace(old, new);
        assert!(text != sound);
        let packed = pack_all(text.as_bytes(), 1000).unwrap();
        let mut back = String::new();
        Text::new(&packed[..]).read_to_string(&mut back).unwrap();
        assert!(back == text);
        assert!(window(&packed, 1.0, 2.0).unwrap().is_none(), "{new}");
    }
}

#[test]
fn each_byte_flipped_is_found_or_not_needed() {
    let packed = pack_all(&trace(40), 1000).unwrap();
    let windows = [(10.0, 11.0), (39.9, 40.0), (-1.0, 0.0)];
    let right = windows.map(|(from, to)| window(&packed, from, to).unwrap());
    let (mut found, mut told) = (0, 0);
    for at in 0..packed.len() {
        let mut damaged = packed.clone();
        damaged[at] ^= 1 << (at % 8);
        for ((from, to), right) in windows.into_iter().zip(&right) {
            match window(&damaged, from, to) {
                Err(error) => {
                    assert!(error.at <= packed.len() as u64 && !error.to_string().is_empty());
                    found += 1;
                }
                Ok(part) => {
                    assert!(part == *right, "byte {at}");
                    told += 1;
                }
            }
        }
    }
    assert!(found > packed.len() && told > packed.len() / 4, "{found} {told}");
    for len in 0..packed.len() {
        assert!(window(&packed[..len], 10.0, 11.0).is_err(), "{len}");
    }
}

fn sets() -> String {
    let mut text = String::from(
        "%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
         %EventDef PajeDefineStateType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
         %EventDef PajeCreateContainer 2\n% Time date\n% Alias string\n% Type string\n% Container string\n\
         % Name string\n%EndEventDef\n\
         %EventDef PajeSetState 3\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n\
         0 P 0 P\n1 S P S\n2 0.0 a P 0 a\n2 0.0 b P 0 b\n",
    );
    for turn in 0..300 {
        text += &format!("3 {turn}.25 S a x\n3 {turn}.5 S b \"two words\"\n");
    }
    text
}

/// A window has the same text whether it is read in segments or as a stream. Both ways read the
/// same bytes.
#[test]
fn windows_are_segments() {
    // The times start again, so the window has two runs of segments with lines between them.
    let again = |turn| format!("3 {turn}.25 S c x\n3 {turn}.5 S c y\n");
    let text = sets() + "2 0.0 c P 0 c\n" + &(0..300).map(again).collect::<String>();
    let folder = testkit::folder(&[("t.pjp", &pack_all(text.as_bytes(), 1500).unwrap())]);
    let open = || Input::open(Some(&folder.path().join("t.pjp"))).unwrap();
    for (from, to) in [(100.0, 130.0), (0.0, 0.1), (299.0, 400.0), (-2.0, -1.0), (0.0, 1e9)] {
        let mut read = String::new();
        let mut stream = open().within(from, to);
        let taken = stream.read_so_far();
        stream.read_to_string(&mut read).unwrap();
        let streamed = taken.load(Ordering::Relaxed);
        let mut window = open().within(from, to);
        let taken = window.read_so_far();
        let mut segments = window.segments(usize::MAX).unwrap();
        let (mut found, mut last) = (Vec::new(), false);
        while let Some(segment) = segments.next_segment().unwrap() {
            assert!(!last && segment.start().0 == found.len() as u64);
            last = segment.is_last();
            let mut block = Block::default();
            block.set_segment(segment);
            block.unpack().unwrap();
            found.extend_from_slice(block.text());
        }
        assert!(last && String::from_utf8(found).unwrap() == read, "{from} {to}");
        assert_eq!(taken.load(Ordering::Relaxed), streamed, "{from} {to}");
        assert!(from <= 0.0 || read.len() < text.len() / 2, "{from} {to}");
    }
}
