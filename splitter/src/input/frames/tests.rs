//! Tests how data is cut into pieces, and the text of the pieces.

use std::io::Write;

use super::*;
use crate::Compression;
use crate::input::compression::Decoder;

fn member(text: &[u8]) -> Vec<u8> {
    let extra = b"BC\x02\x00\x00\x00".to_vec();
    let mut encoder =
        flate2::GzBuilder::new().extra(extra).write(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(text).unwrap();
    let mut member = encoder.finish().unwrap();
    let len = u16::try_from(member.len() - 1).unwrap();
    member[16..18].copy_from_slice(&len.to_le_bytes());
    member
}

fn frame(text: &[u8], told: bool) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    if told {
        encoder.set_pledged_src_size(Some(text.len() as u64)).unwrap();
    }
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn text(len: usize) -> Vec<u8> {
    let mut number = 1_u32;
    let lines = std::iter::from_fn(|| {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Some(format!("{} {}\n", number >> 24, number >> 28).into_bytes())
    });
    let mut text: Vec<u8> = lines.flatten().take(len).collect();
    text.shrink_to_fit();
    text
}

fn pieces(format: Format, data: &[u8]) -> (usize, bool) {
    let mut next = Frames::new(format, Cursor::new(data.to_vec())).pieces(|mut rest| {
        assert!(rest.read(&mut [0]).unwrap() > 0);
        Ok(rest)
    });
    let mut count = 0;
    loop {
        match next().unwrap() {
            Next::Piece(_) => count += 1,
            Next::Rest(mut rest) => return (count, rest.read(&mut [0]).unwrap() == 0),
        }
    }
}

/// Reads the data in pieces, and with a single decompressor. For each, returns the text up to an
/// error, and the error.
fn both(compression: Compression, data: &[u8]) -> [(Vec<u8>, Option<String>); 2] {
    let mut in_pieces = Decoder::new(compression, Cursor::new(data.to_vec())).unwrap();
    let (mut read, mut alone) = (Vec::new(), Vec::new());
    let error = in_pieces.read_to_end(&mut read).err();
    let end = match compression {
        Compression::Zstd => zstd_decoder(data).unwrap().read_to_end(&mut alone),
        _ => flate2::bufread::MultiGzDecoder::new(data).read_to_end(&mut alone),
    };
    let expected = end.err().map(|error| crate::input::compression::explain(compression, error));
    [(read, error.map(|error| error.to_string())), (alone, expected.map(|error| error.to_string()))]
}

fn assert_read(compression: Compression, data: &[u8], expected: &[u8]) {
    for (read, error) in both(compression, data) {
        assert!(read == expected && error.is_none(), "{compression}: {error:?}");
    }
}

#[test]
fn small_members_of_bgzip_are_combined() {
    let text = text(3_500_000);
    let mut data: Vec<u8> = text.chunks(65_280).flat_map(member).collect();
    data.extend(member(b""));
    assert_eq!(pieces(Format::Gzip, &data), (4, true));
    assert_read(Compression::Gzip, &data, &text);
    // The decompressor reads a member without a length, and everything after it.
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(1));
    encoder.write_all(&text[..1000]).unwrap();
    data.extend(encoder.finish().unwrap());
    data.extend(member(b"end\n"));
    assert_eq!(pieces(Format::Gzip, &data), (4, false));
    let whole = [&text[..], &text[..1000], b"end\n"].concat();
    assert_read(Compression::Gzip, &data, &whole);
}

#[test]
fn small_frames_of_zstd_are_combined() {
    let text = text(3_000_000);
    for told in [false, true] {
        let few: Vec<u8> = text.chunks(1_500_000).flat_map(|part| frame(part, told)).collect();
        assert_eq!(pieces(Format::Zstd, &few), (2, true));
        assert_read(Compression::Zstd, &few, &text);
        // Without a length, each block of a frame may have 128 KiB.
        let many: Vec<u8> = text.chunks(200_000).flat_map(|part| frame(part, told)).collect();
        assert_eq!(pieces(Format::Zstd, &many), (if told { 3 } else { 4 }, true));
        assert_read(Compression::Zstd, &many, &text);
    }
    let zeros = vec![b'\n'; MOST as usize + 1];
    let large = frame(&zeros, false);
    let data = [frame(&text, false), large, frame(&text, false)].concat();
    assert_eq!(pieces(Format::Zstd, &data), (1, false));
    assert_read(Compression::Zstd, &data, &[&text[..], &zeros, &text].concat());
}

/// Damaged and incomplete data, and members with a wrong length, give the same errors as with a
/// single decompressor.
#[test]
fn damage_is_reported_as_by_one_decompressor() {
    let text = text(600);
    let frames: Vec<u8> = text.chunks(200).flat_map(|part| frame(part, true)).collect();
    let members: Vec<u8> = text.chunks(200).flat_map(member).collect();
    for (compression, whole) in [(Compression::Zstd, frames), (Compression::Gzip, members)] {
        let mut seen = 0;
        let mut check = |data: &[u8], cut: bool| {
            let [(read, error), (alone, expected)] = both(compression, data);
            assert!(error.is_some() || expected.is_none(), "{expected:?}");
            if compression == Compression::Zstd {
                assert_eq!(error.is_some(), expected.is_some(), "{error:?}");
            }
            if cut {
                assert_eq!(error, expected);
            }
            if error.is_none() {
                assert_eq!(read, alone);
            }
            seen += usize::from(error.is_some());
        };
        for at in 4..whole.len() {
            check(&whole[..at], true);
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                check(&damaged, false);
            }
        }
        assert!(seen > 6 * whole.len(), "{seen} of {}", whole.len());
    }
}

/// A member may unpack to a thousand times its declared length. Only the declared length is
/// unpacked.
#[test]
fn members_with_too_small_lengths_are_damaged() {
    let zeros = vec![b'\n'; 60_000];
    let mut lies = member(&zeros);
    let end = lies.len() - 4;
    lies[end..].copy_from_slice(&10u32.to_le_bytes());
    let part = Part { format: Format::Gzip, data: lies.clone(), most: 10 };
    let (text, result) = Box::new(part).unpack(Vec::new());
    assert!(text.len() <= 11 && result.is_err());
    let [(_, error), (_, expected)] = both(Compression::Gzip, &lies);
    assert_eq!(error, expected);
    assert!(error.is_some());
}

#[test]
fn failures_of_the_medium_are_errors() {
    let text = text(1000);
    let failure = Some(io::Error::other("broken"));
    let medium = Front { bytes: Cursor::new(frame(&text, true)), failure };
    let mut decoder = Decoder::new(Compression::Zstd, medium).unwrap();
    let mut read = Vec::new();
    let error = decoder.read_to_end(&mut read).unwrap_err().to_string();
    assert!(read == text && error.contains("broken"), "{error}");
}
