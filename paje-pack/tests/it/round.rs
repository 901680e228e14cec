//! Tests that any bytes survive packing.

use std::io::Read;

use paje_pack::{Definitions, Segment, Settings, Text, Writer, pack};
use proptest::prelude::*;
use testkit::{Rng, damage};

pub(crate) fn packed(text: &[u8], segment: usize) -> Vec<u8> {
    let mut settings = Settings::default();
    settings.segment = segment;
    pack(text, Vec::new(), settings).unwrap()
}

pub(crate) fn unpacked(packed: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    Text::new(packed).read_to_end(&mut text)?;
    Ok(text)
}

fn assert_back(text: &[u8], segment: usize) {
    let back = unpacked(&packed(text, segment)).unwrap();
    assert!(back == text, "in segments of {segment}: {}", text.escape_ascii());
}

pub(crate) fn examples() -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().filter(|path| path.is_file()).map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn examples_come_back() {
    let examples = examples();
    assert!(examples.len() > 5);
    for text in &examples {
        for segment in [1 << 20, 1000, 37, 1] {
            if text.len() < 300 * segment {
                assert_back(text, segment);
            }
        }
        let crlf = String::from_utf8_lossy(text).replace('\n', "\r\n");
        assert_back(crlf.as_bytes(), 5000);
        assert_back(text.strip_suffix(b"\n").unwrap_or(text), 1 << 20);
    }
}

#[test]
fn texts_that_are_no_traces_come_back() {
    let all = (0..=255).collect::<Vec<u8>>();
    for text in [
        &b""[..],
        b"\n",
        b"\n\n",
        b"\r\n",
        b"a",
        b" \t \n",
        b"\0\x01\x02\n\x03",
        b"#",
        b"%",
        &all,
        &all.repeat(300),
    ] {
        for segment in [1 << 20, 100, 3] {
            if segment > 3 || text.len() < 400 {
                assert_back(text, segment);
            }
        }
    }
}

/// Lines of defined events may contain the bytes that represent holes in actions.
#[test]
fn bytes_that_stand_for_holes_come_back() {
    let header = b"%EventDef PajeSetState 1\n%\tTime date\n%\tType string\n%\tContainer string\n%\tValue string\n%EndEventDef\n";
    for byte in 0..=255_u8 {
        let lines = [
            b"1 0.5 S c v\n1 0.5 S c",
            &[byte][..],
            b"v x\n1 ",
            &[byte],
            b"0.25 S c ",
            &[byte],
            b"\n1 7 ",
            &[byte, b' ', byte],
            b" c v # ",
            &[byte],
            b"\n",
        ]
        .concat();
        assert_back(&[&header[..], &lines].concat(), 1 << 20);
    }
}

#[test]
fn damaged_traces_come_back() {
    let rng = &mut Rng::new(1);
    let examples = examples();
    for round in 0..if cfg!(debug_assertions) { 100 } else { 5000 } {
        let text = damage(&examples[round % examples.len()], rng);
        let text = &text[..text.len().min(10_000)];
        assert_back(text, [1 << 20, 3000, 400][round % 3]);
    }
}

/// All lines of a segment have different lanes, or keys in different steps. Such segments have the
/// largest tables.
#[test]
fn segments_without_repetition_come_back() {
    let header = "%EventDef PajePushState 1\n% Time date\n% Container string\n%EndEventDef\n\
                  %EventDef PajeEndLink 2\n% Type string\n% Key string\n%EndEventDef\n";
    let lanes: String = (0..400).map(|number| format!("1 0 {number}\n")).collect();
    let keys: String = (0..400).map(|number| format!("2 {number} k\n")).collect();
    for text in [lanes, keys] {
        let text = header.to_owned() + &text;
        for segment in [header.len(), 300, 1000, 3000, 1 << 20] {
            assert_back(text.as_bytes(), segment);
        }
    }
    for shape in datasets::Shape::ALL {
        let text = datasets::generate(shape, 30_000, 4);
        [400, 1500, 4000].iter().for_each(|segment| assert_back(&text, *segment));
    }
}

#[test]
fn generated_traces_come_back_smaller() {
    for shape in datasets::Shape::ALL {
        let text = datasets::generate(shape, 100_000, 1);
        let packed = packed(&text, 60_000);
        assert!(unpacked(&packed).unwrap() == text, "{shape:?}");
        let zstd = zstd::bulk::compress(&text, 19).unwrap().len();
        assert!(packed.len() < zstd, "{shape:?}: {} and {zstd}", packed.len());
    }
}

/// Packing segments independently, given the definitions before them, has the same result as
/// packing them in order.
#[test]
fn segments_can_be_packed_at_once() {
    let text = examples().into_iter().max_by_key(Vec::len).unwrap();
    let cut =
        text.len() / 2 + text[text.len() / 2..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let (first, second) = text.split_at(cut);
    let mut definitions = Definitions::default();
    definitions.learn(first);
    let settings = Settings::default();
    let second = Segment::pack(second, &definitions, settings).unwrap();
    let first = Segment::pack(first, &Definitions::default(), settings).unwrap();
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.put(&first).unwrap();
    writer.put(&second).unwrap();
    assert_eq!(unpacked(&writer.finish().unwrap()).unwrap(), text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_bytes_come_back(text in proptest::collection::vec(any::<u8>(), 0..300), segment in 1_usize..400) {
        assert_back(&text, segment);
    }

    #[test]
    fn lines_of_any_fields_come_back(text in "([0-3] ?(-?[0-9]{1,3}\\.[0-9]{0,4}|[0-9]{1,20}|[a-f0-9]{16}|[a-c]_[0-9]_[0-9]{0,3}|\"[ a]?\"?| |\t|#)( |\t)){0,200}\r?\n?") {
        let header = "%EventDef PajeStartLink 1\n%Time date\n%Type string\n%StartContainer string\n%Container string\n%Value string\n%Key string\n%EndEventDef\n\
            %EventDef PajeEndLink 2\n%Key string\n%Time date\n%Type string\n%EndContainer string\n%Container string\n%Value string\n%x int\n%EndEventDef\n\
            %EventDef PajePopState 3\n%Time date\n%Type string\n%Container string\n%EndEventDef\n";
        let lines = text.replace(" 1 ", "\n1 ").replace(" 2 ", "\n2 ").replace(" 3 ", "\n3 ");
        assert_back(format!("{header}{lines}").as_bytes(), 1 << 20);
    }
}

#[test]
fn segments_end_with_lines_or_have_none() {
    let mut rng = Rng::new(7);
    for _ in 0..200 {
        let mut settings = Settings::default();
        settings.segment = 1 + rng.index(40);
        let byte = |rng: &mut Rng| if rng.index(9) == 0 { b'\n' } else { b'x' };
        let text: Vec<u8> = (0..rng.index(400)).map(|_| byte(&mut rng)).collect();
        let mut segments = paje_pack::Segments::new(&text[..], settings);
        let (mut all, mut before) = (Vec::new(), None);
        while let Some(text) = segments.next_text().unwrap() {
            if let Some(before) = before.replace(text.clone()) {
                assert!(before.ends_with(b"\n") || !before.contains(&b'\n'));
            }
            assert!((1..=settings.segment).contains(&text.len()));
            all.extend(text);
        }
        assert_eq!(all, text);
    }
}
