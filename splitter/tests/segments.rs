//! Tests segments of packed traces.

use std::fs;
use std::io::Read;
use std::path::PathBuf;

use paje_pack::{Border, Definitions, Settings, WindowIndex, Writer};
use paje_parser::columns::{HoleKind, Lines, Wanted};
use splitter::{Block, Input, Segments};
use tempfile::TempDir;

fn trace() -> String {
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

const MEMORY: &str = "writing to memory does not fail";

fn packed<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<u8> {
    packed_with(texts, None)
}

fn packed_with<'t>(
    texts: impl IntoIterator<Item = &'t str>,
    windows: Option<&WindowIndex>,
) -> Vec<u8> {
    let mut definitions = Definitions::default();
    let mut writer = Writer::new(Vec::new()).expect(MEMORY);
    for text in texts {
        let packed = paje_pack::Segment::pack(text.as_bytes(), &definitions, Settings::default());
        writer.put(&packed.expect(MEMORY)).expect(MEMORY);
        definitions.learn(text.as_bytes());
    }
    if let Some(windows) = windows {
        assert!(writer.put_windows(windows, u64::MAX).expect(MEMORY));
    }
    writer.finish().expect(MEMORY)
}

fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((at, _)) = rest.match_indices('\n').nth(99) {
        let (piece, others) = rest.split_at(at + 1);
        pieces.push(piece);
        rest = others;
    }
    pieces.push(rest);
    pieces
}

struct Files(TempDir);

impl Files {
    fn new() -> Files {
        Files(TempDir::new().expect("a folder"))
    }

    fn open(&self, bytes: &[u8]) -> Input {
        let path: PathBuf = self.0.path().join("t.pjp");
        fs::write(&path, bytes).expect("the folder is writable");
        Input::open(Some(&path)).expect("it was written")
    }

    fn segments(&self, bytes: &[u8]) -> Option<Segments> {
        self.open(bytes).segments(usize::MAX)
    }
}

/// Returns the next segment, and whether it has columns. In a segment with columns, lines with a
/// time have no text.
fn without_texts(
    segments: &mut Segments,
    lines: &mut Lines,
) -> Option<Result<(Block, bool), String>> {
    let mut block = Block::default();
    block.set_segment(segments.next_segment().expect("it is not damaged")?);
    let has_columns = block.columns(&mut Vec::new(), lines, &mut |_, holes| {
        let times = holes.iter().filter(|hole| hole.kind == HoleKind::Time).count();
        if times == 1 { Wanted::Columns(None) } else { Wanted::Text }
    });
    if !has_columns && let Err(error) = block.unpack() {
        return Some(Err(error.to_string()));
    }
    Some(Ok((block, has_columns)))
}

#[test]
fn lines_can_be_read_later() {
    let text = trace();
    let files = Files::new();
    let mut segments = files.segments(&packed(pieces(&text))).unwrap();
    let (mut lines, mut later, mut whole) = (Lines::default(), Vec::new(), 0);
    while let Some(block) = without_texts(&mut segments, &mut lines) {
        let (block, has_columns) = block.unwrap();
        whole += usize::from(!has_columns);
        assert_eq!(has_columns, block.later(0).is_some());
        if !has_columns {
            continue;
        }
        let start = block.start().0 as usize;
        for line in lines.lines.iter().filter(|line| !line.has_text()) {
            later.push((start + line.start as usize, block.later(line.start).unwrap()));
        }
    }
    assert_eq!(segments.position().0, text.len() as u64);
    // The first segment has definitions, and the last segment is short.
    assert!(whole <= 2 && later.len() > 200, "{whole} segments as text, {} lines", later.len());
    for (at, line) in later {
        let expected = text[at..].lines().next().unwrap();
        assert_eq!(String::from_utf8(line.text()).unwrap(), expected);
    }
}

/// Damage is reported when the reader reaches it, not earlier.
#[test]
fn skipped_segments_are_checked() {
    let text = trace();
    let pieces = pieces(&text);
    let bytes = packed(pieces.iter().copied());
    let files = Files::new();
    let byte = paje_parser::ByteOffset;
    let mut segments = files.segments(&bytes).unwrap();
    segments.pass_to(byte(0)).unwrap();
    assert_eq!(segments.position().0, 0);
    segments.pass_to(byte(pieces[0].len() as u64 + 1)).unwrap();
    assert_eq!(segments.position().0, (pieces[0].len() + pieces[1].len()) as u64);
    let next = segments.next_segment().unwrap().unwrap();
    assert_eq!((next.start(), next.is_last()), (segments_before(&pieces, 2), false));
    segments.pass_to(byte(u64::MAX)).unwrap();
    assert_eq!(segments.position().0, text.len() as u64);
    assert!(segments.next_segment().unwrap().is_none());
    // Damages the pages of the fifth segment.
    let mut reader = paje_pack::Reader::new(&bytes[..]);
    (0..4).for_each(|_| drop(reader.next_segment().unwrap()));
    let mut damaged = bytes.clone();
    damaged[reader.position() as usize + 30] ^= 4;
    let mut segments = files.segments(&damaged).unwrap();
    let four = segments_before(&pieces, 4);
    segments.pass_to(four).unwrap();
    assert_eq!(segments.position(), four);
    assert!(segments.pass_to(byte(four.0 + 1)).unwrap_err().to_string().contains("damaged"));
}

fn segments_before(pieces: &[&str], count: usize) -> paje_parser::ByteOffset {
    paje_parser::ByteOffset(pieces[..count].iter().map(|piece| piece.len() as u64).sum())
}

/// A segment of several lines that ends within a line is refused when it is read. With one line,
/// the file is read as text. The last segment may end anywhere.
#[test]
fn segments_consist_of_whole_lines() {
    let text = trace();
    let files = Files::new();
    let line = text.find("3 7.25").unwrap();
    for at in [line + 3, line + 12] {
        let mut segments = files.segments(&packed([&text[..at], &text[at..]])).unwrap();
        let mut lines = Lines::default();
        let error = without_texts(&mut segments, &mut lines).unwrap().unwrap_err();
        assert!(error.contains("a segment of several lines ends within one"), "{error}");
        let mut segments = files.segments(&packed([&text[..at], &text[at..]])).unwrap();
        let mut block = Block::default();
        block.set_segment(segments.next_segment().unwrap().unwrap());
        let error = block.unpack().unwrap_err().to_string();
        assert!(error.contains("a segment of several lines ends within one"), "{error}");
        assert_eq!(block.text(), b"");
    }
    let cut = packed([&text[..line], &text[line..line + 3], &text[line + 3..]]);
    assert!(files.segments(&cut).is_none());
    let mut read = String::new();
    files.open(&cut).read_to_string(&mut read).unwrap();
    assert_eq!(read, text);
    let open = &text[..line + 3];
    let mut segments = files.segments(&packed([&open[..line], &open[line..]])).unwrap();
    let mut found = Vec::new();
    while let Some(segment) = segments.next_segment().unwrap() {
        let mut block = Block::default();
        block.set_segment(segment);
        block.unpack().unwrap();
        found.extend_from_slice(block.text());
    }
    assert_eq!(String::from_utf8(found).unwrap(), open);
    // Segments that are longer than the limit for lines are not accepted either.
    assert!(files.open(&packed(pieces(&text))).segments(100).is_none());
}

/// The first segment shows whether the file is a trace.
#[test]
fn packed_files_that_are_no_traces_are_refused() {
    let files = Files::new();
    let first = |text: &str| {
        let segment = files.segments(&packed([text])).unwrap().next_segment().unwrap().unwrap();
        let mut block = Block::default();
        let unpacked = block.unpack_first(segment).map_err(|error| error.to_string());
        (unpacked, block.text().to_vec())
    };
    let text = trace();
    assert_eq!(first(&text), (Ok(()), text.into_bytes()));
    let (refused, left) = first("%PDF-1.7\nand more\n");
    let message = refused.unwrap_err();
    assert!(message.contains(", not a Pajé trace") && left.is_empty(), "{message}");
}

/// A window has the same text as a stream and in segments: lines that all windows have, and the
/// segments with the requested times.
#[test]
fn windows_have_few_segments() {
    let head = "%EventDef PajeDefineContainerType 0\n% Name string\n% Type string\n%EndEventDef\n\
                %EventDef PajeDefineEventType 1\n% Name string\n% Type string\n%EndEventDef\n\
                %EventDef PajeNewEvent 2\n% Time date\n% Type string\n% Container string\n\
                % Value string\n%EndEventDef\n0 P 0\n1 E P\n";
    let part = |first: u32| -> String {
        (first..first + 100).map(|turn| format!("2 {turn}.5 E 0 x\n")).collect()
    };
    let parts: Vec<String> = (0..5).map(|number| part(100 * number)).collect();
    let pieces: Vec<&str> = [head].into_iter().chain(parts.iter().map(String::as_str)).collect();
    let mut index = WindowIndex::default();
    let mut start = 0;
    for line in head.split_inclusive('\n') {
        index.fixed.push((start, line.trim_end().as_bytes().into()));
        start += line.len() as u64;
    }
    let last = parts[4].lines().last().unwrap();
    let start = pieces.concat().len() - last.len() - 1;
    index.latest.push((start as u64, last.as_bytes().into()));
    index.times = (0..5)
        .map(|number| (f64::from(100 * number) + 0.5, 99.5 + f64::from(100 * number)))
        .collect();
    index.times.insert(0, (f64::INFINITY, f64::NEG_INFINITY));
    index.borders = vec![Border::default(); pieces.len() - 1];
    let files = Files::new();
    let bytes = packed_with(pieces.iter().copied(), Some(&index));
    for (from, to, wanted) in [
        (250.0, 310.0, [head, pieces[3], pieces[4], last, "\n"].concat()),
        (500.0, 600.0, [head, last, "\n"].concat()),
        (0.0, 1000.0, pieces.concat()),
    ] {
        let mut window = files.open(&bytes).within(from, to);
        assert_eq!(window.window_bytes(), Some(wanted.len() as u64), "{from}");
        let mut read = String::new();
        window.read_to_string(&mut read).unwrap();
        assert_eq!(read, wanted);
        let mut segments = files.open(&bytes).within(from, to).segments(usize::MAX).unwrap();
        assert!(segments.is_window());
        let mut read = Vec::new();
        while let Some(segment) = segments.next_segment().unwrap() {
            assert_eq!(segment.start().0, read.len() as u64);
            let is_last = segment.is_last();
            let mut block = Block::default();
            block.set_segment(segment);
            block.unpack().unwrap();
            read.extend_from_slice(block.text());
            assert_eq!(is_last, read.len() == wanted.len());
        }
        assert_eq!(String::from_utf8(read).unwrap(), wanted);
        assert!(files.open(&bytes).within(from, to).segments(100).is_none());
    }
    // Without an index, or as plain text, all of the trace is read.
    for bytes in [packed(pieces.iter().copied()), pieces.concat().into_bytes()] {
        let mut whole = files.open(&bytes).within(250.0, 310.0);
        assert_eq!(whole.window_bytes(), None);
        let mut read = String::new();
        whole.read_to_string(&mut read).unwrap();
        assert_eq!(read, pieces.concat());
    }
}
