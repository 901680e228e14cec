//! Tests that a damaged packed trace gives either an error with its offset or the right text.

use std::io::Cursor;

use paje_pack::{Error, Packed, Reader, Summaries};
use paje_parser::columns::{Asked, HoleKind, Lines, Wanted};

use crate::round::{packed, unpacked};
use crate::summaries::{NAMES, content, with_summaries};

fn trace() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");
    let mut text = std::fs::read(path).unwrap();
    text.truncate(4500);
    text
}

fn error(packed: &[u8]) -> Option<Error> {
    let mut reader = Reader::new(packed);
    loop {
        match reader.next_segment() {
            Ok(None) => return None,
            Ok(Some(segment)) => {
                if let Err(error) = segment.unpack() {
                    return Some(error);
                }
            }
            Err(error) => return Some(error),
        }
    }
}

/// Checks the summaries that can still be read, and returns their number.
fn right_summaries(packed: &[u8]) -> usize {
    let Ok(mut summaries) = Summaries::new(Cursor::new(packed)) else { return 0 };
    let mut found = 0;
    for name in NAMES {
        if let Ok(Some(summary)) = summaries.get(name, 1) {
            assert_eq!(summary, content(name));
            found += 1;
        }
    }
    found
}

#[test]
fn each_byte_flipped_is_found() {
    let packed = with_summaries(&trace(), 2000);
    assert_eq!(right_summaries(&packed), NAMES.len());
    let mut found = 0;
    for at in 0..packed.len() {
        let mut damaged = packed.clone();
        damaged[at] ^= 1 << (at % 8);
        let error = error(&damaged).unwrap_or_else(|| panic!("byte {at}"));
        assert!(error.at <= packed.len() as u64 && !error.to_string().is_empty());
        assert!(unpacked(&damaged).is_err());
        found += right_summaries(&damaged);
    }
    // Damage in a segment does not affect summaries.
    assert!(found > packed.len());
}

#[test]
fn each_truncation_is_found() {
    let packed = with_summaries(&trace(), 2000);
    for len in 0..packed.len() {
        assert_eq!(right_summaries(&packed[..len]), 0);
        let failed = unpacked(&packed[..len]).unwrap_err();
        assert_eq!(failed.kind(), std::io::ErrorKind::UnexpectedEof, "{len}: {failed}");
    }
    let failed = unpacked(&[&packed[..], b"x"].concat()).unwrap_err();
    assert!(failed.to_string().contains("there are bytes after the end"), "{failed}");
}

pub(crate) fn pages(packed: &[u8]) -> Vec<(usize, u8)> {
    let (mut at, mut pages) = (12, Vec::new());
    while at < packed.len() - 16 {
        pages.push((at, packed[at]));
        at += 14 + u32::from_le_bytes(packed[at + 6..at + 10].try_into().unwrap()) as usize;
    }
    assert_eq!(at, packed.len() - 16);
    pages
}

/// Corrects the checksum of a page after a change.
fn sign(packed: &mut [u8], at: usize, number: u32) {
    let len = u32::from_le_bytes(packed[at + 6..at + 10].try_into().unwrap()) as usize;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(&packed[at..at + 10]);
    let end = (at + 14 + len).min(packed.len());
    hasher.update(&packed[at + 14..end]);
    packed[at + 10..at + 14].copy_from_slice(&hasher.finalize().to_le_bytes());
}

#[test]
fn pages_that_changed_places_are_found() {
    let text = trace();
    let packed = with_summaries(&text, 2000);
    let pages = pages(&packed);
    let bytes = |number: usize| {
        &packed[pages[number].0..pages.get(number + 1).map_or(packed.len() - 16, |next| next.0)]
    };
    for first in 0..pages.len() {
        for second in first + 1..pages.len() {
            let mut order: Vec<_> = (0..pages.len()).collect();
            order.swap(first, second);
            let moved: Vec<u8> = order.iter().flat_map(|number| bytes(*number)).copied().collect();
            let swapped = [&packed[..12], &moved, &packed[packed.len() - 16..]].concat();
            assert!(error(&swapped).is_some(), "{first} and {second}");
            right_summaries(&swapped);
        }
    }
}

#[test]
fn damage_with_a_valid_checksum_is_reported_or_harmless() {
    let text = trace();
    let packed = with_summaries(&text, 2000);
    for (number, (start, kind)) in pages(&packed).into_iter().enumerate() {
        let end = pages(&packed).get(number + 1).map_or(packed.len() - 16, |next| next.0);
        for at in (start..start + 10).chain(start + 14..end) {
            for value in [0, 255, packed[at] ^ 1] {
                let mut damaged = packed.clone();
                damaged[at] = value;
                sign(&mut damaged, start, number as u32);
                if let Ok(back) = unpacked(&damaged) {
                    assert!(back == text, "byte {at} of a page of kind {kind}");
                }
                if kind < 11 {
                    right_summaries(&damaged);
                }
            }
        }
    }
}

/// Such a file either has the number of lines that it claims, and all their steps exist, or it
/// cannot be read as columns.
#[test]
fn columns_of_signed_damage_hold_together() {
    let text = datasets::generate(datasets::Shape::Mpi, 16_000, 1);
    let packed = packed(&text, 6000);
    let (mut all, mut taken) = (0, 0);
    for (number, (start, _)) in pages(&packed).into_iter().enumerate() {
        let end = pages(&packed).get(number + 1).map_or(packed.len() - 16, |next| next.0);
        for at in (start + 14..end).step_by(2) {
            let mut damaged = packed.clone();
            damaged[at] ^= 1 << (at % 8);
            sign(&mut damaged, start, number as u32);
            let mut reader = Reader::new(&damaged[..]);
            while let Ok(Some(segment)) = reader.next_segment() {
                all += 1;
                taken += usize::from(holds_together(&segment, at % 2 == 0));
            }
        }
    }
    assert!(taken > 100 && taken < all, "{taken} of {all}");
}

/// Checks that columns have all lines of their segment, or cannot be read.
fn holds_together(segment: &Packed, leaves_out: bool) -> bool {
    let (mut text, mut lines) = (Vec::new(), Lines { leaves_out, ..Lines::default() });
    let taken = segment.columns(&mut text, &mut lines, &mut |line, holes| {
        let times = holes.iter().filter(|hole| hole.kind == HoleKind::Time).count();
        let hole = holes.iter().position(|hole| hole.kind == HoleKind::Value);
        match line.len() % 4 {
            _ if times != 1 => Wanted::Text,
            0 if leaves_out => Wanted::Nothing,
            length => Wanted::Columns(hole.map(|hole| Asked { hole, numbers: length == 1 })),
        }
    });
    if taken {
        assert_eq!(lines.lines.len() as u64 + lines.left_out, segment.line_count());
        assert!(text.len() as u64 >= segment.text_len());
        let steps = lines.counts.len();
        assert!(lines.lines.iter().all(|line| line.has_text() || (line.step as usize) < steps));
        let contents = lines.contents.iter().map(|content| content.line as usize);
        assert!(contents.is_sorted_by(|line, next| line < next));
    }
    taken
}

#[test]
fn sizes_that_no_page_has_are_refused() {
    let mut packed = packed(&trace(), 1 << 20);
    for place in [2, 6] {
        packed[12 + place..12 + place + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        sign(&mut packed, 12, 0);
        let error = error(&packed).unwrap().to_string();
        assert_eq!(error, "byte 12: the page claims 4294967295 bytes, more than allowed");
    }
}

#[test]
fn other_versions_are_refused_in_a_sentence() {
    let mut packed = packed(&trace(), 1 << 20);
    for (version, advice) in
        [(2, "unpack it with the program that packed it"), (4, "use a newer program")]
    {
        packed[8] = version;
        let failed = unpacked(&packed).unwrap_err();
        assert_eq!(
            failed.to_string(),
            format!(
                "this program reads version 3 of the packed format, not version {version}: {advice}"
            )
        );
        assert_eq!(failed.kind(), std::io::ErrorKind::Unsupported);
    }
}

/// Returns a file that contains only this index. According to the trailer, the index begins at
/// `at`.
fn with_index(index: &[u8], at: u64) -> Vec<u8> {
    let mut packed = packed(b"", 2000);
    packed.truncate(12);
    packed.extend_from_slice(&[11, 0]);
    packed.extend_from_slice(&(index.len() as u32).to_le_bytes().repeat(2));
    packed.extend_from_slice(&[0; 4]);
    packed.extend_from_slice(index);
    sign(&mut packed, 12, 0);
    packed.extend_from_slice(&at.to_le_bytes());
    packed.extend_from_slice(b"PJP end\n");
    packed
}

/// Returns the errors of both readers. One reads from the start of the file, the other from its
/// end.
fn both_errors(packed: &[u8]) -> [String; 2] {
    let asked = Summaries::new(Cursor::new(packed)).unwrap_err();
    [error(packed).unwrap().to_string(), asked.to_string()]
}

#[test]
fn an_index_that_points_elsewhere_is_refused() {
    let sound = with_index(&[0, 0], 12);
    assert!(error(&sound).is_none() && Summaries::new(Cursor::new(&sound)).is_ok());
    // Tries offsets before the pages, within the index, after it, at the end of the file, and
    // beyond the end.
    for at in [0, 8, 11, 13, 14, 28, 30, sound.len() as u64, u64::MAX] {
        for error in both_errors(&with_index(&[0, 0], at)) {
            assert!(!error.is_empty(), "{at}");
        }
    }
    let [read, asked] = both_errors(&with_index(&[0, 0], u64::MAX));
    assert_eq!(read, "byte 28: the end of the file does not give the position of its index");
    assert_eq!(asked, read);
}

/// Huge numbers must take neither memory nor time.
#[test]
fn an_index_that_claims_what_is_not_there_is_refused() {
    const HUGE: [u8; 10] = [255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
    let segment = |bytes: &[u8], pages: &[u8]| [&[1], bytes, pages, &[1, 1, 0]].concat();
    let summary = |len: &[u8], name: &[u8]| [&[0, 1], len, &[1], name].concat();
    for index in [
        HUGE.to_vec(),
        [&[0], &HUGE[..]].concat(),
        summary(&[20], &HUGE),
        summary(&[20], &[200, 1, b'x']),
        // The sum of the sizes overflows, or the sizes are too small for the pages.
        segment(&HUGE, &[1]),
        segment(&[0], &HUGE),
        summary(&HUGE, &[1, b'x']),
        [&[2], &HUGE[..], &[1, 1, 1], &HUGE[..], &[1, 1, 1, 0]].concat(),
        // The pages of a segment include the index itself.
        segment(&[20], &[1]),
        summary(&[20], &[1, b'x']),
        summary(&[0], &[1, b'x']),
        // The page has too few or too many bytes.
        Vec::new(),
        vec![0],
        vec![0, 0, 0],
    ] {
        for error in both_errors(&with_index(&index, 12)) {
            let says = error.contains("index") || error.contains("checksum");
            assert!(says, "{index:?}: {error}");
        }
    }
}
