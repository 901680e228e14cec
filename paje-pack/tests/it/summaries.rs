//! Tests that the summaries of a trace are found without reading its segments.

use std::io::Cursor;

use paje_pack::{Definitions, Reader, Segment, Segments, Settings, Summaries, Writer};

use crate::damage::pages;
use crate::round::{packed, unpacked};

/// Summaries that these tests store.
pub(crate) const NAMES: [&str; 3] = ["states", "", "comm"];

pub(crate) fn content(name: &str) -> Vec<u8> {
    name.repeat(20).into_bytes()
}

fn settings(segment: usize) -> Settings {
    let mut settings = Settings::default();
    settings.segment = segment;
    settings
}

pub(crate) fn with_summaries(text: &[u8], segment: usize) -> Vec<u8> {
    let mut segments = Segments::new(text, settings(segment));
    let (mut definitions, mut writer) = (Definitions::default(), Writer::new(Vec::new()).unwrap());
    while let Some(text) = segments.next_text().unwrap() {
        writer.put(&Segment::pack(&text, &definitions, settings(segment)).unwrap()).unwrap();
        definitions.learn(&text);
    }
    for name in NAMES {
        assert!(writer.put_summary(name, 1, content(name), u64::MAX).unwrap());
    }
    writer.finish().unwrap()
}

fn text() -> Vec<u8> {
    (0..5000).map(|line| format!("{line} a line\n")).collect::<String>().into_bytes()
}

#[test]
fn summaries_are_found_by_name_and_version() {
    let text = text();
    for segment in [1000, 1 << 20] {
        let packed = with_summaries(&text, segment);
        assert!(unpacked(&packed).unwrap() == text);
        let mut summaries = Summaries::new(Cursor::new(&packed)).unwrap();
        for name in NAMES.into_iter().rev() {
            assert_eq!(summaries.get(name, 1).unwrap(), Some(content(name)));
            assert_eq!(summaries.get(name, 2).unwrap(), None);
        }
        assert_eq!(summaries.get("time", 1).unwrap(), None);
        let (len, read) = summaries.bytes();
        assert_eq!(len, packed.len() as u64);
        assert!(read < len, "{read} of {len}");
    }
}

#[test]
fn no_segment_is_read() {
    let mut packed = with_summaries(&text(), 1000);
    let first = pages(&packed).into_iter().find(|(_, kind)| *kind == 12).unwrap().0;
    assert!(first > packed.len() / 2);
    packed[12..first].fill(0);
    let mut summaries = Summaries::new(Cursor::new(&packed)).unwrap();
    assert_eq!(summaries.get("states", 1).unwrap(), Some(content("states")));
}

#[test]
fn there_are_none_if_none_were_kept() {
    for text in [&b""[..], b"x", &text()] {
        let packed = packed(text, 4096);
        let mut summaries = Summaries::new(Cursor::new(&packed)).unwrap();
        assert_eq!(summaries.get("states", 1).unwrap(), None);
    }
}

#[test]
fn parts_that_are_too_large_are_left_out() {
    let mut writer = Writer::new(Vec::new()).unwrap();
    assert!(!writer.put_summary("noise", 1, vec![7; 1000], 20).unwrap());
    assert!(!writer.put_summary(&"name".repeat(64), 1, vec![7; 1000], 500).unwrap());
    assert!(!writer.put_summary("huge", 1, vec![7; (1 << 24) + 1], u64::MAX).unwrap());
    assert!(writer.put_summary("whole", 1, vec![7; 1 << 24], u64::MAX).unwrap());
    let packed = writer.finish().unwrap();
    let mut summaries = Summaries::new(Cursor::new(&packed)).unwrap();
    for name in ["noise", "huge"] {
        assert_eq!(summaries.get(name, 1).unwrap(), None);
    }
    assert_eq!(summaries.get("whole", 1).unwrap(), Some(vec![7; 1 << 24]));
    let mut reader = Reader::new(&packed[..]);
    assert!(reader.next_segment().unwrap().is_none());
    let sizes = reader.other_sizes();
    assert_eq!(sizes.iter().sum::<u64>() + 12 + 16, packed.len() as u64);
}
