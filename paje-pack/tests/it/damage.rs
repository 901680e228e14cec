//! Damaged packed traces: an error that says where, or the right text.

use paje_pack::{Error, Reader};

use crate::round::{packed, unpacked};

fn trace() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");
    let mut text = std::fs::read(path).unwrap();
    text.truncate(4500);
    text
}

/// The first error of a file, if there is one.
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

#[test]
fn each_byte_flipped_is_found() {
    let text = trace();
    let packed = packed(&text, 2000);
    for at in 0..packed.len() {
        {
            let mut damaged = packed.clone();
            damaged[at] ^= 1 << (at % 8);
            let error = error(&damaged).unwrap_or_else(|| panic!("byte {at}"));
            assert!(error.at <= packed.len() as u64 && !error.to_string().is_empty());
            assert!(unpacked(&damaged).is_err());
        }
    }
}

#[test]
fn each_truncation_is_found() {
    let packed = packed(&trace(), 2000);
    for len in 0..packed.len() {
        let failed = unpacked(&packed[..len]).unwrap_err();
        assert_eq!(failed.kind(), std::io::ErrorKind::UnexpectedEof, "{len}: {failed}");
    }
    let failed = unpacked(&[&packed[..], b"x"].concat()).unwrap_err();
    assert!(failed.to_string().contains("something follows the end"), "{failed}");
}

/// Where the pages begin, and what kind each is.
fn pages(packed: &[u8]) -> Vec<(usize, u8)> {
    let (mut at, mut pages) = (12, Vec::new());
    while at < packed.len() - 16 {
        pages.push((at, packed[at]));
        at += 14 + u32::from_le_bytes(packed[at + 6..at + 10].try_into().unwrap()) as usize;
    }
    assert_eq!(at, packed.len() - 16);
    pages
}

/// Makes the checksum of a page right again.
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
    let packed = packed(&text, 2000);
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
        }
    }
}

/// Whoever makes such a file on purpose gets no further.
#[test]
fn signed_damage_is_told_or_harmless() {
    let text = trace();
    let packed = packed(&text, 2000);
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
            }
        }
    }
}

#[test]
fn sizes_that_no_page_has_are_refused() {
    let mut packed = packed(&trace(), 1 << 20);
    for place in [2, 6] {
        packed[12 + place..12 + place + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        sign(&mut packed, 12, 0);
        let error = error(&packed).unwrap().to_string();
        assert_eq!(error, "byte 12: the page claims 4294967295 bytes, more than a page can have");
    }
}

#[test]
fn other_versions_are_refused_in_a_sentence() {
    let mut packed = packed(&trace(), 1 << 20);
    packed[8] = 2;
    let failed = unpacked(&packed).unwrap_err();
    assert_eq!(
        failed.to_string(),
        "it is of version 2 of the format, and version 1 is read here: use a newer program"
    );
    assert_eq!(failed.kind(), std::io::ErrorKind::Unsupported);
}
